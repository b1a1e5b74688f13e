"""Affect before and after, per respondent, subscale and emotion."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean, stdev

import polars as pl

from empathylab.scales import Scale, response_pattern, scale_from_dict, score
from empathylab.stats import MeanDifference, mean_difference
from empathylab.store import Lab, administrations_frame, item_answers_frame, scales_frame

SCORES = {
    "administration": pl.Int64,
    "run": pl.Int64,
    "respondent": pl.String,
    "scale": pl.String,
    "subscale": pl.String,
    "phase": pl.String,
    "emotion": pl.String,
    "factor": pl.String,
    "situation": pl.String,
    "text": pl.String,
    "pattern": pl.String,
    "score": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Change:
    """A subscale at rest and after one emotion's situations, or after all of them."""

    respondent: str
    scale: str
    subscale: str
    emotion: str | None
    """None for all emotions together."""
    n: int
    mean: float
    sd: float | None
    default_n: int
    default_mean: float
    default_sd: float | None
    difference: MeanDifference


@dataclass(frozen=True, slots=True)
class Patterns:
    """How many valid administrations were answered without regard to what the items say."""

    respondent: str
    scale: str
    administrations: int
    straight: int
    """The same answer to every item."""
    counting: int
    """Answers that count up or down the page."""
    long_run: int
    """One answer to half the items or more, in a row."""

    @property
    def suspect(self) -> int:
        return self.straight + self.counting + self.long_run

    @property
    def share(self) -> float:
        return self.suspect / self.administrations if self.administrations else 0.0


def scores_frame(lab: Lab, runs: list[int]) -> pl.DataFrame:
    """Every subscale score of the valid administrations of those runs."""
    definitions = {
        row["scale_row"]: scale_from_dict(json.loads(row["definition"]))
        for row in scales_frame(lab).iter_rows(named=True)
    }
    valid = administrations_frame(lab).filter(
        pl.col("run").is_in(runs) & (pl.col("outcome") == "valid")
    )
    items = item_answers_frame(lab).filter(
        pl.col("administration").is_in(valid["administration"].to_list())
    )
    answers: dict[int, dict[int, float]] = {}
    for number, item, value in items.iter_rows():
        answers.setdefault(number, {})[item] = value
    rows = []
    for row in valid.iter_rows(named=True):
        given = answers.get(row["administration"], {})
        rows += _scored(row, given, definitions[row["scale_row"]])
    return pl.DataFrame(rows, schema=SCORES)


def _scored(
    row: dict[str, object], given: dict[int, float], scale: Scale
) -> list[dict[str, object]]:
    shown = [given[item] for item in json.loads(str(row["item_order"])) if item in given]
    pattern = response_pattern(shown, scale.minimum, scale.maximum)
    kept = {name: row[name] for name in SCORES if name in row} | {"pattern": pattern}
    return [
        kept | {"subscale": result.subscale, "score": result.value}
        for result in score(scale, given)
        if result.value is not None
    ]


def changes(scores: pl.DataFrame) -> list[Change]:
    """The change from rest, overall and per emotion, where both sides have scores."""
    found = []
    for key, group in scores.group_by("respondent", "scale", "subscale", maintain_order=True):
        respondent, scale, subscale = (str(part) for part in key)
        default = group.filter(pl.col("phase") == "default")["score"].to_list()
        evoked = group.filter(pl.col("phase") == "evoked")
        if not default or evoked.is_empty():
            continue
        parts: list[tuple[str | None, pl.DataFrame]] = [(None, evoked)]
        parts += [
            (str(emotion), part)
            for (emotion,), part in evoked.group_by("emotion", maintain_order=True)
        ]
        for emotion, part in parts:
            values = part["score"].to_list()
            found.append(
                Change(
                    respondent,
                    scale,
                    subscale,
                    emotion,
                    n=len(values),
                    mean=fmean(values),
                    sd=stdev(values) if len(values) > 1 else None,
                    default_n=len(default),
                    default_mean=fmean(default),
                    default_sd=stdev(default) if len(default) > 1 else None,
                    difference=mean_difference(values, default),
                )
            )
    return found


def patterns(scores: pl.DataFrame) -> list[Patterns]:
    """Answers given by position, per respondent and scale."""
    once = scores.unique("administration", maintain_order=True)
    counted = once.group_by("respondent", "scale", maintain_order=True).agg(
        pl.len().alias("administrations"),
        (pl.col("pattern") == "straight").sum().alias("straight"),
        (pl.col("pattern") == "counting").sum().alias("counting"),
        (pl.col("pattern") == "long run").sum().alias("long_run"),
    )
    return [Patterns(**row) for row in counted.iter_rows(named=True)]
