"""Whether one arm is rated higher than another, by rank: nothing is cut at a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from empathylab.stats.arrays import Array
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.t_tests import satterthwaite_df, t_margin


@dataclass(frozen=True, slots=True)
class RankComparison:
    """Two groups of ratings compared by rank."""

    superiority: Estimate
    """How often a rating of the arm beats one of the reference; a tie counts one half."""
    u: float
    """The Mann–Whitney statistic of the arm."""
    z: float
    p: float
    """Mann–Whitney, corrected for ties and continuity."""
    n: int
    n_reference: int


@dataclass(frozen=True, slots=True)
class RankTest:
    """Several groups compared by rank."""

    statistic: float
    df: int
    p: float
    n: int


def rank_comparison(
    ratings: ArrayLike, reference: ArrayLike, *, confidence: float = 0.95
) -> RankComparison:
    """The Mann–Whitney (Wilcoxon rank sum) test and the probability of superiority.

    p comes from the normal approximation with corrections for ties and continuity, as ratings on
    a few points always tie. The interval of the probability of superiority allows unequal spread
    (Brunner & Munzel) and is cut at 0 and 1. Not for paired or clustered ratings.

    NaN where a side is empty or nothing varies; no interval with fewer than two ratings a side.

    Mann, H. B., & Whitney, D. R. (1947). Annals of Mathematical Statistics 18, 50–60; Brunner,
    E., & Munzel, U. (2000). Biometrical Journal 42, 17–25.
    """
    from scipy.special import ndtr

    values, (a, b) = _counts([ratings, reference])
    n, m = int(a.sum()), int(b.sum())
    if n == 0 or m == 0:
        return RankComparison(NO_ESTIMATE, math.nan, math.nan, math.nan, n, m)
    above = _placements(b)  # of each value among the reference's ratings
    u = float(a @ above)
    ties = a + b
    total = n + m
    spread = n * m / 12 * (total + 1 - float((ties**3 - ties).sum()) / (total * (total - 1)))
    z = p = math.nan
    if len(values) > 1:
        distance = u - n * m / 2
        z = (distance - math.copysign(min(0.5, abs(distance)), distance)) / math.sqrt(spread)
        p = min(1.0, 2 * float(ndtr(-abs(z))))
    return RankComparison(_superiority(a, b, confidence), u, z, p, n, m)


def kruskal_wallis(groups: Sequence[ArrayLike]) -> RankTest:
    """The Kruskal–Wallis test of several independent groups, corrected for ties.

    Empty groups are left out. NaN with fewer than two groups, or where nothing varies.

    Kruskal, W. H., & Wallis, W. A. (1952). Journal of the American Statistical Association 47,
    583–621.
    """
    from scipy.special import chdtrc

    values, counts = _counts([group for group in groups if np.size(group)])
    if len(counts) < 2 or len(values) < 2:
        return RankTest(math.nan, max(0, len(counts) - 1), math.nan, int(counts.sum()))
    ties = counts.sum(axis=0)
    n = float(ties.sum())
    ranks = _placements(ties) + 0.5
    sums, sizes = counts @ ranks, counts.sum(axis=1)
    h = 12 / (n * (n + 1)) * float((sums**2 / sizes).sum()) - 3 * (n + 1)
    h /= 1 - float((ties**3 - ties).sum()) / (n**3 - n)
    df = len(counts) - 1
    return RankTest(h, df, float(chdtrc(df, h)), int(n))


def _counts(groups: Sequence[ArrayLike]) -> tuple[Array, Array]:
    """The different values, ascending, and how often each group has each."""
    arrays = [np.asarray(group, dtype=np.float64).reshape(-1) for group in groups]
    everything = np.concatenate(arrays) if arrays else np.empty(0)
    values, places = np.unique(everything, return_inverse=True)
    counts = np.zeros((len(arrays), len(values)))
    of_group = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    np.add.at(counts, (of_group, places), 1)
    return values, counts


def _placements(counts: Array) -> Array:
    """How many of the counted lie below each value, ties as halves."""
    placements: Array = np.cumsum(counts) - counts / 2
    return placements


def _superiority(a: Array, b: Array, confidence: float) -> Estimate:
    n, m = a.sum(), b.sum()
    of_a, of_b = _placements(b) / m, _placements(a) / n
    estimate = float(a @ of_a / n)
    if min(n, m) < 2:
        return Estimate(estimate)
    parts = [
        float(counts @ (placed - counts @ placed / size) ** 2 / (size - 1) / size)
        for counts, placed, size in ((a, of_a, n), (b, of_b, m))
    ]
    variance = sum(parts)
    if variance <= 0:
        return Estimate(estimate)
    df = satterthwaite_df(zip(parts, (n - 1, m - 1), strict=True))
    margin = t_margin(df, confidence) * math.sqrt(variance)
    return Estimate(estimate, max(0.0, estimate - margin), min(1.0, estimate + margin))
