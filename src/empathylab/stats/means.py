"""Comparing means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The difference of two independent means, with its interval."""

    estimate: float
    low: float
    """Lower end of the interval; NaN where there is none."""
    high: float
    df: float
    """Degrees of freedom; NaN where neither sample varies."""
    confidence: float
    n: int
    reference_n: int
    varies: bool
    """Whether any value differs within its sample; if not, no interval can be given."""


def mean_difference(
    values: Sequence[float], reference: Sequence[float], *, confidence: float = 0.95
) -> MeanDifference:
    """Mean of `values` minus mean of `reference`, with Welch's interval.

    Estimates the difference between the populations that the two samples stand for, without
    assuming equal variances. Not for paired values, nor for values that are clustered (repeats
    of one situation): their interval would be too narrow. Missing values must be dropped before.
    With fewer than two values in a sample, or no variation in either, the interval is NaN.

    Welch, B. L. (1947). Biometrika 34, 28–35.
    """
    if not values or not reference:
        raise ValueError("both samples need at least one value")
    estimate = fmean(values) - fmean(reference)
    n, m = len(values), len(reference)
    nothing = MeanDifference(estimate, math.nan, math.nan, math.nan, confidence, n, m, varies=False)
    if n < 2 or m < 2:
        return nothing
    a, b = variance(values) / n, variance(reference) / m
    if a + b == 0:
        return nothing
    from scipy.stats import t

    df = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    margin = float(t.ppf((1 + confidence) / 2, df)) * math.sqrt(a + b)
    return MeanDifference(
        estimate, estimate - margin, estimate + margin, df, confidence, n, m, varies=True
    )
