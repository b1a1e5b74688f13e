"""Standardised mean differences with intervals, on arrays of means, SDs and counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.t_tests import z_margin


@dataclass(frozen=True, slots=True)
class Standardised:
    """Differences in units of a standard deviation; NaN where it is undefined."""

    estimate: Array
    low: Array
    high: Array
    se: Array


def hedges_g(
    mean: Array | float,
    sd: Array | float,
    n: Array | float,
    reference_mean: Array | float,
    reference_sd: Array | float,
    reference_n: Array | float,
    *,
    confidence: float = 0.95,
) -> Standardised:
    """Hedges' g of two independent samples: the difference over the pooled SD, bias corrected.

    The interval is the large-sample one, from the variance (n+m)/(nm) + d²/(2(n+m)). Not for
    paired scores. NaN where a sample has fewer than two values, or nothing varies.

    Hedges, L. V. (1981). Journal of Educational Statistics 6, 107–128; Borenstein, M., et al.
    (2009). Introduction to Meta-Analysis, chapter 4.
    """
    n, m = np.asarray(n, dtype=float), np.asarray(reference_n, dtype=float)
    df = n + m - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = np.sqrt(((n - 1) * sd**2 + (m - 1) * reference_sd**2) / df)
        d = (mean - reference_mean) / np.where(pooled > 0, pooled, np.nan)
        variance = (n + m) / (n * m) + d**2 / (2 * (n + m))
    return _corrected(np.asarray(d), variance, df, confidence)


def paired_d(
    mean: Array,
    sd: Array,
    reference_mean: Array,
    reference_sd: Array,
    n: Array,
    correlation: Array,
    *,
    confidence: float = 0.95,
) -> Standardised:
    """The difference of paired scores over the mean SD of the two, bias corrected.

    In the same unit as `hedges_g`, so people's and models' changes can be compared; dividing by
    the SD of the differences would not be. Interval from (1/n + d²/2n) · 2(1−r). NaN with fewer
    than two pairs, or where a side does not vary.

    Borenstein, M., et al. (2009). Introduction to Meta-Analysis, chapter 4; Cumming, G. (2012).
    Understanding the New Statistics, chapter 11 (d_av).
    """
    n = np.asarray(n, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.sqrt((sd**2 + reference_sd**2) / 2)
        d = (mean - reference_mean) / np.where(within > 0, within, np.nan)
        variance = (1 / n + d**2 / (2 * n)) * 2 * (1 - correlation)
    return _corrected(d, variance, n - 1, confidence)


def _corrected(d: Array, variance: Array, df: Array, confidence: float) -> Standardised:
    from scipy.special import gammaln

    with np.errstate(divide="ignore", invalid="ignore"):
        # Below two degrees of freedom the correction does not exist.
        factor = np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / np.sqrt(df / 2)
        factor = np.where(df > 1, factor, np.nan)
        estimate, se = factor * d, factor * np.sqrt(variance)
    margin = z_margin(confidence) * se
    return Standardised(estimate, estimate - margin, estimate + margin, se)
