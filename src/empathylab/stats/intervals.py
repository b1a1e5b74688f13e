"""Intervals around estimates that carry their standard error."""

from __future__ import annotations

import math
from typing import NamedTuple

from empathylab.stats.appraisal import ScaleChange


class Interval(NamedTuple):
    """Where the true value lies, at the stated confidence."""

    low: float
    high: float


def change_interval(change: ScaleChange, *, confidence: float = 0.95) -> Interval | None:
    """The interval of a change from rest; None where nothing varies or there is too little.

    Administrations count as clustered by situation: with one each it is Welch's interval, with
    repeats it is wider than the plain one. Where all come from one situation, the plain standard
    error of the published test has to do.
    """
    from scipy.special import stdtrit

    clustered = not math.isnan(change.cluster_se)
    se, df = (change.cluster_se, change.cluster_df) if clustered else (change.se, change.df)
    nothing_varies = change.sd == 0 and change.default_sd == 0
    if nothing_varies or not se > 0 or not df > 0:
        return None
    margin = float(stdtrit(df, (1 + confidence) / 2)) * se
    return Interval(change.delta - margin, change.delta + margin)
