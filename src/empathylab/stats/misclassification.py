"""Proportions corrected for the errors of the method that found the cases."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.t_tests import z_margin


class ErrorRate(NamedTuple):
    """A sensitivity or specificity that was estimated on a sample."""

    estimate: float
    centre: float
    """Drawn towards one half: the middle of what it may be."""
    variance: float
    """Of the centre."""

    @classmethod
    def of_counts(cls, right: int, size: int) -> Self:
        """From the cases that were classified rightly; the centre has one more of each kind."""
        centre = (right + 1) / (size + 2)
        estimate = right / size if size else math.nan
        return cls(estimate, centre, centre * (1 - centre) / (size + 2))


def corrected_proportion(
    share: float,
    size: float,
    sensitivity: ErrorRate,
    specificity: ErrorRate,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """The true proportion behind a share that was found with known error rates.

    The estimate is Rogan and Gladen's, cut at 0 and 1; the interval is Lang and Reiczigel's, which
    also takes in that both rates were estimated on samples. NaN where the method is no better than
    chance or a rate is unknown. Not for rates from other kinds of cases than those at hand: the
    correction is only as good as they are.

    Rogan, W. J., & Gladen, B. (1978). American Journal of Epidemiology 107, 71–76.
    Lang, Z., & Reiczigel, J. (2014). Preventive Veterinary Medicine 113, 13–22.
    """
    youden = sensitivity.estimate + specificity.estimate - 1
    shrunk_youden = sensitivity.centre + specificity.centre - 1
    if not (size > 0 and youden > 0 and shrunk_youden > 0):
        return NO_ESTIMATE
    z = z_margin(confidence)
    n = size + z**2
    p = (size * share + z**2 / 2) / n
    centre = (p + specificity.centre - 1) / shrunk_youden
    se_part, sp_part = sensitivity.variance, specificity.variance
    shift = 2 * z**2 * (centre * se_part - (1 - centre) * sp_part)
    variance = p * (1 - p) / n + centre**2 * se_part + (1 - centre) ** 2 * sp_part
    margin = z * math.sqrt(variance) / shrunk_youden
    return Estimate(
        _cut((share + specificity.estimate - 1) / youden),
        _cut(centre + shift - margin),
        _cut(centre + shift + margin),
    )


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
