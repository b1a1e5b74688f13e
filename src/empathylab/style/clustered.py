"""Least squares with standard errors that allow for clusters, one-way or two-way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array
from empathylab.stats.clusters.robust import cluster_covariance
from empathylab.stats.t_tests import t_test


class Slope(NamedTuple):
    """One coefficient with its interval; NaN where the data do not determine it."""

    estimate: float
    low: float
    high: float
    se: float
    df: float
    p: float


UNDETERMINED = Slope(*(math.nan,) * 6)


def clustered_slope(
    y: Array,
    x: Array,
    controls: Array,
    clusters: Sequence[NDArray[np.int64]],
    *,
    fewest: float = 2.0,
    confidence: float = 0.95,
) -> Slope:
    """The coefficient of `x` in y ~ x + controls, allowing for one or two sets of clusters.

    `controls` holds the other columns of the design, the constant among them. The variance with
    two sets is the sum of the two one-way variances less that of their intersection (Cameron,
    A. C., Gelbach, J. B., & Miller, D. L. (2011). Journal of Business & Economic Statistics 29,
    238–249), each with the factor G/(G−1) · (N−1)/(N−K). That sum can fall to zero or below in
    small samples; then the larger of the one-way variances stands in.

    A mark that stands in three of a thousand texts varies in three clusters only, and such a
    standard error is far too small. So clusters count by how much of `x` varies in them: the
    effective number is (Σγ)² / Σγ² with γ the sum of squares of what the controls leave of `x` in
    a cluster (after Carter, A. V., Schnepel, K. T., & Steigerwald, D. G. (2017). Review of
    Economics and Statistics 99, 698–709). The interval and p use t with that number less one
    degrees of freedom, the smaller of the two sets'; below `fewest` they are NaN. All is NaN
    where `x` is a combination of the controls.
    """
    n, k = len(y), controls.shape[1] + 1
    if n <= k:
        return UNDETERMINED
    residual_x, residual_y = _without(controls, x), _without(controls, y)
    spread = float(residual_x @ residual_x)
    if spread <= 1e-12 * max(1.0, float(x @ x)):
        return UNDETERMINED
    slope = float(residual_x @ residual_y) / spread
    score = residual_x * (residual_y - slope * residual_x)
    effective = min(_effective(residual_x**2, labels) for labels in clusters)
    # A hair less: sums of squares that are equal on paper may differ in the last digit.
    if effective < max(2.0, fewest) * (1 - 1e-9):
        return UNDETERMINED._replace(estimate=slope)
    meat = float(cluster_covariance(score[:, None], clusters)[0, 0])
    variance = meat * (n - 1) / (n - k) / spread**2
    if not variance > 0:
        return UNDETERMINED._replace(estimate=slope)
    se, df = math.sqrt(variance), effective - 1
    test = t_test(slope, se, df, confidence)
    return Slope(slope, test.low, test.high, se, df, test.p)


def _without(controls: Array, column: Array) -> Array:
    """What is left of a column once the controls have explained what they can."""
    coefficients, *_ = np.linalg.lstsq(controls, column, rcond=None)
    left: Array = column - controls @ coefficients
    return left


def _effective(squares: Array, labels: NDArray[np.int64]) -> float:
    """How many clusters of equal weight these are worth."""
    _, place = np.unique(labels, return_inverse=True)
    sums = np.bincount(place, weights=squares)
    return float(sums.sum() ** 2 / (sums @ sums))
