"""How many ratings and raters a study needs, and what a study of a given size can show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from empathylab.errors import InputError
from empathylab.stats.t_tests import z_margin

_MAX_VALUE = 1e12


@dataclass(frozen=True, slots=True)
class ChiSquarePower:
    """The power of a chi-square test."""

    w: float
    """Cohen's effect size: the root of chi-square over n."""
    n: int
    """All observations together."""
    df: int
    alpha: float
    power: float


@dataclass(frozen=True, slots=True)
class TwoSharesPower:
    """The power of a test of two independent proportions of equal size."""

    share: float
    share_reference: float
    n: int
    """Per arm: independent ratings, or ratings counted with their design effect."""
    alpha: float
    power: float


@dataclass(frozen=True, slots=True)
class RatersNeeded:
    """How many raters an arm needs, when each gives several ratings."""

    raters: int
    """Per arm."""
    ratings: int
    """Per arm: raters × ratings per rater."""
    independent_ratings: float
    """Per arm, had every rating its own rater."""
    ratings_per_rater: int
    icc: float
    design_effect: float


def chi_square_power(w: float, n: int, *, df: int = 1, alpha: float = 0.05) -> ChiSquarePower:
    """The power of a chi-square test with effect size w on n independent observations.

    The statistic is taken as noncentral chi-square with noncentrality n·w². df is (rows − 1) ×
    (columns − 1). Observations that come in clusters count for less: divide n by the design effect.

    Cohen, J. (1988). Statistical power analysis for the behavioral sciences, chapter 7.
    """
    _positive(w, "the effect size w")
    _share(alpha, "alpha")
    if n < 1 or df < 1:
        raise InputError(
            "n and df must be at least 1", got=(n, df), remedy="Give whole numbers from 1."
        )
    return ChiSquarePower(w, n, df, alpha, _chi_square_power(n * w * w, df, alpha))


def chi_square_sample_size(
    w: float, *, power: float = 0.95, df: int = 1, alpha: float = 0.05
) -> ChiSquarePower:
    """The smallest total number of observations with which a chi-square test reaches the power.

    Welivita & Pu (2024) report 253 for w = 0.3, α = .05 and power .95: that is df = 8, the table
    of their 5 arms × 3 ratings. (A 2×2 comparison, df = 1, would need 145.)
    """
    _positive(w, "the effect size w")
    _wanted(power, alpha)
    noncentrality = _smallest(lambda at: _chi_square_power(at, df, alpha), power)
    # A size that reaches the power but for rounding is enough.
    n = max(1, math.ceil(noncentrality / (w * w) - 1e-9))
    return chi_square_power(w, n, df=df, alpha=alpha)


def detectable_effect(
    n: int, *, power: float = 0.95, df: int = 1, alpha: float = 0.05
) -> ChiSquarePower:
    """The smallest effect size w that n observations show with the power."""
    _wanted(power, alpha)
    if n < 1:
        raise InputError("n must be at least 1", got=n, remedy="Give the number of observations.")
    noncentrality = _smallest(lambda at: _chi_square_power(at, df, alpha), power)
    return ChiSquarePower(math.sqrt(noncentrality / n), n, df, alpha, power)


def two_shares_power(
    share: float, share_reference: float, n: int, *, alpha: float = 0.05
) -> TwoSharesPower:
    """The power of the two-sided test of two proportions with n independent ratings per arm.

    The usual normal approximation, with the pooled variance under the null hypothesis and the
    separate ones under the alternative; chances of rejecting on the wrong side are left out. Not
    for fewer than about 5 expected ratings in a cell.

    Fleiss, J. L., Levin, B., & Paik, M. C. (2003). Statistical methods for rates and proportions,
    chapter 4.
    """
    _two_shares(share, share_reference)
    _share(alpha, "alpha")
    if n < 1:
        raise InputError("n must be at least 1", got=n, remedy="Give the ratings per arm.")
    power = _two_shares_power(share, share_reference, n, alpha)
    return TwoSharesPower(share, share_reference, n, alpha, power)


def two_shares_sample_size(
    share: float, share_reference: float, *, power: float = 0.95, alpha: float = 0.05
) -> TwoSharesPower:
    """The fewest independent ratings per arm that detect a difference of two proportions."""
    _two_shares(share, share_reference)
    _wanted(power, alpha)
    needed = _smallest(lambda n: _two_shares_power(share, share_reference, n, alpha), power)
    n = max(1, math.ceil(needed - 1e-9))
    return two_shares_power(share, share_reference, n, alpha=alpha)


def design_effect(icc: float, ratings_per_rater: float) -> float:
    """By how much ratings that come several per rater inflate a variance: 1 + (m − 1)·ICC.

    For raters with equally many ratings, each rater in one arm.

    Kish, L. (1965). Survey sampling, chapter 5.
    """
    if not -1 <= icc <= 1:
        raise InputError(
            "the ICC must be between −1 and 1", got=icc, remedy="Take it from an earlier study."
        )
    if ratings_per_rater < 1:
        raise InputError(
            "a rater must give at least one rating",
            got=ratings_per_rater,
            remedy="Give the ratings per rater.",
        )
    return max(0.0, 1 + (ratings_per_rater - 1) * icc)


def raters_for_precision(
    margin: float,
    *,
    share: float = 0.5,
    share_reference: float | None = None,
    ratings_per_rater: int = 10,
    icc: float = 0.1,
    confidence: float = 0.95,
) -> RatersNeeded:
    """The raters per arm with which the half-width of an interval is at most `margin`.

    Of one arm's proportion of good ratings; of the difference between two arms where
    `share_reference` is given. Normal interval, inflated by the design effect. A proportion of .5
    is the hardest case.
    """
    _share(margin, "the margin")
    _share(share, "the share")
    _share(confidence, "the confidence")
    variance = share * (1 - share)
    if share_reference is not None:
        _share(share_reference, "the reference's share")
        variance += share_reference * (1 - share_reference)
    z = z_margin(confidence)
    return _raters(z * z * variance / margin**2, ratings_per_rater, icc)


def raters_for_power(
    share: float,
    share_reference: float,
    *,
    power: float = 0.95,
    alpha: float = 0.05,
    ratings_per_rater: int = 10,
    icc: float = 0.1,
) -> RatersNeeded:
    """The raters per arm that detect two proportions of good ratings with the power."""
    _two_shares(share, share_reference)
    _wanted(power, alpha)
    needed = _smallest(lambda n: _two_shares_power(share, share_reference, n, alpha), power)
    return _raters(needed, ratings_per_rater, icc)


def _raters(independent: float, ratings_per_rater: int, icc: float) -> RatersNeeded:
    effect = design_effect(icc, ratings_per_rater)
    raters = max(2, math.ceil(independent * effect / ratings_per_rater - 1e-9))
    return RatersNeeded(
        raters, raters * ratings_per_rater, independent, ratings_per_rater, icc, effect
    )


def _chi_square_power(noncentrality: float, df: int, alpha: float) -> float:
    from scipy.special import chdtri, chndtr

    return 1 - float(chndtr(chdtri(df, alpha), df, noncentrality))


def _two_shares_power(share: float, other: float, n: float, alpha: float) -> float:
    from scipy.special import ndtr, ndtri

    pooled = (share + other) / 2
    under_null = math.sqrt(2 * pooled * (1 - pooled))
    under_alternative = math.sqrt(share * (1 - share) + other * (1 - other))
    reach = math.sqrt(n) * abs(share - other) + float(ndtri(alpha / 2)) * under_null
    if under_alternative == 0:
        return 1.0 if reach > 0 else 0.0
    return float(ndtr(reach / under_alternative))


def _smallest(power_at: Callable[[float], float], power: float) -> float:
    """Where a growing power reaches the one wanted."""
    from scipy.optimize import brentq

    high = 1.0
    while power_at(high) < power:
        high *= 2
        if high > _MAX_VALUE:
            raise InputError(
                "no size of study reaches this power",
                got=power,
                remedy="Plan for a larger effect, or a lower power.",
            )
    smallest: float = brentq(lambda at: power_at(at) - power, 0.0, high, xtol=1e-10)
    return smallest


def _positive(value: float, what: str) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise InputError(f"{what} must be above 0", got=value, remedy="Give a positive number.")


def _share(value: float, what: str) -> None:
    if not 0 < value < 1:
        raise InputError(
            f"{what} must be between 0 and 1",
            got=value,
            remedy="Give it as a proportion, such as .05.",
        )


def _wanted(power: float, alpha: float) -> None:
    _share(alpha, "alpha")
    _share(power, "the power")
    if power <= alpha:
        raise InputError(
            f"the power must be above alpha ({alpha:g})",
            got=power,
            remedy="Without any effect, a test already rejects that often.",
        )


def _two_shares(share: float, other: float) -> None:
    for value in (share, other):
        if not 0 <= value <= 1:
            raise InputError(
                "a proportion must be between 0 and 1", got=value, remedy="Give .65 for 65%."
            )
    if share == other:
        raise InputError(
            "the two proportions are the same, so there is nothing to detect",
            got=share,
            remedy="Give the two proportions that the study should distinguish.",
        )
