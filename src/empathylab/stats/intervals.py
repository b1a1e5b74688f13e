"""Intervals around estimates that carry their standard error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from empathylab.stats.questionnaires.appraisal import ScaleChange
from empathylab.stats.t_tests import t_margin, z_margin


class Interval(NamedTuple):
    """Where the true value lies, at the stated confidence."""

    low: float
    high: float


def change_interval(change: ScaleChange, *, confidence: float = 0.95) -> Interval | None:
    """The interval of a change from baseline; None where nothing varies or there is too little.

    Its centre is `cluster_delta`, and situations and item orders count as clusters.
    """
    se, df = change.error
    nothing_varies = change.sd == 0 and change.default_sd == 0
    if nothing_varies or not se > 0 or not df > 0:
        return None
    margin = t_margin(df, confidence) * se
    return Interval(change.cluster_delta - margin, change.cluster_delta + margin)


def wilson(
    share: ArrayLike, size: ArrayLike, *, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of Wilson's score interval of shares of `size` independent cases; NaN without any.

    Wilson, E. B. (1927). Journal of the American Statistical Association 22, 209–212.
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(size, dtype=np.float64)
    z2 = z_margin(confidence) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(n > 0, n, np.nan)
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        margin = np.sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    # At the ends the interval touches 0 or 1, which rounding might miss by a hair.
    low = np.where(p == 0, np.where(np.isnan(n), np.nan, 0.0), centre - margin)
    high = np.where(p == 1, np.where(np.isnan(n), np.nan, 1.0), centre + margin)
    return low, high
