"""Two runs, respondents, arms or prompts compared on the same situations."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from empathylab.analysis.appraisal.analysis import estimate_appraisals
from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.results import (
    ALPHA,
    Conclusion,
    Kind,
    ModelChoice,
    Result,
    Unit,
    row_frames,
)
from empathylab.analysis.run_selection import selected_runs
from empathylab.analysis.scores.analysis import reply_profiles
from empathylab.analysis.scores.estimates import EMPATHY
from empathylab.analysis.text.apa import counted, interval, p_text
from empathylab.analysis.text.numbers import signed
from empathylab.columns import numbers
from empathylab.errors import InputError, UnknownName
from empathylab.judging.rubric import rubric
from empathylab.stats.arguments import require_columns
from empathylab.stats.arms import Estimate
from empathylab.stats.clusters import PairedDifference, clustered_regression, paired_difference
from empathylab.stats.t_tests import TTest
from empathylab.store import Lab, runs_frame
from empathylab.store.administrations import read_appraisals
from empathylab.store.judgements import lab_judgements, rubric_scores
from empathylab.store.ratings import lab_study, ratings_frame
from empathylab.study.admin.embargo import require_closed, require_judged_openly
from empathylab.tables import missing_as_null

Source = Literal["ratings", "judge", "scales", "table"]
_FEW_UNITS = 20
_NO_NUMBER = "Fix the row, or name another column."


@dataclass(frozen=True, slots=True)
class PairsResult(Result):
    """The mean difference, first minus second, on the units that both have."""

    first: str
    second: str
    source: Source
    what: str
    """What is compared: a column, a dimension, a scale."""
    unit: str
    """What pairs the values."""
    difference: PairedDifference
    test: TTest
    """The test reported: paired, and clustered by rater too where people gave ratings."""
    clusters: str
    binary: bool
    """Whether every value is 0 or 1; differences then are percentage points."""

    @property
    def times(self) -> float:
        """From the values' unit to that of the result."""
        return 100.0 if self.binary else 1.0

    @property
    def design(self) -> Mapping[str, Any]:
        """What pairs the two, and how many pairs there are."""
        return {
            "source": self.source,
            "unit": self.unit,
            "n_pairs": self.difference.n_pairs,
            "clusters": self.difference.clusters,
            "only_first": self.difference.dropped_first,
            "only_second": self.difference.dropped_second,
        }

    @property
    def model(self) -> ModelChoice:
        """The test, and why."""
        reason = (
            f"Both have values on the same {self.unit}s, so differences between {self.unit}s "
            "cancel out."
        )
        return ModelChoice(name=f"paired t test, clustered by {self.clusters} (CR2)", reason=reason)

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The paired difference."""
        test, times = self.test, self.times
        unit: Unit = "percentage points" if self.binary else "points"
        estimate = Estimate(*(times * item for item in (test.estimate, test.low, test.high)))
        kind: Kind = "inconclusive"
        if test.p < ALPHA:
            kind = "better" if test.estimate > 0 else "worse"
        digits = 2 if not self.binary else 1
        numbers = f"difference {signed(estimate.estimate, 2)} {unit}, {interval(estimate, digits)}"
        if math.isfinite(test.p):
            numbers += f", {p_text(test.p)}"
        pairs = counted(self.difference.n_pairs, "pair")
        numbers += f" ({pairs} by {self.unit}, clustered by {self.clusters})"
        on = f"on {self.what}"
        text = f"Inconclusive whether {self.first} differs from {self.second} {on}: {numbers}."
        if kind != "inconclusive":
            how = "higher" if kind == "better" else "lower"
            text = f"{self.first} is {how} than {self.second} {on}: {numbers}."
        return (
            Conclusion(
                kind=kind,
                sentence=text,
                subject=self.first,
                reference=self.second,
                dimension=self.what,
                subset="all",
                **estimate._asdict(),
                unit=unit,
                p=test.p,
                n=self.difference.n_pairs,
                model=self.model.name,
                basis=f"{counted(self.difference.n_pairs, 'pair')}",
                caveats=self._limits(),
            ),
        )

    def _limits(self) -> tuple[str, ...]:
        sentences = []
        if self.difference.clusters < _FEW_UNITS:
            sentences.append(
                f"The comparison rests on {counted(self.difference.clusters, self.unit)} only."
            )
        averaged = self.difference.averaged
        if averaged and self.source == "table":
            sentences.append(
                f"In {counted(averaged, 'pair')} several values were averaged. If different raters "
                "gave them, the interval does not allow for raters who prefer one of the two; "
                "`empathylab analyze ratings` does."
            )
        if not math.isfinite(self.test.p):
            sentences.append("The differences do not vary, so there is no test.")
        return tuple(sentences)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What only one of the two has."""
        lost = self.difference.dropped_first + self.difference.dropped_second
        if not lost:
            return ()
        were = "was" if lost == 1 else "were"
        return (f"{counted(lost, self.unit)} that only one of the two has {were} left out.",)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Paired and unpaired, a row each."""
        tests = {"paired": self.test, "unpaired": self.difference.unpaired}
        rows = [{"comparison": name, **_scaled(test, self.times)} for name, test in tests.items()]
        return row_frames({"comparison": rows})

    def to_dict(self) -> dict[str, Any]:
        """What `analyze compare --json` prints."""
        return {
            **picked(self, "first second source what"),
            "unit": "percentage points" if self.binary else "points",
            **_scaled(self.test, self.times),
            "n_pairs": self.difference.n_pairs,
            "clusters": self.clusters,
            "unpaired": _scaled(self.difference.unpaired, self.times),
            "mean_first": json_value(self.times * self.difference.mean_first),
            "mean_second": json_value(self.times * self.difference.mean_second),
            "correlation": json_value(self.difference.correlation),
            "design": self.design,
            "notes": list(self.caveats),
            **self.stated(),
        }


def from_table(
    frame: pl.DataFrame,
    first: str | None = None,
    second: str | None = None,
    *,
    unit: str,
    group: str,
    value: str,
    cluster: str | None = None,
    where: str = "table",
) -> PairsResult:
    """Two groups of a long table compared, paired by unit.

    Without names, the table must have two groups; the one with the higher mean comes first.
    """
    require_columns(frame, unit, group, value)
    frame = missing_as_null(frame)
    if frame[value].dtype != pl.Boolean:
        frame = frame.with_columns(numbers(frame, value, where=where, remedy=_NO_NUMBER))
    if first is None or second is None:
        first, second = _two_groups(frame, group, value, first)
    return _paired(frame, first, second, unit=unit, group=group, value=value, cluster=cluster)


def _paired(
    frame: pl.DataFrame,
    first: str,
    second: str,
    *,
    unit: str = "situation",
    group: str = "who",
    value: str = "value",
    cluster: str | None = None,
) -> PairsResult:
    difference = paired_difference(
        frame, first, second, unit=unit, label=group, value=value, cluster=cluster
    )
    known = frame[value].drop_nulls().cast(pl.Float64).unique().to_list()
    return PairsResult(
        *(first, second, "table", value, unit, difference, difference.paired),
        clusters=cluster or unit,
        binary=set(known) <= {0.0, 1.0},
    )


def from_lab(
    lab: Lab,
    first: str,
    second: str,
    *,
    on: Literal["ratings", "judge", "scales"] = "ratings",
    study: str | None = None,
    dimension: str | None = None,
    peek: str | None = None,
    who: str = "researcher",
) -> PairsResult:
    """Two arms or respondents of the lab compared, paired by situation.

    `on` is what to compare: people's `ratings` of the replies, a `judge`'s scores of them, or the
    changes of `scales` from baseline. `dimension` names the rated dimension or the scale if there
    are several. A judge's scores are those of a study, or else those by the rubric (by default the
    composite). A study whose results that would show must be closed, unless there is a reason to
    `peek`, which its audit log keeps.
    """
    if first == second:
        raise InputError(
            f"{first!r} is compared with itself",
            remedy="Name two that differ. To compare two runs of one model, use `empathylab runs "
            "compare RUN RUN`.",
        )
    if on == "scales":
        frame, what = _scale_changes(lab, dimension)
        _require_known(frame, "respondent", first, second)
        return _named(_paired(frame, first, second), on, what)
    if on == "ratings":
        chosen = lab_study(lab, study)
        require_closed(lab, chosen, peek=peek, who=who)
        rated = ratings_frame(lab, chosen.name).filter(rater_kind="person")
        frame = rated.select("rater", "dimension", _place(), who="arm", value="rating")
    else:
        pair = pl.col("respondent").is_in([first, second])
        judged = lab_judgements(lab, study, embargoed=True).filter(outcome="valid")
        by_rubric = judged.is_empty() and study is None
        if by_rubric:
            runs = selected_runs(runs_frame(lab))["run"].to_list()
            judged = rubric_scores(lab, runs, embargoed=True)
        wanted = judged.filter(pair)
        studies = [] if by_rubric else wanted["study"].drop_nulls().to_list()
        require_judged_openly(lab, wanted["response"].to_list(), studies, peek=peek, who=who)
        if by_rubric:
            frame, dimension = _rubric_scores(judged), dimension or EMPATHY
        else:
            frame = judged.select("dimension", _place(), who="respondent", value="value")
    if frame.is_empty():
        raise InputError(
            f"the lab has no {'scores by a judge' if on == 'judge' else on} to compare",
            remedy=f"Run `empathylab evaluate {first} {second} --judge MODEL`."
            if on == "judge"
            else "Choose another --on, or collect ratings first.",
        )
    frame, what = _one_dimension(frame, dimension)
    _require_known(frame, "arm" if on == "ratings" else "respondent", first, second)
    result = _paired(frame, first, second)
    if on == "judge":
        return _named(result, on, what)
    test = _by_rater(frame.filter(pl.col("who").is_in([first, second])), first)
    return _named(result, on, what, test)


def _require_known(frame: pl.DataFrame, kind: str, *names: str) -> None:
    known = frame["who"].unique().drop_nulls().to_list()
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)


def _rubric_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """Scores by the rubric, the mean over judges; a row per dimension."""
    profiles = reply_profiles(scores)
    return profiles.select(
        _place(), pl.col("respondent").alias("who"), EMPATHY, *rubric().names
    ).unpivot(index=["situation", "who"], variable_name="dimension", value_name="value")


def _named(result: PairsResult, on: Source, what: str, test: TTest | None = None) -> PairsResult:
    return dataclasses.replace(
        result,
        source=on,
        what=what,
        binary=False,
        test=result.test if test is None else test,
        clusters="situation" if test is None else "situation and rater",
    )


def _by_rater(frame: pl.DataFrame, first: str) -> TTest:
    """The difference within situations, where ratings of a situation or rater are correlated."""
    both = frame.drop_nulls(["value", "rater"]).with_columns(
        side=(pl.col("who") == first).cast(pl.Float64), value=pl.col("value").cast(pl.Float64)
    )
    within = both.with_columns(
        pl.col(name) - pl.col(name).mean().over("situation") for name in ("side", "value")
    ).filter(pl.col("side").abs() > 0)
    codes = [
        within[name].rank("dense").cast(pl.Int64).to_numpy() for name in ("situation", "rater")
    ]
    if min(len(np.unique(code)) for code in codes) < 2:
        raise InputError("the two share ratings by one rater only", remedy="Collect more ratings.")
    fit = clustered_regression(
        within["side"].to_numpy()[:, None], within["value"].to_numpy(), codes
    )
    return fit.test(np.array([1.0]))


def _place() -> pl.Expr:
    return pl.concat_str("set", "situation", separator="/").alias("situation")


def _one_dimension(frame: pl.DataFrame, dimension: str | None) -> tuple[pl.DataFrame, str]:
    names = frame["dimension"].unique(maintain_order=True).to_list()
    if dimension is None and len(names) > 1:
        raise InputError(
            "several dimensions were rated",
            got=", ".join(names),
            remedy="Name one with --dimension.",
        )
    chosen = names[0] if dimension is None else dimension
    if chosen not in names:
        raise UnknownName("rated dimension", chosen, names)
    return frame.filter(dimension=chosen), chosen


def _scale_changes(lab: Lab, scale: str | None) -> tuple[pl.DataFrame, str]:
    """Per respondent and situation, the score minus the respondent's mean baseline."""
    scores = estimate_appraisals(read_appraisals(lab)).scores
    if scores.is_empty():
        raise InputError("no scale was answered", remedy="Run `empathylab appraise`.")
    labels = pl.concat_str("scale", "subscale", separator="/")
    known = scores.with_columns(dimension=labels)
    frame, what = _one_dimension(known, scale)
    baseline = frame.filter(phase="default").group_by("respondent").agg(base=pl.col("score").mean())
    evoked = frame.filter(pl.col("phase") == "evoked", pl.col("situation").is_not_null())
    changes = evoked.join(baseline, on="respondent").select(
        "situation", who="respondent", value=pl.col("score") - pl.col("base")
    )
    return changes, what


def _two_groups(frame: pl.DataFrame, group: str, value: str, first: str | None) -> tuple[str, str]:
    names = frame[group].drop_nulls().cast(pl.String).unique(maintain_order=True).to_list()
    if len(names) != 2:
        raise InputError(
            f"{group!r} must contain two groups if none are named",
            got=", ".join(names[:8]) or "nothing",
            remedy="Name the two after the file.",
        )
    if first is not None:
        if first not in names:
            raise UnknownName(f"value of {group!r}", first, names)
        return first, next(name for name in names if name != first)
    means = {
        name: float(frame.filter(pl.col(group).cast(pl.String) == name)[value].mean() or 0)  # type: ignore[arg-type]
        for name in names
    }
    names.sort(key=lambda name: -means[name])
    return names[0], names[1]


def _scaled(test: TTest, times: float) -> dict[str, Any]:
    sizes = {name: json_value(times * getattr(test, name)) for name in ("se", "low", "high")}
    return {"difference": times * test.estimate} | sizes | picked(test, "df t p")
