"""How each respondent writes on average, with intervals that allow for situations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from empathylab.stats.arguments import require_confidence
from empathylab.stats.t_tests import t_margin
from empathylab.style.measures.catalogue import FEATURES
from empathylab.style.responses import require_columns
from empathylab.style.text.marks import MARKS

_ROLES = ("respondent", "situation", "sample")
_TOGETHER = 20
"""Columns that are averaged together: few enough for memory where there are very many rows."""
_FIGURE_FIELDS = ("mean", "low", "high", "sd", "per_100_words", "used", "dropped")


@dataclass(frozen=True, slots=True)
class Figure:
    """A feature's mean over a respondent's responses."""

    mean: float
    """Per response; NaN where no response has the feature."""
    low: float
    high: float
    """The interval of the mean, responses to one situation taken as one cluster; NaN with fewer
    than two situations."""
    sd: float
    """Over responses; NaN with fewer than two."""
    per_100_words: float
    """All counted over all words, times 100; NaN for a measure and without words."""
    used: int
    dropped: int
    """Responses without a value: no text, or too short for the measure."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How one respondent writes."""

    respondent: str
    responses: int
    situations: int
    words: int
    """In all responses together."""
    features: Mapping[str, Figure]

    @property
    def words_per_response(self) -> float:
        """The mean number of words."""
        return self.features["words"].mean

    @property
    def emoji_per_response(self) -> float:
        """The mean number of emoji."""
        return self.features["emoji"].mean

    @property
    def punctuation(self) -> dict[str, float]:
        """How many of each mark a response has on average."""
        return {mark: self.features[name].mean for mark, name in MARKS.items()}


def profiles(table: pl.DataFrame, *, confidence: float = 0.95) -> tuple[Profile, ...]:
    """A profile of each respondent in a table that `features` gave, sorted by respondent.

    The interval is mean ± t · SE with the standard error of a mean over clusters,
    √(G/(G−1) · Σ(sum of a situation's deviations)²) / n, and G − 1 degrees of freedom: what a
    regression on a constant with clustered errors gives.

    Cameron, A. C., & Miller, D. L. (2015). A practitioner's guide to cluster-robust inference.
    Journal of Human Resources 50, 317–372.
    """
    require_columns(table, ["respondent", "situation", "words", "emoji"], "table of features")
    require_confidence(confidence)
    names = [name for name in table.columns if name not in _ROLES]
    results = []
    for respondent in table["respondent"].unique().sort():
        # In one piece: sums over pieces would depend on how the table was put together.
        own = table.filter(pl.col("respondent").eq_missing(respondent)).rechunk()
        figures: dict[str, Figure] = {}
        for first in range(0, len(names), _TOGETHER):
            figures |= _figures(own, names[first : first + _TOGETHER], confidence)
        results.append(
            Profile(
                str(respondent),
                own.height,
                own["situation"].n_unique(),
                int(own["words"].sum()),
                MappingProxyType(figures),
            )
        )
    return tuple(results)


def profile_table(results: tuple[Profile, ...]) -> pl.DataFrame:
    """The profiles as one row for each respondent and feature, as charts need it."""
    rows = [
        (
            profile.respondent,
            name,
            FEATURES[name].meaning if name in FEATURES else name,
            *(getattr(figure, field) for field in _FIGURE_FIELDS),
        )
        for profile in results
        for name, figure in profile.features.items()
    ]
    columns = ["respondent", "feature", "meaning", *_FIGURE_FIELDS]
    kinds: dict[str, pl.DataType] = {}
    kinds |= dict.fromkeys(columns[:3], pl.String()) | dict.fromkeys(_FIGURE_FIELDS, pl.Float64())
    kinds |= {"used": pl.Int64(), "dropped": pl.Int64()}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _figures(own: pl.DataFrame, names: list[str], confidence: float) -> dict[str, Figure]:
    values = own.select("situation", pl.col(names).cast(pl.Float64))
    means = values.select(pl.col(names).mean()).row(0, named=True)
    sds = values.select(pl.col(names).std()).row(0, named=True)
    sums = values.select(pl.col(names).sum()).row(0, named=True)
    used = values.select(pl.col(names).count()).row(0, named=True)
    # In order, so that sums do not differ in the last digit from one run to the next.
    clusters = values.with_columns(pl.col(names) - pl.col(names).mean()).group_by(
        "situation", maintain_order=True
    )
    squares = clusters.agg(pl.col(names).sum()).select((pl.col(names) ** 2).sum())
    deviations = squares.row(0, named=True)
    sizes = clusters.agg(pl.col(names).count() > 0).select(pl.col(names).sum())
    situations = sizes.row(0, named=True)
    words = own["words"].cast(pl.Float64).sum()

    def figure(name: str) -> Figure:
        mean = _number(means[name])
        margin = _margin(deviations[name], situations[name], used[name], confidence)
        counted = name not in FEATURES or FEATURES[name].kind == "count"
        rate = 100 * sums[name] / words if counted and words else math.nan
        dropped = own.height - used[name]
        sd = _number(sds[name])
        return Figure(mean, mean - margin, mean + margin, sd, rate, used[name], dropped)

    return {name: figure(name) for name in names}


def _margin(deviations: float, situations: int, used: int, confidence: float) -> float:
    if situations < 2:
        return math.nan
    se = math.sqrt(situations / (situations - 1) * deviations) / used
    return se * t_margin(situations - 1, confidence)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
