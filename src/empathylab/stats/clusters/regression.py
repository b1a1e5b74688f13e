"""Least squares with clusters in one way or two, and tests with few clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.bias_reduced import BiasReduced, bias_reduced
from empathylab.stats.clusters.robust import crossed_codes
from empathylab.stats.t_tests import TTest, t_test


@dataclass(frozen=True, slots=True)
class ClusteredRegression:
    """A least-squares fit with its bias-reduced covariance."""

    coefficients: Array
    covariance: Array
    clusters: tuple[int, ...]
    """Clusters of each way."""
    n: int
    fallback: bool
    """Whether two ways combined gave no covariance, and the larger of the two stands for it."""
    ways: tuple[BiasReduced, ...] = field(repr=False)

    def test(self, contrast: Array, confidence: float = 0.95) -> TTest:
        """The test of a combination of coefficients; NaN where nothing varies.

        Degrees of freedom are Satterthwaite's; with two ways of clustering, the smaller of the two.
        """
        estimate = float(contrast @ self.coefficients)
        se = math.sqrt(max(float(contrast @ self.covariance @ contrast), 0.0))
        each = [way.degrees(contrast) for way in self.ways]
        df = min(each) if not any(math.isnan(item) for item in each) else math.nan
        return t_test(estimate, se, df, confidence)


def clustered_regression(
    design: Array,
    outcome: Array,
    clusters: Sequence[Codes],
    *,
    weights: Array | None = None,
) -> ClusteredRegression:
    """Least squares with the covariance CR2, where rows of a cluster may be correlated.

    With two ways of clustering (raters and replies) the covariance is that of the first plus that
    of the second minus that of their intersection; where the result is no covariance, the larger
    of the two stands for it. Degrees of freedom are Satterthwaite's, the smaller of the two ways.

    Cameron, A. C., Gelbach, J. B., & Miller, D. L. (2011). Journal of Business & Economic
    Statistics 29, 238–249. One way: see `bias_reduced`.
    """
    if len(clusters) not in (1, 2):
        raise ValueError("one or two ways of clustering")
    own = design if weights is None else design * weights[:, None]
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError(
            "columns of the design are linearly dependent",
            remedy="Leave out a column that follows from the others.",
        )
    coefficients = np.linalg.solve(design.T @ own, own.T @ outcome)
    residual = np.asarray(outcome - design @ coefficients, dtype=np.float64)
    ways = [bias_reduced(design, residual, codes, weights) for codes in clusters]
    covariance, fallback = ways[0].covariance, False
    if len(ways) == 2:
        both = crossed_codes(*clusters)
        shared = bias_reduced(design, residual, both, weights).covariance
        covariance = ways[0].covariance + ways[1].covariance - shared
        size = np.sqrt(np.maximum(np.diag(ways[0].covariance + ways[1].covariance), 1e-300))
        if float(np.linalg.eigvalsh(covariance / np.outer(size, size))[0]) <= 1e-12:
            larger = max(ways, key=lambda way: float(np.trace(way.covariance)))
            covariance, fallback = larger.covariance, True
    return ClusteredRegression(
        coefficients=np.asarray(coefficients, dtype=np.float64),
        covariance=covariance,
        clusters=tuple(way.clusters for way in ways),
        n=len(outcome),
        fallback=fallback,
        ways=tuple(ways),
    )
