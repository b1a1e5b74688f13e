"""Intervals: Wilson's of proportions, and percentiles of bootstrap estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from empathylab.stats.arrays import Array
from empathylab.stats.t_tests import z_margin


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def percentile_interval(values: Sequence[float] | Array, confidence: float) -> Interval:
    """The percentiles of bootstrap estimates, without those that are NaN; NaN without any."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return Interval(math.nan, math.nan)
    tail = (1 - confidence) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def wilson(
    share: ArrayLike, size: ArrayLike, *, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of Wilson's score interval of proportions of `size` independent cases; else NaN.

    Wilson, E. B. (1927). Journal of the American Statistical Association 22, 209–212.
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(size, dtype=np.float64)
    z2 = z_margin(confidence) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(n > 0, n, np.nan)
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        margin = np.sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    # At the ends the interval touches 0 or 1, which rounding might miss.
    low = np.where(p == 0, np.where(np.isnan(n), np.nan, 0.0), centre - margin)
    high = np.where(p == 1, np.where(np.isnan(n), np.nan, 1.0), centre + margin)
    return low, high
