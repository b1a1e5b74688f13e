"""Differences between the means of all pairs of arms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arguments import require_columns, without_gaps
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.robust import crossed_codes
from empathylab.stats.judges.powered_parts import (
    MANY_CLUSTERS,
    OwnEnds,
    Part,
    Plan,
    difference_ends,
    few_clusters,
    part_of,
    shared_rater_margin,
    widened,
)
from empathylab.stats.t_tests import t_margin

_ROUNDING = 1e-13
"""Of the arms' own sums of squares: a difference of them that is smaller is none."""


@dataclass(frozen=True, slots=True)
class ArmDifferences:
    """Tables with a row for the first arm of each two and a column for the second."""

    arms: tuple[str, ...]
    estimate: Array
    low: Array
    high: Array
    """At the confidence asked for, each pair by itself; NaN of an arm with itself."""
    situations: Codes
    """Situations in which people rated both."""
    raters: Codes
    """People who rated both."""


def prediction_powered_differences(
    frame: pl.DataFrame,
    *,
    rating: str = "rating",
    limits: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> ArmDifferences:
    """Every arm's mean minus every other's, each as `prediction_powered_difference` gives it.

    What each two share is found for all of them together, from the sums of each arm over raters,
    over situations and over both, so that hundreds of arms take seconds. Where the same few raters
    rated three arms or more, what raters and situations add to the error is taken from all pairs
    together: a single pair shows it too badly.
    """
    require_columns(frame, "arm")
    plan = Plan(rating, "prediction", "rater", "situation", None, False, limits)
    ways = plan.clusters(frame)
    labels = frame["arm"].cast(pl.String)
    names = tuple(labels.drop_nulls().unique(maintain_order=True).to_list())
    if not names:
        raise InputError("there are no ratings", remedy="Collect or import ratings first.")
    parts = [part_of(frame, plan, ways, name, labels.eq_missing(name).to_numpy()) for name in names]
    rated = without_gaps(frame, rating)
    situations, raters = (_shared(rated, column, names) for column in ("situation", "rater"))
    people, errors = _Errors.of(parts, people=True), _Errors.of(parts)
    ends = _Ends(parts, people, _Pooled.of(parts, people, raters), {})
    size = len(parts)
    estimate, low, high = (np.full((size, size), math.nan) for _ in range(3))
    for item in range(size):
        for other in range(item + 1, size):
            interval = ends.of(errors, item, other, confidence)
            estimate[item, other] = parts[item].mean - parts[other].mean
            estimate[other, item] = -estimate[item, other]
            low[item, other], high[item, other] = interval
            low[other, item], high[other, item] = -interval[1], -interval[0]
    return ArmDifferences(names, estimate, low, high, situations, raters)


@dataclass(frozen=True, slots=True)
class _Errors:
    """Variances and covariances of the arms' means: by rater, by situation, and by both."""

    ways: tuple[Array, Array, Array]

    @classmethod
    def of(cls, parts: Sequence[Part], *, people: bool = False) -> _Errors:
        """Of the estimates, or of the means of people's ratings alone."""
        terms = [part.people_influence if people else part.influence for part in parts]
        arms = np.repeat(np.arange(len(parts)), [len(term) for term in terms])
        values = np.concatenate(terms)
        first, second = (
            np.concatenate(codes) for codes in zip(*(part.clusters for part in parts), strict=True)
        )
        ways = (first, second, crossed_codes(first, second))
        return cls(tuple(_products(values, codes, arms) for codes in ways))  # type: ignore[arg-type]

    def own(self, one: int) -> float:
        """The standard error of an arm's mean."""
        return _se(*(float(way[one, one]) for way in self.ways))

    def difference(self, one: int, other: int) -> float:
        """The standard error of the difference of two arms' means."""
        sums = []
        for way in self.ways:
            alone = float(way[one, one] + way[other, other])
            variance = alone - 2 * float(way[one, other])
            sums.append(variance if variance > _ROUNDING * alone else 0.0)
        return _se(*sums)


def _products(values: Array, codes: Codes, arms: Codes) -> Array:
    """The sums over clusters of the products of each two arms' sums."""
    from scipy import sparse

    _, codes = np.unique(codes, return_inverse=True)
    shape = (int(codes.max(initial=-1)) + 1, int(arms.max(initial=-1)) + 1)
    sums = sparse.coo_array((values, (codes, arms)), shape=shape).tocsc()
    return np.asarray((sums.T @ sums).toarray(), dtype=np.float64)


def _se(first: float, second: float, both: float) -> float:
    """As `cluster_covariance` puts two ways together."""
    together = first + second - both
    kept = together > 1e-12 * (first + second)
    return math.sqrt(together if kept else max(first, second))


@dataclass(frozen=True, slots=True)
class _Pooled:
    """Standard errors of all pairs of people's means, with design effects common to all pairs."""

    errors: Array
    df: float
    """Satterthwaite's, of the design effects."""

    @classmethod
    def of(cls, parts: Sequence[Part], people: _Errors, raters: Codes) -> _Pooled | None:
        """None where raters are many, or two arms have none in common, or nothing varies.

        Ratings of a pair vary more than independent ones by a factor for raters and one for
        situations (Kish's design effects), which are estimated over all pairs, so that even four
        raters of five arms show them with about 12 degrees of freedom instead of 3.
        """
        upper = np.triu_indices(len(parts), 1)
        few = 1 < min((part.fewest for part in parts), default=0) < MANY_CLUSTERS
        if len(parts) < 3 or not few or len(parts[0].clusters) < 2 or raters[upper].min() == 0:
            return None
        scale = np.array([1 / few_clusters(part.fewest) for part in parts])
        kept = [tuple(codes[part.rated] for codes in part.clusters) for part in parts]
        varied, degrees, rows = [], [], []
        for way, codes in zip(people.ways, zip(*kept, strict=True), strict=False):
            counts = np.array([len(np.unique(own)) for own in codes])
            varied.append(_difference_squares(way, scale * np.sqrt(counts / (counts - 1))))
            degrees.append(_degrees(codes, int(counts.sum()), len(parts)))
            rows.append(sum(map(len, codes)) / float(counts.sum()))
        n = np.array([part.n for part in parts])
        alone = _difference_squares(people.ways[2], scale * np.sqrt(n / (n - 1)))
        if not alone[upper].sum() > 0:
            return None
        by_rater, by_situation = (float(way[upper].sum() / alone[upper].sum()) for way in varied)
        # Below 1 where raters' own levels cancel; what is left by chance alone is not so small.
        effect = max(by_rater + by_situation - 1, min(by_rater, by_situation) / 2)
        # Situations with one rating each show nothing beyond what single ratings show.
        errors = by_rater**2 / degrees[0], (1 - 1 / rows[1]) * by_situation**2 / degrees[1]
        df = effect**2 / sum(errors)
        return cls(np.sqrt(effect * alone), df)


def _difference_squares(products: Array, scale: Array) -> Array:
    """The sums of squares of differences of scaled arms, from the sums of products of each two."""
    scaled = products * np.outer(scale, scale)
    own = np.diag(scaled)
    return np.maximum(own[:, None] + own - 2 * scaled, 0.0)


def _degrees(codes: Sequence[Codes], in_arms: int, arms: int) -> float:
    """Of arms by clusters, minus those of arms and, as far as arms share them, of clusters.

    Fewer where some clusters have most of the rows.
    """
    _, sizes = np.unique(np.concatenate(codes), return_counts=True)
    count = len(sizes)
    shared = (in_arms - count) / (count * (arms - 1))
    even = float(sizes.sum()) ** 2 / float((sizes**2).sum()) / count
    return max(in_arms - arms - (count - 1) * shared, 1.0) * even


@dataclass(frozen=True, slots=True)
class _Ends:
    """The arms' own intervals, each found once for as many degrees of freedom as a pair has."""

    parts: Sequence[Part]
    people: _Errors
    pooled: _Pooled | None
    known: dict[tuple[int, float], OwnEnds]

    def of(self, errors: _Errors, one: int, other: int, confidence: float) -> tuple[float, float]:
        """The ends of the first arm's mean minus the second's."""
        df = float(min(self.parts[one].fewest, self.parts[other].fewest) - 1)
        if self.pooled is not None:
            df = self.pooled.df
        margin, se = t_margin(df, confidence), errors.difference(one, other)
        difference = self.parts[one].mean - self.parts[other].mean
        ends = difference - margin * se, difference + margin * se
        if self.parts[one].scale is not None and self.parts[other].scale is not None:
            for arm in (one, other):
                if (arm, df) not in self.known:
                    own, people = errors.own(arm), self.people.own(arm)
                    self.known[arm, df] = OwnEnds.of(self.parts[arm], own, people, margin)
            ends = difference_ends(self.known[one, df], self.known[other, df], se)
        if self.pooled is not None:
            cautious: float | None = margin * float(self.pooled.errors[one, other])
        else:
            cautious = shared_rater_margin(self.parts[one], self.parts[other], confidence)
        if cautious is None:
            return ends
        alone = self.people.difference(one, other)
        cautious *= se / alone if alone > 0 else 1.0
        return widened(ends, difference, cautious, self.parts[one].scale)


def _shared(rated: pl.DataFrame, thing: str, names: Sequence[str]) -> Codes:
    """How many raters, or situations, each pair of arms shares."""
    from scipy import sparse

    rows = rated.select(
        pl.col("arm").cast(pl.String), thing=pl.col(thing).cast(pl.String).rank("dense")
    )
    once = rows.drop_nulls().unique()
    places = {name: place for place, name in enumerate(names)}
    arms = np.array([places[name] for name in once["arm"]], dtype=np.int64)
    things = once["thing"].to_numpy().astype(np.int64)
    shape = (int(things.max(initial=0)) + 1, len(names))
    rated_by = sparse.coo_array((np.ones(len(arms), np.int64), (things, arms)), shape=shape).tocsc()
    return np.asarray((rated_by.T @ rated_by).toarray(), dtype=np.int64)
