"""One correction for many slopes on the same ratings, by simulated ratings without any relation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array, Codes

DRAWS = 999
_FEWEST_DRAWS = 199
_WORK = 1e8
"""Products of a feature, a rating and a draw: above it there are fewer draws."""
_BLOCK = 4_000_000
"""Simulated ratings held at a time."""


def jointly_corrected(
    y: Array,
    x: Array,
    controls: Array,
    clusters: Sequence[Codes],
    sources: Sequence[Codes],
    p: Array,
    df: Array,
    *,
    seed: int = 1,
) -> Array:
    """The p values of `clustered_slope`, corrected for the number of columns of `x`.

    Westfall and Young's step-down minimum p: a corrected p is how often ratings that are related to
    no feature give a p as small as this in any feature that is not more significant. Unlike Holm's,
    the correction knows that features go together and that a rare one cannot have a small p.

    The ratings are simulated: normal, with a variance for each of `sources` (codes of situations,
    raters, replies) and for the rest, as estimated from the products of residuals that share the
    source. Slopes, standard errors and p are calculated on them as on the ratings. `x` is NaN where
    a rating lacks the feature; `p` and `df` are those of each feature. No p is below 1/1000, as
    there are 999 draws (fewer, down to 199, where features times ratings exceed 100,000).

    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing. Wiley.
    """
    if not x.shape[1]:
        return np.empty(0)
    random = np.random.default_rng(seed)
    deviations = _deviations(_left(controls, y[:, None])[0][:, 0], sources)
    draws = int(np.clip(_WORK / x.size, _FEWEST_DRAWS, DRAWS))
    order = np.argsort(p, kind="stable")
    reached = np.zeros(len(p))
    width = max(1, _BLOCK // len(y))
    for begin in range(0, draws, width):
        count = min(width, draws - begin)
        drawn = deviations[-1] * random.standard_normal((len(y), count))
        for codes, deviation in zip(sources, deviations, strict=False):
            if deviation > 0:
                effects = random.standard_normal((int(codes.max()) + 1, count))
                drawn += deviation * effects[codes]
        simulated = _p_values(drawn, x, controls, clusters, df)[order]
        smallest = np.minimum.accumulate(simulated[::-1])[::-1]
        reached += (smallest <= p[order][:, None]).sum(axis=1)
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate((reached + 1) / (draws + 1))
    return corrected


def _deviations(residual: Array, sources: Sequence[Codes]) -> Array:
    """The standard deviation of each source and, last, of the rest.

    Solves for the variances that give the observed products of two rows that share a source; what
    comes out below zero is zero.
    """
    named = [*sources, np.arange(len(residual))]
    products = np.array([(np.bincount(codes, residual) ** 2).sum() for codes in named])
    shared = np.array([[_shared(first, second) for second in named] for first in named])
    variances = np.linalg.lstsq(shared, products, rcond=None)[0]
    deviations: Array = np.sqrt(np.maximum(variances, 0.0))
    return deviations


def _shared(first: Codes, second: Codes) -> float:
    """How many ordered pairs of rows share both."""
    both = first * (int(second.max()) + 1) + second
    return float((np.unique(both, return_counts=True)[1] ** 2.0).sum())


def _p_values(y: Array, x: Array, controls: Array, clusters: Sequence[Codes], df: Array) -> Array:
    """Per feature and column of `y`, the p of the slope."""
    from scipy.special import stdtr

    p_values = np.empty((x.shape[1], y.shape[1]))
    for rows, columns in _patterns(x):
        codes = [labels[rows] for labels in clusters]
        outcome, rank = _left(controls[rows], y[rows])
        feature, _ = _left(controls[rows], x[np.ix_(rows, columns)])
        t = _t_values(outcome, feature, codes, rank + 1)
        p_values[columns] = 2 * stdtr(df[columns][:, None], -np.abs(t))
    return p_values


def _patterns(x: Array) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows and columns of features that are known for the same ratings."""
    known = ~np.isnan(x)
    _, place = np.unique(known, axis=1, return_inverse=True)
    for number in range(place.max() + 1):
        columns = np.flatnonzero(place == number)
        yield np.flatnonzero(known[:, columns[0]]), columns


def _t_values(y: Array, x: Array, clusters: Sequence[Codes], k: int) -> Array:
    """Slopes of what the controls leave, divided by their clustered standard errors."""
    n = len(y)
    spread = (x**2).sum(axis=0)[:, None]
    slope = x.T @ y / spread
    ways = [_squares(y, x, slope, codes) for codes in clusters]
    meat = ways[0]
    if len(ways) == 2:
        first, second = clusters
        both = _squares(y, x, slope, first * (int(second.max()) + 1) + second)
        total = ways[0] + ways[1]
        meat = np.where(total - both > 1e-12 * total, total - both, np.maximum(*ways))
    t: Array = slope * spread / np.sqrt(meat * (n - 1) / (n - k))
    return t


def _squares(y: Array, x: Array, slope: Array, codes: Codes) -> Array:
    """The sum of squares of the clusters' scores, with the factor G/(G − 1).

    A cluster's score is a − slope · c, with a the sum of x · y over its rows and c that of x².
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.unique(codes, return_counts=True)[1]
    groups, starts = len(sizes), np.concatenate([[0], np.cumsum(sizes)])
    x, y = x[order], y[order]
    own = np.add.reduceat(x**2, starts[:-1])
    total: Array = slope**2 * (own**2).sum(axis=0)[:, None]
    total -= 2 * slope * ((x * np.repeat(own, sizes, axis=0)).T @ y)
    if (sizes**2).sum() < 4 * len(y):
        # Small clusters: from the squares of rows and the products of pairs of them.
        total += (x**2).T @ y**2
        first, second = _pairs(starts[:-1], sizes)
        total += 2 * ((x[first] * x[second]).T @ (y[first] * y[second]))
    else:
        for begin, end in pairwise(starts):
            sums = x[begin:end].T @ y[begin:end]
            total += np.square(sums, out=sums)
    total *= groups / (groups - 1)
    return total


def _pairs(starts: Codes, sizes: Codes) -> tuple[Codes, Codes]:
    """The two rows of every pair within a cluster, each pair once."""
    ends = np.repeat(starts + sizes, sizes)
    row = np.arange(len(ends))
    later = ends - row - 1
    first = np.repeat(row, later)
    return first, first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)


def _left(controls: Array, columns: Array) -> tuple[Array, int]:
    """What the controls leave of the columns, and the controls' rank."""
    coefficients, _, rank, _ = np.linalg.lstsq(controls, columns, rcond=None)
    return columns - controls @ coefficients, int(rank)
