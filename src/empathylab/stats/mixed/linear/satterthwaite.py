"""Degrees of freedom after Satterthwaite for the fixed effects of a linear mixed model.

The variance of an estimated effect is itself an estimate. Matching its mean and variance to those
of a scaled chi-square gives df = 2 f² / (g'Ag), where f is that variance, g its gradient in the
standard deviations (θ, σ) and A their covariance, twice the inverse Hessian of the criterion.

Satterthwaite, F. E. (1946). Biometrics Bulletin 2, 110–114.
Fai, A. H.-T., & Cornelius, P. L. (1996). Journal of Statistical Computation and Simulation 54,
363–378.
Kuznetsova, A., Brockhoff, P. B., & Christensen, R. H. B. (2017). Journal of Statistical Software
82(13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.linear.criterion import Minimum

_FLAT = 1e-10
"""Relative curvature below which the data say nothing of a direction."""


class FTest(NamedTuple):
    """Wald's F of several combinations of effects at once."""

    f: float
    """NaN where the data do not identify the combinations."""
    df: int
    """Independent combinations tested."""
    df_residual: float
    p: float


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How far the fixed effects' covariance is known."""

    covariance: Array
    """Of the fixed effects."""
    slopes: Array
    """Of that covariance in each standard deviation: θ off the boundary, then σ."""
    parameters: Array
    """Covariance of those standard deviations."""
    residual_df: float
    """Where there is nothing but the residual to estimate; NaN otherwise."""

    def degrees(self, contrast: Array) -> float:
        """Degrees of freedom of a combination of fixed effects; infinite where it is known."""
        if not math.isnan(self.residual_df):
            return self.residual_df
        variance = float(contrast @ self.covariance @ contrast)
        slope = np.einsum("i,kij,j->k", contrast, self.slopes, contrast)
        spread = float(slope @ self.parameters @ slope)
        return 2 * variance**2 / spread if spread > 0 else math.inf

    def turned(self, back: Array) -> Uncertainty:
        """The same for the effects times a matrix."""
        slopes = np.array([back @ slope @ back.T for slope in self.slopes])
        return replace(self, covariance=back @ self.covariance @ back.T, slopes=slopes)

    def f_test(self, contrasts: Array, beta: Array) -> FTest:
        """Wald's F of combinations (one per row) being all 0, after Fai and Cornelius."""
        from scipy.special import chdtrc, fdtrc

        values, vectors = np.linalg.eigh(contrasts @ self.covariance @ contrasts.T)
        kept = values > 1e-8 * max(values[-1], 0.0)
        rank = int(kept.sum())
        if rank == 0:
            return FTest(math.nan, 0, math.nan, math.nan)
        turned = vectors[:, kept].T @ contrasts
        f = float(((turned @ beta) ** 2 / values[kept]).mean())
        df = pooled_degrees([self.degrees(row) for row in turned])
        p = float(fdtrc(rank, df, f) if math.isfinite(df) else chdtrc(rank, rank * f))
        return FTest(f, rank, df, p)


def uncertainty(minimum: Minimum, *, degrees: int) -> Uncertainty:
    """The fixed effects' covariance at the minimum, and how it moves with θ and σ.

    A θ at 0 is left out: the covariance does not move with it there, nor does any other
    standard deviation's estimate.
    """
    variance = minimum.point.residual / degrees
    sigma = math.sqrt(variance)
    inverse = np.linalg.inv(minimum.information)
    covariance = variance * (inverse + inverse.T) / 2
    inside = np.array(minimum.free, dtype=np.intp)
    moved = [-variance * inverse @ minimum.information_slopes[k] @ inverse for k in inside]
    slopes = np.array([*moved, 2 / sigma * covariance])
    k = len(inside)
    hessian = np.empty((k + 1, k + 1))
    both = np.ix_(inside, inside)
    hessian[:k, :k] = minimum.determinants_hessian[both] + minimum.residual_hessian[both] / variance
    hessian[:k, k] = hessian[k, :k] = -2 * minimum.residual_gradient[inside] / sigma**3
    hessian[k, k] = 4 * degrees / variance
    alone = float(degrees) if k == 0 else math.nan
    return Uncertainty(covariance, slopes, 2 * _inverse(hessian), alone)


def pooled_degrees(each: list[float]) -> float:
    """Degrees of freedom of an F that averages squared t with these degrees of freedom.

    The F whose mean is the average of t² has df = 2E / (E − q), E = Σ df / (df − 2); at least 2.
    """
    df = np.array(each)
    if np.isfinite(df).all() and (np.abs(np.diff(df)) < 1e-8).all():
        return float(df.mean())
    if (df <= 2).any():
        return 2.0
    expected = float(np.sum(1 / (1 - 2 / df)))
    q = len(df)
    return 2 * expected / (expected - q) if expected > q else math.inf


def _inverse(hessian: Array) -> Array:
    """The inverse over the directions in which the criterion does curve."""
    # A unit diagonal makes what counts as flat independent of the response's unit.
    unit = 1 / np.sqrt(np.maximum(np.diagonal(hessian), 1e-300))
    values, vectors = np.linalg.eigh(hessian * unit[:, None] * unit)
    kept = values > _FLAT
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return np.asarray(inverse * unit[:, None] * unit)
