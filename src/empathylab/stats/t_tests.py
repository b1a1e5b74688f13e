"""Student's t: tests and intervals of an estimate with its standard error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TTest:
    """An estimate with its t test against zero; NaN where there is no test."""

    estimate: float
    se: float
    df: float
    """Degrees of freedom, mostly Satterthwaite's; infinite for a normal distribution."""
    t: float
    p: float
    low: float
    high: float


def t_test(estimate: float, se: float, df: float, confidence: float = 0.95) -> TTest:
    """The two-sided test and the interval; NaN unless the error and its df are above 0."""
    if not (se > 0 and math.isfinite(se) and df > 0):
        return TTest(estimate, se, df, math.nan, math.nan, math.nan, math.nan)
    t, margin = estimate / se, t_margin(df, confidence) * se
    return TTest(estimate, se, df, t, two_sided_p(t, df), estimate - margin, estimate + margin)


def t_margin(df: float, confidence: float) -> float:
    """The two-sided quantile of Student's t; infinite without a degree of freedom."""
    from scipy.special import stdtrit

    if math.isinf(df):
        return z_margin(confidence)
    return float(stdtrit(df, (1 + confidence) / 2)) if df > 0 else math.inf


def z_margin(confidence: float) -> float:
    """The two-sided quantile of the normal distribution."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def two_sided_p(statistic: float, df: float) -> float:
    """The two-sided p value of Student's t."""
    from scipy.special import ndtr, stdtr

    if not df > 0 or statistic != statistic:
        return math.nan
    return float(2 * (ndtr(-abs(statistic)) if math.isinf(df) else stdtr(df, -abs(statistic))))


def satterthwaite_df(parts: Iterable[tuple[float, float]]) -> float:
    """The degrees of freedom of a sum of variances, each with its own; NaN where none varies.

    Of the variances of two means it is Welch's.

    Satterthwaite, F. E. (1946). Biometrics Bulletin 2, 110–114.
    """
    known = list(parts)
    total = sum(variance for variance, _ in known)
    below = sum(variance**2 / df for variance, df in known if variance > 0 and df > 0)
    return total**2 / below if below > 0 else math.nan
