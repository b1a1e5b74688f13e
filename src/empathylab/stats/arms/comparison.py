"""Every arm against the reference: the published analysis, and tests that allow for clusters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from empathylab.stats.arms import effects
from empathylab.stats.arms.clustered import (
    ClusteredDifference,
    RaoScott,
    clustered_difference,
    rao_scott,
)
from empathylab.stats.arms.contingency import ContingencyTest, independence_test
from empathylab.stats.arms.counts import ArmCount, arm_counts, category_counts
from empathylab.stats.arms.frames import RatedArms, Subset, SubsetKind, rated_arms
from empathylab.stats.arms.ranks import RankComparison, RankTest, kruskal_wallis, rank_comparison
from empathylab.stats.arms.rating_scales import RatingScale
from empathylab.stats.corrections import corrected_by_family, with_corrected_p
from empathylab.stats.estimates import Estimate


@dataclass(frozen=True, slots=True)
class ArmTest:
    """One arm against the reference, on one dimension and subset."""

    dimension: str
    arm: str
    reference: str
    kind: SubsetKind
    subset: str
    n: int
    """Ratings of the arm."""
    n_reference: int
    good: int
    good_reference: int
    test: ContingencyTest
    """Good against the rest, 2×2, as published."""
    categories: ContingencyTest
    """All categories of the scale, 2×k."""
    relative_gain_percent: Estimate
    risk_difference: Estimate
    odds_ratio: Estimate
    ranks: RankComparison
    clustered: ClusteredDifference
    """The same difference with raters, not ratings, as the independent units."""
    family: str
    """The tests over which p is corrected: all arms on the subsets of one kind."""
    family_size: int = 0
    p_holm: float = math.nan
    p_bh: float = math.nan
    p_bonferroni: float = math.nan
    clustered_p_holm: float = math.nan
    """The clustered test's p, corrected over the same family."""
    clustered_p_bh: float = math.nan

    @property
    def p(self) -> float:
        """Of the 2×2 test, uncorrected for other tests."""
        return self.test.p


@dataclass(frozen=True, slots=True)
class ArmsTest:
    """All arms at once, on one dimension and subset."""

    dimension: str
    kind: SubsetKind
    subset: str
    arms: tuple[str, ...]
    categories: ContingencyTest
    """Arms × categories."""
    good: ContingencyTest
    """Arms × (good, rest)."""
    ranks: RankTest
    """Kruskal–Wallis."""
    clustered: RaoScott
    """Arms × categories with raters as the independent units."""


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """Every result about rated arms."""

    reference: str
    scales: Mapping[str, RatingScale]
    """By dimension."""
    counts: tuple[ArmCount, ...]
    tests: tuple[ArmTest, ...]
    overall: tuple[ArmsTest, ...]
    dropped: Mapping[str, int]
    """Rows with a gap, by dimension."""
    confidence: float
    clusters: str
    """Who the independent units of the clustered tests are."""


def compare_arms(
    frame: pl.DataFrame,
    scale: RatingScale | Mapping[str, RatingScale],
    *,
    reference: str = "human",
    confidence: float = 0.95,
    seed: int = 0,
    **columns: str,
) -> ArmComparison:
    """Counts, tests and effects of every arm against the reference, by dimension and subset.

    The 2×2 chi-square of good ratings with Yates' correction is the test of Welivita & Pu (2024,
    arXiv 2406.05063). It takes ratings as independent; `clustered` does not, and is the one to
    believe where raters give several ratings. p is corrected over each family: the arms × subsets
    of one kind (all, valence, emotion), within a dimension. A test that could not be made (an arm
    without ratings there, or nothing but one answer) is NaN and does not count in the family.

    Columns are named by role: rater=, situation=, arm=, rating=, and dimension=, emotion=,
    valence= where there are any. With cluster= (the column of situations or of replies) the
    clustered test takes ratings with the same value there as correlated, too. For designs in which
    raters or situations pair the arms, see `compare_paired_arms`.
    """
    dimensions = rated_arms(frame, scale, reference=reference, **columns)
    options = {"confidence": confidence, "seed": seed}
    return ArmComparison(
        reference,
        {rated.dimension: rated.scale for rated in dimensions},
        tuple(
            arm_count
            for rated in dimensions
            for arm_count in arm_counts(rated, confidence=confidence)
        ),
        tuple(test for rated in dimensions for test in _tests(rated, options)),
        tuple(_overall(rated, part, options) for rated in dimensions for part in rated.subsets()),
        {rated.dimension: rated.dropped for rated in dimensions},
        confidence,
        f"rater and {columns['cluster'].removesuffix('_id')}"
        if columns.get("cluster") in frame.columns
        else "rater",
    )


def _tests(rated: RatedArms, options: dict[str, Any]) -> list[ArmTest]:
    tests = [
        _test(rated, subset, arm, options) for subset in rated.subsets() for arm in rated.arms[1:]
    ]
    clustered = corrected_by_family(
        [test.family for test in tests], [test.clustered.p for test in tests]
    )
    return [
        dataclasses.replace(test, clustered_p_holm=p.p_holm, clustered_p_bh=p.p_bh)
        for test, p in zip(with_corrected_p(tests), clustered, strict=True)
    ]


def _test(rated: RatedArms, subset: Subset, arm: str, options: dict[str, Any]) -> ArmTest:
    confidence = options["confidence"]
    both = subset.ratings.filter(pl.col("arm").is_in([arm, rated.reference]))
    here, there = (both.filter(pl.col("arm") == name) for name in (arm, rated.reference))
    n, m = here.height, there.height
    good, good_reference = int(here["good"].sum()), int(there["good"].sum())
    four = (good, n, good_reference, m)
    table = [[good, n - good], [good_reference, m - good_reference]]
    return ArmTest(
        rated.dimension,
        arm,
        rated.reference,
        subset.kind,
        subset.name,
        n,
        m,
        good,
        good_reference,
        test=independence_test(table, **options),
        categories=independence_test(
            [category_counts(rated, side) for side in (here, there)], yates=False, **options
        ),
        relative_gain_percent=effects.relative_gain_percent(*four, confidence=confidence),
        risk_difference=effects.risk_difference(*four, confidence=confidence),
        odds_ratio=effects.odds_ratio(*four, confidence=confidence),
        ranks=rank_comparison(here["rating"], there["rating"], confidence=confidence),
        clustered=clustered_difference(
            both["good"],
            both["arm"] == arm,
            both["rater"],
            situations=both["cluster"] if "cluster" in both.columns else None,
            confidence=confidence,
        ),
        family=f"{rated.dimension}, {subset.kind}",
    )


def _overall(rated: RatedArms, subset: Subset, options: dict[str, Any]) -> ArmsTest:
    by_arm = [subset.ratings.filter(pl.col("arm") == arm) for arm in rated.arms]
    table = np.array([category_counts(rated, ratings) for ratings in by_arm])
    good = [[int(item["good"].sum()), item.height - int(item["good"].sum())] for item in by_arm]
    return ArmsTest(
        rated.dimension,
        subset.kind,
        subset.name,
        rated.arms,
        independence_test(table, yates=False, **options),
        independence_test(good, yates=False, **options),
        kruskal_wallis([ratings["rating"] for ratings in by_arm]),
        rao_scott(subset.ratings["arm"], subset.ratings["category"], subset.ratings["rater"]),
    )
