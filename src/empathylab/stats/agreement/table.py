"""Ratings in long form, checked and coded: what every coefficient of agreement starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.agreement.bootstrap import Statistic, cached
from empathylab.stats.arguments import require_columns
from empathylab.stats.arrays import Array, Codes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Spacing = Literal["values", "ranks"]
_CLUSTER = "situation"
"""The column that several replies share, where replies are what was rated."""

_DENSE = 5_000_000
"""Situations × categories up to which counts are kept as a plain table, which is faster."""


@dataclass(frozen=True)
class RatingTable:
    """One dimension's ratings, one per rater and situation, as integer codes."""

    situations: Codes
    """Of each rating: which situation."""
    raters: Codes
    """Of each rating: which rater."""
    codes: Codes
    """Of each rating: which category."""
    positions: Array
    """Of each category: where it lies on the scale, ascending."""
    categories: tuple[float, ...]
    """The values, ascending: all that occur, or those of the scale where it was given."""
    n_situations: int
    rater_names: tuple[str, ...]
    dropped: int
    """Rows left out because the rating, the rater or the situation was missing."""
    clusters: Codes | None = None
    """Of each situation: which cluster it is resampled with; None for none."""

    @property
    def n_ratings(self) -> int:
        """Ratings used."""
        return len(self.codes)

    @cached_property
    def values(self) -> Array:
        """Of each rating: its place on the scale."""
        return self.positions[self.codes]

    @cached_property
    def scaled(self) -> Array:
        """Of each category: its place between the scale's ends, 0 and 1."""
        span = self.positions[-1] - self.positions[0] if len(self.positions) > 1 else 1.0
        return np.asarray((self.positions - self.positions[:1]) / span)

    @cached_property
    def sizes(self) -> Array:
        """Ratings of each situation."""
        counts = np.bincount(self.situations, minlength=self.n_situations)
        return counts.astype(np.float64)

    @cached_property
    def lowest(self) -> float:
        """The least that alpha, Fleiss' kappa and intraclass correlations can be: −1/(k − 1) for k
        ratings of each situation."""
        return -1 / (float(self.sizes[self.sizes >= 2].min(initial=np.inf)) - 1)

    @cached_property
    def _counts(self) -> Array | csr_array:
        """Ratings of each situation in each category; sparse on scales of many values."""
        from scipy.sparse import coo_array

        shape = (self.n_situations, len(self.categories))
        ones = np.ones(self.n_ratings)
        counts = coo_array((ones, (self.situations, self.codes)), shape=shape).tocsr()
        return counts.toarray() if shape[0] * shape[1] <= _DENSE else counts

    @cached_property
    def pairable_counts(self) -> Statistic:
        """Of resampled situations: the ratings of each category in those with two or more."""
        pairable = self.sizes >= 2
        return cached(lambda draws: self.by_category(draws * pairable))

    @cached_property
    def mean_shares(self) -> Statistic:
        """Of resampled situations: the mean proportion of each category, each counting once."""
        per_rating = 1 / np.maximum(self.sizes, 1.0)

        def shares(draws: Array) -> Array:
            return np.asarray(
                self.by_category(draws * per_rating) / draws.sum(axis=1, keepdims=True)
            )

        return cached(shares)

    def by_category(self, weights: Array) -> Array:
        """For each row of weights of situations: the weighted ratings of each category."""
        return np.asarray(weights @ self._counts)

    def by_situation(self, values: Array) -> Array:
        """For each row of values of categories (as columns): the sums of each situation."""
        return np.asarray(self._counts @ values.T)

    @cached_property
    def same_pairs(self) -> Array:
        """Ordered pairs of ratings of one category, of each situation, each with itself too."""
        cells = self.situations * max(len(self.categories), 1) + self.codes
        used, counts = np.unique(cells, return_counts=True)
        return totals(
            used // max(len(self.categories), 1),
            counts.astype(np.float64) ** 2,
            self.n_situations,
        )

    @property
    def missing_share(self) -> float:
        """Proportion of rater × situation cells without a rating."""
        cells = self.n_situations * len(self.rater_names)
        return 1 - self.n_ratings / cells if cells else float("nan")


def rating_table(
    frame: pl.DataFrame,
    *,
    situation: str = "situation",
    rater: str = "rater",
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    spacing: Spacing = "values",
    cluster: str | None = None,
) -> RatingTable:
    """The frame's ratings, coded.

    `levels` names the scale's categories from lowest to highest; it is needed where ratings are
    words, and keeps unused categories. Without it the categories are the numbers that
    occur. `spacing` says the distance of categories: by their `values`, or by their `ranks`,
    one step each. Words are always one step apart. `cluster` names what several of the rated
    things belong to, so that their ratings may be correlated. Without it, where another column than
    `situation` says what was rated, each belongs to one situation and several share one, that is
    `situation`. Name what was rated itself for none.

    Raises InputError for a rater who rates a situation twice, and for a rating outside `levels`.
    """
    require_columns(frame, situation, rater, rating, *([cluster] if cluster else []))
    if cluster is None and situation != _CLUSTER and _CLUSTER in frame.columns:
        nested = frame.select(situation, _CLUSTER).drop_nulls().unique()
        cluster = _CLUSTER if nested.height == nested[situation].n_unique() else None
    values, scale = _rated(frame, rating, levels)
    rows = frame.select(
        situation=pl.col(situation).cast(pl.String),
        rater=pl.col(rater).cast(pl.String),
        cluster=pl.coalesce(cluster or situation, situation).cast(pl.String),
    ).with_columns(value=values)
    whole = rows.drop_nulls()
    _refuse_doubles(whole)
    categories = np.unique(whole["value"].to_numpy()) if scale is None else scale
    names = whole["rater"].unique().sort().to_list()
    steps = np.arange(len(categories), dtype=np.float64)
    return RatingTable(
        situations=_coded(whole["situation"]),
        raters=_coded(whole["rater"]),
        codes=np.searchsorted(categories, whole["value"].to_numpy()).astype(np.int64),
        positions=steps if spacing == "ranks" else categories.astype(np.float64),
        categories=tuple(float(category) for category in categories),
        n_situations=whole["situation"].n_unique(),
        rater_names=tuple(names),
        dropped=len(rows) - len(whole),
        clusters=_clusters(whole) if cluster else None,
    )


def _clusters(whole: pl.DataFrame) -> Codes | None:
    """The cluster of each situation, in the order of their codes; None where each has its own."""
    units = whole.select("situation", "cluster").unique().sort("situation")
    if units["situation"].n_unique() < units.height:
        twice = units.filter(pl.col("situation").is_duplicated())["situation"][0]
        raise InputError(
            "a rated item belongs to two clusters",
            got=twice,
            remedy="Assign each rated item to one cluster.",
        )
    alone = units["cluster"].n_unique() == units.height
    return None if alone else _coded(units["cluster"])


def _coded(labels: pl.Series) -> Codes:
    """The place of each label among the distinct ones, sorted."""
    return labels.rank("dense").cast(pl.Int64).to_numpy().astype(np.int64) - 1


def totals(groups: Codes, values: Array, size: int) -> Array:
    """The values of each group, summed."""
    return np.bincount(groups, values, minlength=size).astype(np.float64)


def _rated(
    frame: pl.DataFrame, rating: str, levels: Sequence[str | float] | None
) -> tuple[pl.Series, Array | None]:
    """The ratings as numbers, and the scale's categories where they were given."""
    series = frame[rating]
    if levels is not None:
        return _in_levels(series, levels)
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        values = series.cast(pl.Float64)
    else:
        values = series.cast(pl.String).cast(pl.Float64, strict=False)
        _refuse_first(series, values.is_null() & series.is_not_null(), "must be a number")
    values = values.fill_nan(None)
    _refuse_first(series, values.is_infinite(), "must be finite")
    return values, None


def _in_levels(series: pl.Series, levels: Sequence[str | float]) -> tuple[pl.Series, Array]:
    if len(set(levels)) != len(levels) or not levels:
        raise InputError(
            "the levels of the scale must differ",
            got=", ".join(str(level) for level in levels),
            remedy="Name each category once, from lowest to highest.",
        )
    listed = ", ".join(str(level) for level in levels)
    if all(isinstance(level, int | float) for level in levels):
        scale = np.array(levels, dtype=np.float64)
        values = series.cast(pl.Float64, strict=False).fill_nan(None)
        if (np.diff(scale) <= 0).any():
            raise InputError(
                "the levels of the scale must ascend", got=listed, remedy="Put the lowest first."
            )
        outside = values.is_not_null() & ~values.is_in(scale.tolist())
        outside |= values.is_null() & series.is_not_null() & ~_is_nan(series)
    else:
        scale = np.arange(1.0, len(levels) + 1)
        texts = series.cast(pl.String)
        places = {str(one): place for one, place in zip(levels, scale.tolist(), strict=True)}
        values = texts.replace_strict(places, default=None, return_dtype=pl.Float64)
        outside = values.is_null() & texts.is_not_null()
    _refuse_first(series, outside, f"must be one of {listed}")
    return values, scale


def _is_nan(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        return series.is_nan().fill_null(value=False)
    return pl.Series([False]).new_from_index(0, len(series))


def _refuse_first(series: pl.Series, wrong: pl.Series, must: str) -> None:
    rows = wrong.fill_null(value=False).arg_true()
    if len(rows):
        first = int(rows[0])
        raise InputError(
            f"{series.name!r} {must}",
            where=f"rating {first + 1}",
            got=series[first],
            remedy="Fix the rating, or name the scale's levels from lowest to highest.",
        )


def _refuse_doubles(rows: pl.DataFrame) -> None:
    doubled = rows.select("situation", "rater").is_duplicated()
    if doubled.any():
        first = rows.filter(doubled).row(0, named=True)
        raise InputError(
            f"rater {first['rater']!r} rated {first['situation']!r} more than once",
            remedy="If a situation has several replies, name the arm, or as situation the column "
            "that identifies the reply. Otherwise delete copies, or average the repeats.",
        )
