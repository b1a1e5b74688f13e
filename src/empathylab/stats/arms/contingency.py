"""Tests of independence in a table of counts, with the size of the association."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from empathylab.errors import InputError
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.notes import Note, note

Counts = NDArray[np.int64]
Method = Literal["chi-square", "Fisher exact", "chi-square, simulated", "none"]

SMALL_EXPECTED = 5.0
"""Below this expected count the chi-square distribution is not trusted (Cochran 1954)."""
_SIMULATIONS = 10_000


@dataclass(frozen=True, slots=True)
class ContingencyTest:
    """Whether rows and columns of a table are independent."""

    chi2: float
    """Pearson's statistic, continuity-corrected where `correction` says so."""
    df: int
    p: float
    """By the `method` named."""
    method: Method
    """Fisher's test or a simulation where an expected count is below 5."""
    correction: Literal["yates", "none"]
    p_chi2: float
    """From the chi-square distribution, for every method."""
    n: int
    smallest_expected: float
    cramers_v: Estimate
    cohens_w: Estimate
    note: Note | None = None
    """Why there is no test, or what was left out of it."""


def independence_test(
    table: ArrayLike,
    *,
    yates: bool = True,
    confidence: float = 0.95,
    simulations: int = _SIMULATIONS,
    seed: int = 0,
) -> ContingencyTest:
    """Pearson's chi-square test of a table, exact or simulated where expected counts are small.

    A 2×2 table gets Yates' continuity correction unless `yates` is False, and Fisher's exact test
    where an expected count is below 5; a larger table then gets a simulated p: the proportion of
    `simulations` tables with the same margins whose statistic is no smaller. Cramér's V and
    Cohen's w come from the uncorrected statistic; their intervals turn round the noncentral
    chi-square distribution, and are widened to hold the estimate where they would not. Every count
    must be of an independent observation: ratings by the same rater are not, and make p too small
    (see `clustered`).

    Rows and columns without a single count are left out and noted. NaN where fewer than two rows
    or columns remain.

    Pearson, K. (1900). Philosophical Magazine 50, 157–175; Yates, F. (1934). Supplement to the
    Journal of the Royal Statistical Society 1, 217–235; Smithson, M. (2003). Confidence
    intervals. Sage.
    """
    counts, left_out = _reduced(_checked(table))
    n = int(counts.sum())
    if min(counts.shape) < 2:
        code = "one_row" if counts.shape[0] < 2 <= counts.shape[1] else "one_column"
        problem = note("no_counts" if n == 0 else code)
        return ContingencyTest(
            math.nan,
            0,
            math.nan,
            "none",
            "none",
            math.nan,
            n,
            math.nan,
            NO_ESTIMATE,
            NO_ESTIMATE,
            problem,
        )
    from scipy.special import chdtrc

    expected = expected_counts(counts)
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    square = counts.shape == (2, 2)
    plain = _statistic(counts, expected, 0.0)
    # Yates' half may not overshoot: a table that fits exactly has the statistic 0.
    half = min(0.5, float(np.abs(counts - expected).min())) if square and yates else 0.0
    chi2 = _statistic(counts, expected, half)
    p_chi2 = float(chdtrc(df, chi2))
    method: Method = "chi-square"
    p, smallest = p_chi2, float(expected.min())
    if smallest < SMALL_EXPECTED:
        if square:
            method, p = "Fisher exact", fisher_exact(counts)
        elif simulations > 0:
            method, p = "chi-square, simulated", _simulated(counts, plain, simulations, seed)
    v, w = _association(plain, df, n, min(counts.shape) - 1, confidence)
    correction: Literal["yates", "none"] = "yates" if square and yates else "none"
    return ContingencyTest(chi2, df, p, method, correction, p_chi2, n, smallest, v, w, left_out)


def fisher_exact(table: ArrayLike) -> float:
    """Fisher's exact p of a 2×2 table, two-sided: all tables no likelier than the one seen.

    Fisher, R. A. (1935). Journal of the Royal Statistical Society 98, 39–82.
    """
    from scipy.special import gammaln, logsumexp

    counts = _checked(table)
    if counts.shape != (2, 2):
        raise InputError(
            "Fisher's exact test here is for 2×2 tables",
            got="×".join(map(str, counts.shape)),
            remedy="Use independence_test, which simulates.",
        )
    row, column, n = int(counts[0].sum()), int(counts[:, 0].sum()), int(counts.sum())
    first = np.arange(max(0, row + column - n), min(row, column) + 1, dtype=float)
    cells = (first, row - first, column - first, n - row - column + first)
    logs = -sum(gammaln(cell + 1) for cell in cells)
    logs = logs - logsumexp(logs)
    seen = logs[int(counts[0, 0] - first[0])]
    # Tables of equal probability must count in spite of rounding.
    return min(1.0, float(np.exp(logsumexp(logs[logs <= seen + 1e-7]))))


def expected_counts(counts: Counts) -> NDArray[np.float64]:
    """What the margins of a table lead one to expect in each cell."""
    expected: NDArray[np.float64] = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return expected


def cross_table(
    rows: Sequence[object], columns: Sequence[object]
) -> tuple[Counts, list[str], list[str]]:
    """Counts of the pairs, with the names of rows and columns.

    Names that are all numbers ascend; others come in the order in which they first appear.
    """
    row_names, column_names = _names(rows), _names(columns)
    row_place = {name: place for place, name in enumerate(row_names)}
    column_place = {name: place for place, name in enumerate(column_names)}
    counts = np.zeros((len(row_names), len(column_names)), dtype=np.int64)
    for row, column in zip(rows, columns, strict=True):
        counts[row_place[str(row)], column_place[str(column)]] += 1
    return counts, row_names, column_names


def _names(values: Sequence[object]) -> list[str]:
    names = list(dict.fromkeys(map(str, values)))
    try:
        return sorted(names, key=float)
    except ValueError:
        return names


def _checked(table: ArrayLike) -> Counts:
    values = np.asarray(table, dtype=np.float64)
    whole = bool(np.all(np.isfinite(values)) and np.all(values == np.floor(values)))
    if values.ndim != 2 or not whole or (values < 0).any():
        raise InputError(
            "a table of counts needs rows and columns of whole numbers from 0",
            got=np.asarray(table).tolist(),
            remedy="Count the observations in each cell.",
        )
    return values.astype(np.int64)


def _reduced(counts: Counts) -> tuple[Counts, Note | None]:
    """The table without empty rows and columns, and a note about them."""
    rows, columns = counts.any(axis=1), counts.any(axis=0)
    empty = {"rows": int((~rows).sum()), "columns": int((~columns).sum())}
    left_out = note("empty_left_out", **empty) if any(empty.values()) else None
    return counts[rows][:, columns], left_out


def _statistic(counts: Counts, expected: NDArray[np.float64], half: float) -> float:
    return float((((np.abs(counts - expected) - half) ** 2) / expected).sum())


def _simulated(counts: Counts, statistic: float, simulations: int, seed: int) -> float:
    """The proportion of tables with the same margins that fit no better, the seen one included.

    Patefield, W. M. (1981). Applied Statistics 30, 91–97, draws from the same distribution.
    """
    generator = np.random.default_rng(seed)
    expected = expected_counts(counts)
    left = np.tile(counts.sum(axis=0), (simulations, 1))
    total = np.zeros(simulations)
    for row, row_sum in enumerate(counts.sum(axis=1)):
        to_place = np.full(simulations, row_sum)
        for column in range(counts.shape[1]):
            others = left[:, column + 1 :].sum(axis=1)
            drawn = generator.hypergeometric(left[:, column], others, to_place)
            left[:, column] -= drawn
            to_place = to_place - drawn
            total += (drawn - expected[row, column]) ** 2 / expected[row, column]
    # Tables that tie with the one seen must count in spite of rounding.
    as_bad = int((total >= statistic * (1 - 1e-9)).sum())
    return (as_bad + 1) / (simulations + 1)


def _association(
    chi2: float, df: int, n: int, smaller: int, confidence: float
) -> tuple[Estimate, Estimate]:
    """Cramér's V and Cohen's w with intervals.

    Cramér, H. (1946). Mathematical methods of statistics, chapter 21; Cohen, J. (1988).
    Statistical power analysis, chapter 7.
    """
    tail = (1 - confidence) / 2
    limits = (_noncentrality(chi2, df, 1 - tail), _noncentrality(chi2, df, tail))
    # A table that fits better than chance lets it has its whole interval below the estimate.
    low, high = min(limits[0], chi2), max(limits[1], chi2)
    w = [math.sqrt(value / n) for value in (chi2, low, high)]
    v = [min(1.0, value / math.sqrt(smaller)) for value in w]
    return Estimate(*v), Estimate(*w)


def _noncentrality(chi2: float, df: int, share: float) -> float:
    """The noncentrality under which this proportion of statistics lies below the one seen; or 0."""
    from scipy.optimize import brentq
    from scipy.special import chndtr

    if chndtr(chi2, df, 0.0) <= share:
        return 0.0
    high = max(chi2, 1.0)
    while chndtr(chi2, df, high) > share:
        high *= 2
    noncentrality: float = brentq(
        lambda at: float(chndtr(chi2, df, at)) - share, 0.0, high, xtol=1e-10
    )
    return noncentrality
