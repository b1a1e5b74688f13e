"""Whether a difference is small enough not to matter: two one-sided tests.

Schuirmann, D. J. (1987). Journal of Pharmacokinetics and Biopharmaceutics 15, 657–680.
Lakens, D. (2017). Social Psychological and Personality Science 8, 355–362.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from empathylab.errors import InputError


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests of an estimate against a margin on either side of zero."""

    estimate: float
    margin_low: float
    margin_high: float
    t_low: float
    """Against the lower margin."""
    t_high: float
    p_low: float
    """That the true value lies below the lower margin."""
    p_high: float
    p: float
    """The larger of the two: below alpha, the value lies within the margin."""
    low: float
    """Ends of the interval with confidence 1 − 2 alpha; within the margin where p < alpha."""
    high: float
    alpha: float

    @property
    def equivalent(self) -> bool:
        return self.p < self.alpha


def equivalence_test(
    estimate: float,
    se: float,
    margin: float | tuple[float, float],
    *,
    df: float = math.inf,
    alpha: float = 0.05,
) -> Equivalence:
    """Two one-sided tests that an estimate lies within ±margin (or within two limits).

    `df` are the degrees of freedom of Student's t; infinite for a normal distribution. NaN
    statistics where the standard error is not known or zero.
    """
    from scipy.special import stdtr, stdtrit

    low, high = (-margin, margin) if isinstance(margin, int | float) else margin
    if not (math.isfinite(low) and math.isfinite(high) and low < 0 < high):
        raise InputError(
            "the equivalence margin must be on both sides of zero",
            got=margin,
            remedy="Give one positive number, or a negative and a positive one.",
        )
    if not 0 < alpha < 0.5:
        raise InputError(
            "`alpha` must be between 0 and 0.5", got=alpha, remedy="For example: 0.05."
        )
    if not se > 0 or not df > 0:
        nan = math.nan
        return Equivalence(estimate, low, high, nan, nan, nan, nan, nan, nan, nan, alpha)
    t_low, t_high = (estimate - low) / se, (estimate - high) / se
    if math.isinf(df):
        from scipy.special import ndtr, ndtri

        p_low, p_high, reach = float(ndtr(-t_low)), float(ndtr(t_high)), float(ndtri(1 - alpha))
    else:
        p_low, p_high = float(stdtr(df, -t_low)), float(stdtr(df, t_high))
        reach = float(stdtrit(df, 1 - alpha))
    return Equivalence(
        estimate=estimate,
        margin_low=low,
        margin_high=high,
        t_low=t_low,
        t_high=t_high,
        p_low=p_low,
        p_high=p_high,
        p=max(p_low, p_high),
        low=estimate - reach * se,
        high=estimate + reach * se,
        alpha=alpha,
    )
