"""A judge's ratings compared with people's: confusion, calibration curve and ordinal map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.arguments import require_columns
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.robust import cluster_ways, clustered_mean, least_squares
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.t_tests import t_margin


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often people gave one value where the judge gave another."""

    categories: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    """A row per value of people, a column per value of the judge."""
    n: int
    dropped: int
    """Rows left out because a value was missing."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Responses with the same rating by the judge, and people's ratings of them."""

    judge: float
    """The judge's mean value here."""
    people: Estimate
    n: int


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """People's mean rating by the judge's value; the diagonal would be perfect."""

    points: tuple[CurvePoint, ...]
    bias: Estimate
    """The judge's mean minus people's."""
    slope: Estimate
    """People's ratings regressed on the judge's; 1 where a step of the judge is a step of theirs,
    below 1 where it exaggerates. NaN where the judge never varies."""
    n: int
    dropped: int
    confidence: float


@dataclass(frozen=True, slots=True)
class OrdinalMap:
    """From a judge's value to the proportions of people's categories."""

    categories: tuple[float, ...]
    at: tuple[float, ...]
    """The judge's values that were seen, ascending."""
    cumulative: tuple[tuple[float, ...], ...]
    """For each of them: the proportion of people's ratings at or below each category."""
    n: int
    dropped: int

    def shares(self, values: Sequence[float] | Array) -> Array:
        """The proportion of each category, for each value (rows); between seen values by line."""
        where = np.asarray(values, dtype=np.float64)
        table = np.array(self.cumulative)
        below = np.column_stack([np.interp(where, self.at, column) for column in table.T])
        return np.diff(below, axis=1, prepend=0.0)

    def expected(self, values: Sequence[float] | Array) -> Array:
        """People's mean rating, for each value of the judge."""
        return np.asarray(self.shares(values) @ np.array(self.categories))


@dataclass(frozen=True, slots=True)
class CalibrationScores:
    """How well the judge predicts people's ratings of situations it was not fitted to."""

    ranked_probability_score: float
    """0 is perfect; the mean squared distance of cumulative shares, per threshold."""
    base_score: float
    """The same when everybody's shares are predicted whatever the judge says."""
    brier: float
    """Mean squared distance of shares, summed over categories; ignores their order."""
    base_brier: float
    gain: Estimate
    """`base_score` less `ranked_probability_score`; above 0 where the judge knows something."""
    skill: float
    """The gain as a proportion of `base_score`; 1 is perfect."""
    n: int
    dropped: int
    folds: int
    confidence: float


@dataclass(frozen=True, slots=True)
class _Rows:
    people: Array
    judge: Array
    clusters: tuple[Codes, ...]
    situations: Codes
    dropped: int


def confusion(
    frame: pl.DataFrame, *, rating: str = "rating", prediction: str = "prediction"
) -> Confusion:
    """The table of people's values by the judge's, over all values that either gave."""
    rows = _rows(frame, rating, prediction, None, None)
    categories = np.unique(np.concatenate([rows.people, rows.judge]))
    table = np.zeros((len(categories), len(categories)), dtype=np.int64)
    places = (np.searchsorted(categories, person) for person in (rows.people, rows.judge))
    np.add.at(table, tuple(places), 1)
    return Confusion(
        categories=tuple(categories.tolist()),
        counts=tuple(tuple(row) for row in table.tolist()),
        n=len(rows.people),
        dropped=rows.dropped,
    )


def calibration_curve(
    frame: pl.DataFrame,
    *,
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str | None = "situation",
    bins: int = 10,
    confidence: float = 0.95,
) -> CalibrationCurve:
    """People's mean rating for each value of the judge, with intervals.

    One row is one person's rating beside the judge's of the same response. Each value of the judge
    is a point; where there are more than `bins` values, they are grouped into that many of about
    the same size. Intervals let ratings of one rater and of one situation be correlated; NaN where
    a point rests on a single rater or situation. Rows with a missing value are left out.
    """
    rows = _rows(frame, rating, prediction, rater, situation)
    points = []
    for chosen in _bins(rows.judge, bins):
        here = [codes[chosen] for codes in rows.clusters]
        people = clustered_mean(rows.people[chosen], here, confidence)
        points.append(CurvePoint(float(rows.judge[chosen].mean()), people, int(chosen.sum())))
    return CalibrationCurve(
        points=tuple(points),
        bias=clustered_mean(rows.judge - rows.people, rows.clusters, confidence),
        slope=_slope(rows, confidence),
        n=len(rows.people),
        dropped=rows.dropped,
        confidence=confidence,
    )


def ordinal_map(
    frame: pl.DataFrame,
    *,
    rating: str = "rating",
    prediction: str = "prediction",
    categories: Sequence[float] | None = None,
) -> OrdinalMap:
    """The monotone map from the judge's value to people's categories that fits best.

    For each category the proportion of people at or below it is a decreasing step function of the
    judge's value, fitted by isotonic regression; these never cross. A judge that goes against
    people gets a flat map. Fitted and applied to the same ratings it flatters the judge: see
    `calibration_scores` for the honest figure.

    Barlow, R. E., Bartholomew, D. J., Bremner, J. M., & Brunk, H. D. (1972). Statistical Inference
    under Order Restrictions. Wiley.
    """
    rows = _rows(frame, rating, prediction, None, None)
    scale = np.unique(rows.people) if categories is None else np.array(categories, dtype=float)
    if not np.isin(rows.people, scale).all():
        raise InputError(
            "a rating is not one of the scale's categories",
            got=float(rows.people[~np.isin(rows.people, scale)][0]),
            remedy="Name all categories of the scale.",
        )
    at, cumulative = _isotonic(rows.people, rows.judge, np.sort(scale))
    return OrdinalMap(
        categories=tuple(np.sort(scale).tolist()),
        at=tuple(at.tolist()),
        cumulative=tuple(tuple(row) for row in cumulative.tolist()),
        n=len(rows.people),
        dropped=rows.dropped,
    )


def calibration_scores(
    frame: pl.DataFrame,
    *,
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str = "situation",
    folds: int = 5,
    seed: int = 0,
    confidence: float = 0.95,
) -> CalibrationScores:
    """Ranked probability and Brier scores of the ordinal map on situations left out of its fit.

    Situations are dealt into `folds`; each is predicted from the others, by the map and by the
    base rates of the categories. The gain's interval is clustered as in `calibration_curve`.

    Epstein, E. S. (1969). Journal of Applied Meteorology 8, 985–987. Brier, G. W. (1950). Monthly
    Weather Review 78, 1–3.
    """
    rows = _rows(frame, rating, prediction, rater, situation)
    scale = np.unique(rows.people)
    situations = np.unique(rows.situations)
    folds = min(folds, len(situations))
    if folds < 2 or len(scale) < 2:
        raise InputError(
            "scores need at least 2 situations and 2 different ratings by people",
            got=f"{len(situations)} situations and {len(scale)} values",
            remedy="Give more ratings.",
        )
    fold_of = np.random.default_rng(seed).permutation(len(situations)) % folds
    fold = fold_of[np.searchsorted(situations, rows.situations)]
    reached = (rows.people[:, None] <= scale).astype(np.float64)
    mapped, base = np.empty_like(reached), np.empty_like(reached)
    for number in range(folds):
        out = fold == number
        at, cumulative = _isotonic(rows.people[~out], rows.judge[~out], scale)
        for k, column in enumerate(cumulative.T):
            mapped[out, k] = np.interp(rows.judge[out], at, column)
        base[out] = reached[~out].mean(axis=0)
    thresholds = len(scale) - 1
    score = ((mapped - reached) ** 2).sum(axis=1) / thresholds
    base_score = ((base - reached) ** 2).sum(axis=1) / thresholds
    return CalibrationScores(
        ranked_probability_score=float(score.mean()),
        base_score=float(base_score.mean()),
        brier=_brier(mapped, reached),
        base_brier=_brier(base, reached),
        gain=clustered_mean(base_score - score, rows.clusters, confidence),
        skill=float(1 - score.mean() / base_score.mean()) if base_score.any() else math.nan,
        n=len(rows.people),
        dropped=rows.dropped,
        folds=folds,
        confidence=confidence,
    )


def _rows(
    frame: pl.DataFrame, rating: str, prediction: str, rater: str | None, situation: str | None
) -> _Rows:
    require_columns(frame, rating, prediction, rater, situation)
    people = frame[rating].cast(pl.Float64).fill_null(np.nan).to_numpy()
    judge = frame[prediction].cast(pl.Float64).fill_null(np.nan).to_numpy()
    whole = np.isfinite(people) & np.isfinite(judge)
    if not whole.any():
        raise InputError(
            "no response was rated by both people and the judge",
            remedy="Let the judge rate responses that people rated.",
        )
    ways = [codes[whole] for codes in cluster_ways(frame, rater, situation)]
    situations = ways[-1] if situation is not None else np.arange(int(whole.sum()))
    return _Rows(people[whole], judge[whole], tuple(ways), situations, int((~whole).sum()))


def _bins(judge: Array, bins: int) -> list[NDArray[np.bool_]]:
    values = np.unique(judge)
    if len(values) <= bins:
        return [judge == value for value in values]
    inner = np.quantile(judge, np.linspace(0, 1, bins + 1)[1:-1])
    place = np.searchsorted(np.unique(inner), judge, side="right")
    return [place == item for item in np.unique(place)]


def _slope(rows: _Rows, confidence: float) -> Estimate:
    if np.ptp(rows.judge) == 0:
        return NO_ESTIMATE
    centred = rows.judge - rows.judge.mean()
    design = np.column_stack([np.ones(len(centred)), centred])
    fit = least_squares(design, rows.people, rows.clusters)
    estimate = float(fit.coefficients[1])
    if fit.df < 1:
        return Estimate(estimate)
    margin = t_margin(fit.df, confidence) * math.sqrt(float(fit.covariance[1, 1]))
    return Estimate(estimate, estimate - margin, estimate + margin)


def _isotonic(people: Array, judge: Array, scale: Array) -> tuple[Array, Array]:
    """The judge's values, and the proportion of people at or below each category there."""
    from scipy.optimize import isotonic_regression

    at, place, sizes = np.unique(judge, return_inverse=True, return_counts=True)
    cumulative = np.ones((len(at), len(scale)))
    for k, category in enumerate(scale[:-1]):
        below = np.bincount(place, people <= category, minlength=len(at)) / sizes
        fit = isotonic_regression(below, weights=sizes, increasing=False)
        cumulative[:, k] = np.clip(fit.x, 0.0, 1.0)
    return at, cumulative


def _brier(cumulative: Array, reached: Array) -> float:
    distance = np.diff(cumulative - reached, axis=1, prepend=0.0)
    return float((distance**2).sum(axis=1).mean())
