"""Tests of a difference between arms when ratings by the same rater are correlated.

A rater who is generous once is generous again, so ten ratings by one rater say less than ten
ratings by ten. The plain chi-square does not know this, and rejects too often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from empathylab.errors import InputError
from empathylab.stats.arms.contingency import expected_counts
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.differences import clustered_mean_difference
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.notes import Note, note


@dataclass(frozen=True, slots=True)
class RaoScott:
    """A chi-square test of a table whose observations come in clusters."""

    f: float
    df: float
    df_denominator: float
    p: float
    design_effect: float
    """By how much the plain chi-square is too large, on average over its degrees of freedom."""
    chi2: float
    """Pearson's statistic, uncorrected."""
    clusters: int
    n: int
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class ClusteredDifference:
    """A difference of two shares, with raters as the independent units."""

    difference: Estimate
    se: float
    t: float
    df: float
    """Satterthwaite's degrees of freedom."""
    p: float
    icc: float
    """The correlation of the arm's ratings by one rater: 0 none, 1 always the same."""
    icc_reference: float
    design_effect: float
    """The variance of the difference over what independent ratings would have."""
    raters: int
    n: int
    note: Note | None = None


def one_way_icc(values: ArrayLike, clusters: ArrayLike) -> float:
    """ICC(1) of values in clusters of any size, from the analysis of variance.

    Estimates the correlation of two values of one cluster. May be negative. NaN with fewer than
    two clusters, no cluster with two values, or where nothing varies.

    Donner, A. (1986). International Statistical Review 54, 67–82.
    """
    y = np.asarray(values, dtype=np.float64)
    codes, sizes = _codes(clusters)
    n, k = len(y), len(sizes)
    if k < 2 or n <= k or np.ptp(y) == 0:
        return math.nan
    means = np.bincount(codes, weights=y) / sizes
    between = float((sizes * (means - y.mean()) ** 2).sum()) / (k - 1)
    within = float(((y - means[codes]) ** 2).sum()) / (n - k)
    typical = (n - float((sizes**2).sum()) / n) / (k - 1)
    return (between - within) / (between + (typical - 1) * within)


def rao_scott(rows: ArrayLike, columns: ArrayLike, clusters: ArrayLike) -> RaoScott:
    """The second-order corrected chi-square test of Rao and Scott, as an F test.

    One entry per observation: its row, its column and its cluster (the rater). Observations of
    different clusters are independent, those of one may not be; clusters may lie in one row
    (between subjects) or in several (within). Needs a few dozen clusters to be trusted.

    NaN, with a note, where there are fewer than two rows, columns or clusters.

    Rao, J. N. K., & Scott, A. J. (1984). Annals of Statistics 12, 46–60; Thomas, D. R., & Rao,
    J. N. K. (1987). Journal of the American Statistical Association 82, 630–636.
    """
    row, row_sizes = _codes(rows)
    column, column_sizes = _codes(columns)
    cluster, cluster_sizes = _codes(clusters)
    n, groups = len(row), len(cluster_sizes)
    shape = (len(row_sizes), len(column_sizes))
    if min(*shape, groups) < 2:
        codes = ("fewer_than_two_rows", "fewer_than_two_columns", "fewer_than_two_raters")
        short = codes[int(np.argmin([*shape, groups]))]
        nan = math.nan
        return RaoScott(nan, nan, nan, nan, nan, nan, groups, n, note(short))
    cell = row * shape[1] + column
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    expected = expected_counts(counts.reshape(shape)).reshape(-1)
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    covariance = _cell_covariance(cell, cluster, counts, n)
    delta = _generalised_effects(counts / n, covariance, shape, n)
    if delta is None:
        nan = math.nan
        return RaoScott(nan, nan, nan, nan, nan, chi2, groups, n, note("empty_cells"))
    trace, squared = float(np.trace(delta)), float(np.trace(delta @ delta))
    df = (shape[0] - 1) * (shape[1] - 1)
    if trace <= 0:
        nan = math.nan
        return RaoScott(nan, nan, nan, nan, nan, chi2, groups, n, note("constant_between_raters"))
    from scipy.special import fdtrc

    f, df_numerator = chi2 / trace, trace**2 / squared
    df_denominator = df_numerator * (groups - 1)
    p = float(fdtrc(df_numerator, df_denominator, f))
    return RaoScott(f, df_numerator, df_denominator, p, trace / df, chi2, groups, n)


def clustered_difference(
    good: ArrayLike,
    in_arm: ArrayLike,
    raters: ArrayLike,
    *,
    situations: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ClusteredDifference:
    """The arm's proportion of good ratings minus the reference's, with a cluster-robust t test.

    One entry per rating: whether it is good, whether it is the arm's (else the reference's), and
    who gave it. A rater may lie in one arm or in both. The covariance is CR2 with Satterthwaite's
    degrees of freedom, which holds its level with few raters and with unequal arms. With
    `situations` (what was replied to) ratings of replies to one situation count as correlated,
    too, also across arms: clustering is two-way.

    Without a test, with a note, where a side is empty, has a single rater or situation, or
    nothing varies.

    Bell, R. M., & McCaffrey, D. F. (2002). Survey Methodology 28, 169–181; Pustejovsky, J. E., &
    Tipton, E. (2018). Journal of Business & Economic Statistics 36, 672–683.
    """
    y, arm = np.asarray(good, dtype=np.float64), np.asarray(in_arm, dtype=np.bool_)
    cluster, sizes = _codes(raters)
    if len(y) != len(arm) or len(y) != len(cluster):
        raise InputError("the columns differ in length", remedy="Give one entry per rating.")
    groups, n = len(sizes), len(y)
    iccs = [one_way_icc(y[side], cluster[side]) for side in (arm, ~arm)]
    members = [len(np.unique(cluster[side])) for side in (arm, ~arm)]
    if min(members) < 2:
        code = "arm_without_rating" if min(members) == 0 else "arm_with_one_rater"
        return _untested(NO_ESTIMATE, iccs, groups, n, note(code))
    difference = Estimate(float(y[arm].mean() - y[~arm].mean()))
    ways = [cluster]
    if situations is not None:
        situation, _ = _codes(situations)
        if min(len(np.unique(situation[side])) for side in (arm, ~arm)) < 2:
            return _untested(difference, iccs, groups, n, note("arm_with_one_situation"))
        ways.append(situation)
    test = clustered_mean_difference(y, arm, ways, confidence=confidence)
    variance = test.se**2
    if variance <= 1e-15 or math.isnan(test.df):
        return _untested(difference, iccs, groups, n, note("constant_between_raters"))
    shares = [float(y[side].mean()) for side in (arm, ~arm)]
    counts = [int(arm.sum()), int((~arm).sum())]
    plain = sum(share * (1 - share) / count for share, count in zip(shares, counts, strict=True))
    return ClusteredDifference(
        Estimate(test.estimate, test.low, test.high),
        test.se,
        test.t,
        test.df,
        test.p,
        iccs[0],
        iccs[1],
        variance / plain if plain > 0 else math.nan,
        groups,
        n,
    )


def _untested(
    difference: Estimate, iccs: list[float], groups: int, n: int, problem: Note
) -> ClusteredDifference:
    nan = math.nan
    return ClusteredDifference(
        difference, nan, nan, 0, nan, iccs[0], iccs[1], nan, groups, n, problem
    )


def _codes(values: ArrayLike) -> tuple[Codes, Codes]:
    """Each value as a number from 0, by when it first occurs, and how often each number occurs.

    Numbered by the values themselves, the last digits of a result would differ from lab to lab
    with the ids that replies have there.
    """
    _, first, codes, sizes = np.unique(
        np.asarray(values), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    return np.argsort(order)[codes.reshape(-1)], sizes[order]


def _cell_covariance(cell: Codes, cluster: Codes, counts: Codes, n: int) -> Array:
    """The covariance of the cells' shares, from how they differ between clusters."""
    groups = int(cluster.max()) + 1
    sums = np.zeros((groups, len(counts)))
    np.add.at(sums, (cluster, cell), 1)
    scores = (sums - sums.sum(axis=1, keepdims=True) * (counts / n)) / n
    covariance: Array = groups / (groups - 1) * scores.T @ scores
    return covariance


def _generalised_effects(
    shares: Array, covariance: Array, shape: tuple[int, int], n: int
) -> Array | None:
    """The matrix whose eigenvalues are the design effects of the interaction's contrasts.

    None where so many cells are empty that the contrasts cannot be estimated.
    """
    rows, columns = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    by_row = (rows[:, None] == np.arange(1, shape[0])).astype(float)
    by_column = (columns[:, None] == np.arange(1, shape[1])).astype(float)
    main = np.column_stack([np.ones(len(rows)), by_row, by_column])
    both = (by_row[:, :, None] * by_column[:, None, :]).reshape(len(rows), -1)
    contrasts = both - main @ np.linalg.lstsq(main, both, rcond=None)[0]
    inverse = np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)
    weighted = contrasts * inverse[:, None]
    independent = contrasts.T @ weighted / n
    if np.linalg.matrix_rank(independent) < len(independent):
        return None
    effects: Array = np.linalg.solve(independent, weighted.T @ covariance @ weighted)
    return effects
