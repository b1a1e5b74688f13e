"""Correlations of values that share a cluster, such as several replies to one person."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Array
from empathylab.stats.intervals import percentile_interval

_MIN_PAIRS = 3


class ClusteredCorrelation(NamedTuple):
    """Pearson's and Spearman's correlation, and an interval of the first."""

    pearson: float
    """NaN below three pairs, or where one side does not vary."""
    low: float
    high: float
    """Ends of the percentile bootstrap over clusters; NaN below three clusters."""
    spearman: float
    n: int
    clusters: int


def clustered_correlation(
    x: Array,
    y: Array,
    clusters: NDArray[np.generic],
    *,
    draws: int = 1_000,
    seed: int = 1,
    confidence: float = 0.95,
) -> ClusteredCorrelation:
    """The correlation of pairs, with an interval that draws whole clusters again.

    Field, C. A., & Welsh, A. H. (2007). Journal of the Royal Statistical Society B 69, 369–390.
    """
    codes = np.unique(clusters, return_inverse=True)[1]
    groups = int(codes.max(initial=-1)) + 1
    estimate = pearson(x, y)
    ranks = [pl.Series(values).rank().to_numpy() for values in (x, y)]
    low = high = math.nan
    if groups >= _MIN_PAIRS and math.isfinite(estimate):
        drawn = np.random.default_rng(seed).integers(groups, size=(draws, groups))
        low, high = _ends(x, y, codes, drawn, confidence)
    return ClusteredCorrelation(estimate, low, high, pearson(*ranks), len(x), groups)


def _ends(
    x: Array, y: Array, codes: NDArray[np.int64], drawn: NDArray[np.int64], confidence: float
) -> tuple[float, float]:
    """From sums over clusters, each counted as often as it was drawn."""
    a, b = x - x.mean(), y - y.mean()
    parts = (np.ones(len(a)), a, b, a * a, b * b, a * b)
    sums = np.column_stack([np.bincount(codes, part) for part in parts])
    n, sa, sb, saa, sbb, sab = sums[drawn].sum(axis=1).T
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = (sab - sa * sb / n) / np.sqrt((saa - sa**2 / n) * (sbb - sb**2 / n))
    known = estimates[np.isfinite(estimates)]
    return percentile_interval(np.clip(known, -1.0, 1.0), confidence)


def pearson(x: Array, y: Array) -> float:
    """Pearson's correlation; NaN below three pairs, or where one side does not vary."""
    if len(x) < _MIN_PAIRS or np.std(x) == 0 or np.std(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])
