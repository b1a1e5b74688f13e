"""Partial η² with its interval from the noncentral F distribution.

Steiger, J. H. (2004). Psychological Methods 9, 164–182.
"""

from __future__ import annotations

import math

from empathylab.stats.estimates import Estimate


def partial_eta_squared(
    f: float, df: int, df_residual: float, *, confidence: float = 0.95
) -> Estimate:
    """The proportion of variance that a term explains of what other terms leave.

    The interval holds the noncentralities λ under which F is neither too large nor too small, as
    λ / (λ + df + df_residual + 1); its lower end is 0 where F is what chance gives.
    """
    estimate = f * df / (f * df + df_residual)
    tail = (1 - confidence) / 2
    count = df + df_residual + 1
    ends = [_noncentrality(f, df, df_residual, share) for share in (1 - tail, tail)]
    low, high = (end / (end + count) for end in ends)
    return Estimate(estimate, low, high)


def _noncentrality(f: float, df: float, df_residual: float, below: float) -> float:
    """λ at which an F this small or smaller has the given probability; 0 where none has."""
    from scipy.optimize import brentq
    from scipy.special import fdtr, ncfdtr

    if float(fdtr(df, df_residual, f)) <= below:
        return 0.0

    def gap(noncentrality: float) -> float:
        return float(ncfdtr(df, df_residual, noncentrality, f)) - below

    high = max(4 * f * df, 10.0)
    while gap(high) > 0 and math.isfinite(high):
        high *= 2
    return float(brentq(gap, 1e-12, high, xtol=1e-10))
