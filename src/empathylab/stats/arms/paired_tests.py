"""Tests for ratings that belong together: the same situation, or the same rater, in every arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from empathylab.errors import InputError
from empathylab.stats.arms.ranks import RankTest
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.t_tests import z_margin

_FEW_DISCORDANT = 25


@dataclass(frozen=True, slots=True)
class McNemar:
    """Whether two paired shares differ, from the pairs in which only one side is good."""

    chi2: float
    """With continuity correction."""
    p: float
    method: Literal["McNemar", "exact binomial", "none"]
    """Exact where fewer than 25 pairs differ."""
    p_chi2: float
    difference: Estimate
    """The first share minus the second."""
    odds_ratio: Estimate
    """Pairs with only the first good over pairs with only the second good."""
    only_first: int
    only_second: int
    n: int


@dataclass(frozen=True, slots=True)
class SignedRanks:
    """Wilcoxon's signed-rank test of pairs."""

    v: float
    """The rank sum of the pairs in which the first is higher."""
    z: float
    p: float
    n: int
    """Pairs that differ."""
    ties: int
    """Pairs that do not, which the test leaves out."""


def mcnemar(
    both: int, only_first: int, only_second: int, neither: int, *, confidence: float = 0.95
) -> McNemar:
    """McNemar's test, exact where few pairs differ, with the paired difference and odds ratio.

    The interval of the difference is Agresti and Min's adjusted one (half a pair added to each
    cell); that of the odds ratio comes from the exact binomial interval. NaN without pairs; p is 1
    where no pair differs.

    McNemar, Q. (1947). Psychometrika 12, 153–157; Agresti, A., & Min, Y. (2005). Statistics in
    Medicine 24, 729–740.
    """
    from scipy.special import bdtr, chdtrc

    n, differing = both + only_first + only_second + neither, only_first + only_second
    if n == 0:
        nan = math.nan
        return McNemar(nan, nan, "none", nan, NO_ESTIMATE, NO_ESTIMATE, 0, 0, 0)
    gap = abs(only_first - only_second)
    chi2 = (gap - min(1, gap)) ** 2 / differing if differing else 0.0
    p_chi2 = float(chdtrc(1, chi2))
    exact = min(1.0, 2 * float(bdtr(min(only_first, only_second), differing, 0.5)))
    centre = (only_first - only_second) / (n + 2)
    spread = math.sqrt((differing + 1) - (only_first - only_second) ** 2 / (n + 2)) / (n + 2)
    margin = z_margin(confidence) * spread
    few = differing < _FEW_DISCORDANT
    return McNemar(
        chi2,
        exact if few else p_chi2,
        "exact binomial" if few else "McNemar",
        p_chi2,
        Estimate(
            (only_first - only_second) / n, max(-1.0, centre - margin), min(1.0, centre + margin)
        ),
        _paired_odds(only_first, only_second, confidence),
        only_first,
        only_second,
        n,
    )


def stuart_maxwell(table: ArrayLike) -> RankTest:
    """Whether two paired ratings use the categories equally often (marginal homogeneity).

    Rows are the first side's category, columns the second's. Categories that neither side uses
    differently from the other may make the test singular; it then has fewer degrees of freedom.
    NaN where no pair differs.

    Stuart, A. (1955). Biometrika 42, 412–416; Maxwell, A. E. (1970). British Journal of
    Psychiatry 116, 651–655.
    """
    from scipy.special import chdtrc

    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError(
            "the table must be square, with the same categories on both sides",
            got="×".join(map(str, counts.shape)),
            remedy="Count every category on both sides.",
        )
    used = (counts.sum(axis=0) + counts.sum(axis=1)) > 0
    counts = counts[used][:, used]
    n = int(counts.sum())
    distance = (counts.sum(axis=1) - counts.sum(axis=0))[:-1]
    covariance = -(counts + counts.T)
    np.fill_diagonal(covariance, counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts))
    covariance = covariance[:-1, :-1]
    df = int(np.linalg.matrix_rank(covariance)) if covariance.size else 0
    if df == 0:
        return RankTest(math.nan, 0, math.nan, n)
    statistic = float(distance @ np.linalg.pinv(covariance, hermitian=True) @ distance)
    return RankTest(statistic, df, float(chdtrc(df, statistic)), n)


def cochran_q(good: ArrayLike) -> RankTest:
    """Cochran's Q: whether several paired shares differ. Rows are pairs' units, columns arms.

    NaN with fewer than two columns, or where no row differs within itself.

    Cochran, W. G. (1950). Biometrika 37, 256–266.
    """
    from scipy.special import chdtrc

    values = np.asarray(good, dtype=np.float64)
    n, k = values.shape
    columns, rows, total = values.sum(axis=0), values.sum(axis=1), values.sum()
    below = k * total - float((rows**2).sum())
    if k < 2 or below == 0:
        return RankTest(math.nan, max(0, k - 1), math.nan, n)
    q = (k - 1) * (k * float((columns**2).sum()) - total**2) / below
    return RankTest(float(q), k - 1, float(chdtrc(k - 1, q)), n)


def friedman(ratings: ArrayLike) -> RankTest:
    """Friedman's test, corrected for ties: whether several arms are rated the same within units.

    Rows are units, columns arms. NaN with fewer than two columns or where every row is constant.

    Friedman, M. (1937). Journal of the American Statistical Association 32, 675–701.
    """
    from scipy.special import chdtrc

    values = np.asarray(ratings, dtype=np.float64)
    n, k = values.shape
    if n == 0 or k < 2:
        return RankTest(math.nan, max(0, k - 1), math.nan, n)
    below = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks = below + (equal + 1) / 2
    # Each value of a tie of t adds t² − 1; over the tie that is t³ − t.
    ties = float((equal.astype(float) ** 2 - 1).sum())
    spread = n * k * (k + 1) - ties / (k - 1)
    if spread <= 0:
        return RankTest(math.nan, k - 1, math.nan, n)
    q = 12 * float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()) / spread
    return RankTest(q, k - 1, float(chdtrc(k - 1, q)), n)


def signed_ranks(first: ArrayLike, second: ArrayLike) -> SignedRanks:
    """Wilcoxon's signed-rank test, from the normal approximation corrected for ties.

    Pairs without a difference are left out, as Wilcoxon did, and counted. NaN where none is left.

    Wilcoxon, F. (1945). Biometrics Bulletin 1, 80–83.
    """
    from scipy.special import ndtr

    gaps = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    differing = gaps[gaps != 0]
    n, ties = len(differing), int((gaps == 0).sum())
    if n == 0:
        return SignedRanks(0.0, math.nan, math.nan, 0, ties)
    # Differences of decimals that should tie must not part by rounding.
    _, places, sizes = np.unique(
        np.round(np.abs(differing), 10), return_inverse=True, return_counts=True
    )
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[places]
    v = float(ranks[differing > 0].sum())
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48)
    distance = v - n * (n + 1) / 4
    z = (distance - math.copysign(min(0.5, abs(distance)), distance)) / spread
    return SignedRanks(v, z, min(1.0, 2 * float(ndtr(-abs(z)))), n, ties)


def _paired_odds(only_first: int, only_second: int, confidence: float) -> Estimate:
    from scipy.special import betaincinv

    if only_first + only_second == 0:
        return NO_ESTIMATE
    tail = (1 - confidence) / 2
    low = float(betaincinv(only_first, only_second + 1, tail)) if only_first else 0.0
    high = float(betaincinv(only_first + 1, only_second, 1 - tail)) if only_second else 1.0
    return Estimate(
        *(_odds(share) for share in (only_first / (only_first + only_second), low, high))
    )


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf
