"""Two runs side by side: how they were asked, how usable they are, and how their results differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.results import ALPHA, Conclusion, Kind, ModelChoice, Result, summary_text
from empathylab.analysis.run_selection import run_label
from empathylab.analysis.scores.analysis import reply_profiles
from empathylab.analysis.scores.estimates import EMPATHY
from empathylab.analysis.scores.prose import HIDDEN_SCORES
from empathylab.analysis.text.apa import p_text
from empathylab.analysis.text.numbers import number, signed
from empathylab.errors import InputError
from empathylab.scales.score_frames import score_frame
from empathylab.stats.clusters.paired import PairedDifference, paired_difference
from empathylab.store import Lab, runs_frame
from empathylab.store.administrations import read_appraisals
from empathylab.store.judgements import hides_scores, rubric_scores
from empathylab.store.queries import usable_requests

_UNIT = pl.concat_str("set", "situation", separator="/").alias("unit")


@dataclass(frozen=True, slots=True)
class RunComparison(Result):
    """What two runs have in common, and how their results differ."""

    labels: tuple[str, str]
    settings: Mapping[str, tuple[Any, Any]]
    """What they were asked differently: by setting, both values."""
    usable: tuple[tuple[int, int], tuple[int, int]]
    """Requests and usable answers of each."""
    conclusions: tuple[Conclusion, ...]
    caveats: tuple[str, ...]

    @property
    def design(self) -> Mapping[str, Any]:
        """The two runs."""
        return {"runs": list(self.labels), "differing_settings": list(self.settings)}

    @property
    def model(self) -> ModelChoice | None:
        """The test behind the differences."""
        return ModelChoice(name="paired t test", reason="Both runs have the same situations.")

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The differences."""
        return {"differences": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """What `runs compare --json` prints."""
        return {
            "runs": list(self.labels),
            "settings": {name: list(values) for name, values in self.settings.items()},
            "usable": [{"requests": asked, "usable": usable} for asked, usable in self.usable],
            "differences": json_value(self.conclusions),
            **self.stated(),
        }

    def summary(self) -> str:
        """The runs, then conclusions and caveats."""
        lines = [
            f"{label}: {usable} of {asked} requests got a usable answer"
            for label, (asked, usable) in zip(self.labels, self.usable, strict=True)
        ]
        return "\n".join([*lines, summary_text(self.conclusions, self.caveats)])


def compare_runs(lab: Lab, first: int, second: int) -> RunComparison:
    """The first run less the second, paired by situation."""
    frame = runs_frame(lab, only=(first, second))
    rows = [frame.filter(run=run).row(0, named=True) for run in (first, second)]
    if first == second or rows[0]["protocol"] != rows[1]["protocol"]:
        raise InputError(
            "only two different runs of the same protocol can be compared",
            got=" and ".join(f"run {row['run']} ({row['protocol']})" for row in rows),
            remedy="See: empathylab runs list",
        )
    settings = [json.loads(row["settings"]) for row in rows]
    differing = {
        name: (settings[0].get(name), settings[1].get(name))
        for name in dict.fromkeys([*settings[0], *settings[1]])
        if settings[0].get(name) != settings[1].get(name)
    }
    compare = {"appraise": _scale_differences, "respond": _score_differences}
    protocol = rows[0]["protocol"]
    conclusions: list[Conclusion] = []
    caveats = [f"The runs differ in: {', '.join(differing)}."] if differing else []
    if protocol in compare:
        conclusions, left_out = compare[protocol](lab, first, second)
        caveats += left_out
    if not conclusions:
        caveats.append(
            "There are no scores to compare: replies need scores by the same judge (evaluate "
            "--judge), scales two situations that both runs have."
        )
    first_label, second_label = (
        f"run {row['run']} ({row['respondent']}, {run_label(asked)})"
        for row, asked in zip(rows, settings, strict=True)
    )
    return RunComparison(
        (first_label, second_label),
        differing,
        (usable_requests(lab, [first]), usable_requests(lab, [second])),
        tuple(conclusions),
        tuple(caveats),
    )


def _score_differences(lab: Lab, first: int, second: int) -> tuple[list[Conclusion], list[str]]:
    """By judge, the difference of the composite; replies that an open study shows are left out."""
    runs = [first, second]
    caveats = [HIDDEN_SCORES] if hides_scores(lab, runs) else []
    conclusions = []
    for (judge,), rows in rubric_scores(lab, runs).group_by("judge", maintain_order=True):
        profiles = reply_profiles(rows).with_columns(_UNIT)
        conclusions += _difference(
            profiles, first, second, EMPATHY, f"{EMPATHY}, scored by {judge}"
        )
    return conclusions, caveats


def _scale_differences(lab: Lab, first: int, second: int) -> tuple[list[Conclusion], list[str]]:
    """By subscale, the difference of the scores after situations."""
    read = read_appraisals(lab, of_runs=(first, second))
    asked = read.administrations.filter(
        pl.col("outcome") == "valid",
        pl.col("phase") == "evoked",
        ~pl.col("counterpart"),
    )
    rows = asked.select("administration", "scale_row")
    scored = score_frame(read.answers.join(rows, on="administration"), read.scales)
    joined = asked.join(scored, on="administration").with_columns(_UNIT)
    conclusions = []
    for (scale, subscale), part in joined.group_by("scale", "subscale", maintain_order=True):
        conclusions += _difference(part, first, second, "score", f"{scale} {subscale}")
    return conclusions, []


def _difference(
    frame: pl.DataFrame, first: int, second: int, value: str, what: str
) -> list[Conclusion]:
    if frame["run"].n_unique() < 2:  # only one of them has scores
        return []
    labelled = frame.with_columns(label=pl.col("run").cast(pl.String))
    try:
        difference = paired_difference(
            labelled, str(first), str(second), unit="unit", label="label", value=value
        )
    except InputError:  # fewer than two situations that both have
        return []
    return [_conclusion(difference, first, second, what)]


def _conclusion(difference: PairedDifference, first: int, second: int, what: str) -> Conclusion:
    test = difference.paired
    tested = test.p == test.p
    interval = f" [{signed(test.low, 2)}, {signed(test.high, 2)}]" if tested else ""
    text = f", {p_text(test.p)}" if tested else ""
    kind: Kind = "inconclusive" if not tested or test.p >= ALPHA else "different"
    return Conclusion(
        kind=kind,
        sentence=(
            f"{what}: run {first} minus run {second} is {signed(test.estimate, 2)}{interval}{text} "
            f"over {difference.n_pairs} shared situations (means "
            f"{number(difference.mean_first, 2)} and {number(difference.mean_second, 2)})."
        ),
        subject=f"run {first}",
        reference=f"run {second}",
        dimension=what,
        **picked(test, "estimate low high"),
        unit="points",
        p=test.p,
        n=difference.n_pairs,
        model="paired t test",
    )
