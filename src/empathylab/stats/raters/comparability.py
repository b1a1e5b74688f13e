"""Whether the raters of the arms are comparable, so that a difference is due to the replies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns
from empathylab.stats.arms.contingency import ContingencyTest, independence_test
from empathylab.stats.arms.ranks import RankTest, kruskal_wallis
from empathylab.stats.arrays import Array
from empathylab.stats.corrections import benjamini_hochberg, holm
from empathylab.stats.equivalence import equivalence_test
from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.standardised import hedges_g
from empathylab.stats.t_tests import satterthwaite_df, t_test

POOLED = "others"
"""The level into which rare ones are pooled."""
_MAX_BINS = 40


@dataclass(frozen=True, slots=True)
class ArmValues:
    """A number that raters of one arm have, such as their age."""

    arm: str
    n: int
    missing: int
    mean: float
    sd: float
    median: float
    quartiles: tuple[float, float]
    histogram: tuple[int, ...]
    """Counts in the bins of the comparison."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests: is the difference smaller than a bound, either way?"""

    bound: float
    """In standard deviations."""
    margin: float
    """The same in the variable's own unit."""
    p: float
    interval: tuple[float, float]
    """Of the difference, at 1 − 2α; equivalent where it lies within ± margin."""
    equivalent: bool
    """p is below α."""


@dataclass(frozen=True, slots=True)
class RaterDifference:
    """The raters of one arm against the reference's."""

    arm: str
    reference: str
    difference: Estimate
    standardised: Estimate
    """Hedges' g."""
    t: float
    df: float
    p: float
    """Welch's t test."""
    equivalence: Equivalence


@dataclass(frozen=True, slots=True)
class WelchTest:
    """Welch's analysis of variance."""

    f: float
    df: int
    df_denominator: float
    p: float


@dataclass(frozen=True, slots=True)
class NumericComparison:
    """One number compared across arms."""

    variable: str
    arms: tuple[ArmValues, ...]
    bins: tuple[float, ...]
    """Edges of the histograms, the same in every arm."""
    welch: WelchTest
    kruskal: RankTest
    differences: tuple[RaterDifference, ...]
    p: float
    """Welch's."""
    p_holm: float = math.nan
    p_bh: float = math.nan


@dataclass(frozen=True, slots=True)
class CategoricalComparison:
    """One property compared across arms."""

    variable: str
    arms: tuple[str, ...]
    levels: tuple[str, ...]
    """Most frequent first, the pooled ones last."""
    counts: tuple[tuple[int, ...], ...]
    """Arms × levels."""
    pooled: tuple[str, ...]
    """Levels that are too rare to stand alone."""
    missing: int
    test: ContingencyTest
    p: float
    p_holm: float = math.nan
    p_bh: float = math.nan


@dataclass(frozen=True, slots=True)
class RaterComparison:
    """All comparisons of the arms' raters; p is corrected over all of them."""

    reference: str
    arms: tuple[str, ...]
    raters: tuple[int, ...]
    numeric: tuple[NumericComparison, ...]
    categorical: tuple[CategoricalComparison, ...]
    alpha: float


def compare_raters(
    raters: pl.DataFrame,
    *,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    rater: str = "rater",
    arm: str = "arm",
    reference: str = "human",
    bound: float = 0.3,
    rare: int = 5,
    alpha: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
) -> RaterComparison:
    """Tests and equivalence tests of what is known about the raters, one row per rater.

    Numbers (age, TEQ total, minutes) by Welch's analysis of variance and Kruskal–Wallis, and each
    arm against the reference by Welch's t, Hedges' g and two one-sided tests within ± `bound`
    standard deviations. Properties (country, sex) by chi-square, simulated where expected counts
    are small; levels with fewer than `rare` raters in all arms together are pooled into "others".

    No difference found does not mean equivalent: that is what the equivalence tests are for. Their
    bound is a judgement and must be stated; 0.3 is between Cohen's small and medium. Missing values
    are left out variable by variable and counted.

    Welch, B. L. (1951). Biometrika 38, 330–336; Schuirmann, D. J. (1987). Journal of
    Pharmacokinetics and Biopharmaceutics 15, 657–680; Lakens, D. (2017). Social Psychological and
    Personality Science 8, 355–362.
    """
    arms = _arms(raters, [*numeric, *categorical], rater, arm, reference)
    numbers = [
        compare_numbers(
            [_values(raters, item, name, arm) for item in arms],
            arms,
            variable=name,
            bound=bound,
            alpha=alpha,
            confidence=confidence,
        )
        for name in numeric
    ]
    properties = [
        _categorical(raters, name, arm, arms, rare, confidence, seed) for name in categorical
    ]
    p = [*(number.p for number in numbers), *(item.p for item in properties)]
    corrected = list(zip(map(float, holm(p)), map(float, benjamini_hochberg(p)), strict=True))
    return RaterComparison(
        reference,
        arms,
        tuple(raters.filter(pl.col(arm) == item).height for item in arms),
        tuple(
            dataclasses.replace(number, p_holm=by_holm, p_bh=by_bh)
            for number, (by_holm, by_bh) in zip(numbers, corrected[: len(numbers)], strict=True)
        ),
        tuple(
            dataclasses.replace(item, p_holm=by_holm, p_bh=by_bh)
            for item, (by_holm, by_bh) in zip(properties, corrected[len(numbers) :], strict=True)
        ),
        alpha,
    )


def compare_numbers(
    groups: Sequence[Array],
    arms: Sequence[str],
    *,
    variable: str = "value",
    bound: float = 0.3,
    alpha: float = 0.05,
    confidence: float = 0.95,
) -> NumericComparison:
    """One number across arms, the first of which is the reference; NaN stands for missing."""
    if not bound > 0:
        raise InputError(
            "the equivalence bound must be above 0", got=bound, remedy="Give it in SDs, such as .3."
        )
    known = [np.asarray(group)[np.isfinite(group)] for group in groups]
    bins = _bins(np.concatenate(known))
    welch = welch_anova(known)
    return NumericComparison(
        variable,
        tuple(
            _summary(name, group, len(whole), bins)
            for name, group, whole in zip(arms, known, groups, strict=True)
        ),
        tuple(bins.tolist()),
        welch,
        kruskal_wallis(known),
        tuple(
            _difference(name, group, arms[0], known[0], bound, alpha, confidence)
            for name, group in zip(arms[1:], known[1:], strict=True)
        ),
        welch.p,
    )


def welch_anova(groups: Sequence[Array]) -> WelchTest:
    """Welch's test of equal means without equal variances.

    NaN where fewer than two groups have two values, or one of them does not vary.
    """
    from scipy.special import fdtrc

    used = [group for group in groups if len(group) > 1]
    k = len(used)
    variances = np.array([group.var(ddof=1) for group in used])
    if k < 2 or (variances <= 0).any():
        return WelchTest(math.nan, max(0, k - 1), math.nan, math.nan)
    sizes = np.array([len(group) for group in used], dtype=float)
    means = np.array([group.mean() for group in used])
    weights = sizes / variances
    share = weights / weights.sum()
    spread = float((weights * (means - share @ means) ** 2).sum()) / (k - 1)
    doubt = float(((1 - share) ** 2 / (sizes - 1)).sum())
    f = spread / (1 + 2 * (k - 2) / (k**2 - 1) * doubt)
    df_denominator = (k**2 - 1) / (3 * doubt)
    return WelchTest(f, k - 1, df_denominator, float(fdtrc(k - 1, df_denominator, f)))


def _arms(
    raters: pl.DataFrame, variables: Sequence[str], rater: str, arm: str, reference: str
) -> tuple[str, ...]:
    require_columns(raters, rater, arm, *variables)
    repeated = raters.filter(pl.struct(rater, arm).is_duplicated())
    if repeated.height:
        raise InputError(
            "a rater must have one row",
            got=repeated[rater][0],
            remedy="Give the raters, not their ratings.",
        )
    arms = [str(drop_null) for drop_null in raters[arm].drop_nulls().unique(maintain_order=True)]
    if reference not in arms:
        raise UnknownName("arm", reference, arms, remedy="Choose the reference arm.")
    if len(arms) < 2:
        raise InputError(
            "there is one arm only", got=arms[0], remedy="Compare the raters of two arms or more."
        )
    arms.remove(reference)
    return (reference, *arms)


def _values(raters: pl.DataFrame, one: str, variable: str, arm: str) -> Array:
    column = raters.filter(pl.col(arm) == one)[variable]
    # Platforms write words where someone withdrew an answer.
    numbers: Array = column.cast(pl.Float64, strict=False).fill_null(math.nan).to_numpy()
    return numbers


def _summary(name: str, group: Array, rows: int, bins: Array) -> ArmValues:
    n = len(group)
    low, middle, high = np.quantile(group, [0.25, 0.5, 0.75]) if n else [math.nan] * 3
    return ArmValues(
        name,
        n,
        rows - n,
        float(group.mean()) if n else math.nan,
        float(group.std(ddof=1)) if n > 1 else math.nan,
        float(middle),
        (float(low), float(high)),
        tuple(np.histogram(group, bins)[0].tolist()) if len(bins) else (),
    )


def _bins(values: Array) -> Array:
    if len(values) == 0:
        return np.empty(0)
    edges: Array = np.histogram_bin_edges(values, "auto")
    if len(edges) - 1 > _MAX_BINS:
        edges = np.histogram_bin_edges(values, _MAX_BINS)
    return edges


def _difference(
    name: str,
    group: Array,
    reference: str,
    other: Array,
    bound: float,
    alpha: float,
    confidence: float,
) -> RaterDifference:
    parts = [item.var(ddof=1) / len(item) if len(item) > 1 else math.nan for item in (group, other)]
    se = math.sqrt(sum(parts))
    if not se > 0:
        nothing = Equivalence(bound, math.nan, math.nan, (math.nan, math.nan), False)
        nan = math.nan
        return RaterDifference(name, reference, NO_ESTIMATE, NO_ESTIMATE, nan, nan, nan, nothing)
    gap = float(group.mean() - other.mean())
    df = satterthwaite_df(zip(parts, (len(group) - 1, len(other) - 1), strict=True))
    test = t_test(gap, se, df, confidence)
    limit = bound * math.sqrt((group.var(ddof=1) + other.var(ddof=1)) / 2)
    within = equivalence_test(gap, se, float(limit), df=df, alpha=alpha)
    g = hedges_g(*_moments(group), *_moments(other), confidence=confidence)
    return RaterDifference(
        name,
        reference,
        Estimate(gap, test.low, test.high),
        Estimate(float(g.estimate), float(g.low), float(g.high)),
        test.t,
        float(df),
        test.p,
        Equivalence(bound, limit, within.p, (within.low, within.high), within.equivalent),
    )


def _moments(group: Array) -> tuple[float, float, int]:
    return float(group.mean()), float(group.std(ddof=1)), len(group)


def _categorical(
    raters: pl.DataFrame,
    variable: str,
    arm: str,
    arms: tuple[str, ...],
    rare: int,
    confidence: float,
    seed: int,
) -> CategoricalComparison:
    values = raters.select(pl.col(arm), level=pl.col(variable).cast(pl.String))
    known = values.filter(pl.col("level").is_not_null() & (pl.col("level") != ""))
    totals = known["level"].value_counts(name="n").sort(["n", "level"], descending=[True, False])
    pooled = totals.filter(pl.col("n") < rare)["level"].to_list()
    if len(pooled) == 1:
        pooled = []  # nothing to pool it with
    levels = [level for level in totals["level"].to_list() if level not in pooled]
    counts = [
        [
            known.filter((pl.col(arm) == item) & (pl.col("level") == level)).height
            for level in levels
        ]
        for item in arms
    ]
    if pooled:
        levels.append(POOLED)
        for one, row in zip(arms, counts, strict=True):
            row.append(known.filter((pl.col(arm) == one) & pl.col("level").is_in(pooled)).height)
    table = counts if levels else [[0] for _ in arms]
    test = independence_test(table, confidence=confidence, seed=seed)
    return CategoricalComparison(
        variable,
        arms,
        tuple(levels),
        tuple(tuple(row) for row in counts),
        tuple(pooled),
        values.height - known.height,
        test,
        test.p,
    )
