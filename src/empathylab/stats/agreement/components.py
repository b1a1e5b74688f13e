"""Variance of ratings between situations, between raters and within, with any cells missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.agreement.bootstrap import Statistic
from empathylab.stats.agreement.table import RatingTable, totals
from empathylab.stats.arrays import Array
from empathylab.stats.notes import Note, note

MAX_RATERS = 32
MAX_CELLS = 10_000_000
"""Raters, and situations × raters², up to which resampling is quick enough."""


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Where the ratings' variance lies; an estimate may be negative where a part is near zero."""

    situation: float
    rater: float
    residual: float
    icc: float
    """Absolute agreement of one rating; ICC(2,1) where no cell is missing."""
    consistency: float
    """As `icc`, without the raters' differences in level; ICC(3,1) where no cell is missing."""
    n_ratings: int
    n_situations: int
    n_raters: int
    note: Note | None = None
    """Why there is no estimate."""


def variance_components(table: RatingTable) -> VarianceComponents:
    """The variance components of ratings by crossed raters and situations, gaps and all.

    The model is rating = mean + situation + rater + residual, all random. The estimates equate the
    sums of squares of each factor, adjusted for the other, with their expectations, which are free
    of bias with any cells missing, if they are missing at random. NaN, with a note, where
    raters and situations leave no degree of freedom for the residual or nothing varies.

    Henderson, C. R. (1953). Biometrics 9, 226–252 (method 3); Searle, S. R., Casella, G., &
    McCulloch, C. E. (1992). Variance Components, chapter 5.
    """
    situation, rater, residual = _estimates(table)
    total, without = situation + rater + residual, situation + residual
    problem = None
    if not np.isfinite(situation):
        problem = note("components_unknown")
    elif total <= 0:
        problem = note("no_variance")
    return VarianceComponents(
        situation=situation,
        rater=rater,
        residual=residual,
        icc=situation / total if total > 0 else float("nan"),
        consistency=situation / without if without > 0 else float("nan"),
        n_ratings=table.n_ratings,
        n_situations=table.n_situations,
        n_raters=len(table.rater_names),
        note=problem,
    )


def can_resample(table: RatingTable) -> bool:
    """Whether the components of many resamples are quickly had."""
    raters = len(table.rater_names)
    return raters <= MAX_RATERS and table.n_situations * raters**2 <= MAX_CELLS


def icc_statistic(table: RatingTable) -> Statistic:
    """ICC(2,1) of resampled situations, from variance components; for few raters."""
    solve = _resampled(table)

    def statistic(draws: Array) -> Array:
        situation, rater, residual = solve(draws)
        total = situation + rater + residual
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(situation / np.where(total > 0, total, np.nan))

    return statistic


def _estimates(table: RatingTable) -> tuple[float, float, float]:
    if table.n_ratings == 0:
        return float("nan"), float("nan"), float("nan")
    from scipy.sparse import coo_array, hstack
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import lsqr

    n, units, raters = table.n_ratings, table.n_situations, len(table.rater_names)
    ones, rows = np.ones(n), np.arange(n)
    design = hstack(
        [
            coo_array((ones, (rows, table.situations)), shape=(n, units)),
            coo_array((ones, (rows, table.raters)), shape=(n, raters)),
        ]
    ).tocsr()
    y = table.values - table.values.mean()
    fitted = design @ lsqr(design, y, atol=1e-14, btol=1e-14, iter_lim=20_000)[0]
    error = float(((y - fitted) ** 2).sum())
    size = units + raters
    links = coo_array((ones, (table.situations, units + table.raters)), shape=(size, size))
    islands = int(connected_components(links, directed=False, return_labels=False))
    by_situation = _within(y, table.situations, units)
    by_rater = _within(y, table.raters, raters)
    parts = _solved(
        np.array([n], dtype=np.float64),
        np.array([units], dtype=np.float64),
        np.array([raters], dtype=np.float64),
        np.array([raters - islands], dtype=np.float64),
        np.array([error if error > 1e-14 * max(float(y @ y), 1e-300) else 0.0]),
        np.array([by_situation]),
        np.array([by_rater]),
    )
    return float(parts[0][0]), float(parts[1][0]), float(parts[2][0])


def _within(y: Array, groups: NDArray[np.int64], size: int) -> float:
    sizes = np.maximum(np.bincount(groups, minlength=size), 1)
    means = totals(groups, y, size) / sizes
    return float(((y - means[groups]) ** 2).sum())


def _solved(
    n: Array,
    units: Array,
    raters: Array,
    rank: Array,
    error: Array,
    units_ss: Array,
    raters_ss: Array,
) -> tuple[Array, Array, Array]:
    """The components, from sums of squares within situations, within raters, and left over."""
    left = n - units - rank
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = np.where(left > 0, error / left, np.nan)
        rater = (units_ss - error - rank * residual) / (n - units)
        situation = (raters_ss - error - (units + rank - raters) * residual) / (n - raters)
    return situation, rater, residual


def _resampled(table: RatingTable) -> Statistic:
    """The three components of each resample, as rows of an array."""
    units, raters = table.n_situations, len(table.rater_names)
    there = np.zeros((units, raters))
    there[table.situations, table.raters] = 1
    y = np.zeros((units, raters))
    y[table.situations, table.raters] = table.values - table.values.mean()
    sizes = np.maximum(table.sizes, 1.0)
    centred = there * (y - (y.sum(axis=1) / sizes)[:, None])
    products = (there[:, :, None] * there[:, None, :]).reshape(units, -1)

    def solve(draws: Array) -> Array:
        by_rater = draws @ there
        normal = -((draws / sizes) @ products).reshape(len(draws), raters, raters)
        normal[:, np.arange(raters), np.arange(raters)] += by_rater
        right = draws @ centred
        values, vectors = np.linalg.eigh(normal)
        kept = values > 1e-9 * np.maximum(values[:, -1:], 1e-300)
        turned = np.einsum("bji,bj->bi", vectors, right)
        explained = (np.where(kept, turned, 0) ** 2 / np.where(kept, values, 1)).sum(axis=1)
        units_ss = draws @ (centred**2).sum(axis=1)
        raters_ss = (draws @ y**2 - (draws @ y) ** 2 / np.maximum(by_rater, 1)).sum(axis=1)
        parts = _solved(
            by_rater.sum(axis=1),
            draws.sum(axis=1),
            (by_rater > 0).sum(axis=1).astype(np.float64),
            kept.sum(axis=1).astype(np.float64),
            np.maximum(units_ss - explained, 0.0),
            units_ss,
            raters_ss,
        )
        return np.stack(parts)

    return solve
