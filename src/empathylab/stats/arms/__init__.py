"""Rated arms: counts, tests against a reference, effects, and what clustering leaves of them."""

from empathylab.stats.arms.clustered import (
    ClusteredDifference,
    RaoScott,
    clustered_difference,
    one_way_icc,
    rao_scott,
)
from empathylab.stats.arms.comparison import ArmComparison, ArmsTest, ArmTest, compare_arms
from empathylab.stats.arms.contingency import (
    ContingencyTest,
    cross_table,
    expected_counts,
    fisher_exact,
    independence_test,
)
from empathylab.stats.arms.counts import ArmCount, arm_counts
from empathylab.stats.arms.effects import (
    odds_ratio,
    proportion,
    relative_gain_percent,
    risk_difference,
)
from empathylab.stats.arms.estimates import Estimate
from empathylab.stats.arms.frames import RatedArms, Subset, rated_arms
from empathylab.stats.arms.paired_tests import (
    McNemar,
    SignedRanks,
    cochran_q,
    friedman,
    mcnemar,
    signed_ranks,
    stuart_maxwell,
)
from empathylab.stats.arms.ranks import (
    RankComparison,
    RankTest,
    kruskal_wallis,
    rank_comparison,
)
from empathylab.stats.arms.rating_scales import BAD_OKAY_GOOD, Category, RatingScale
from empathylab.stats.arms.within import (
    PairedArmsTest,
    PairedComparison,
    PairedTest,
    compare_paired_arms,
)

__all__ = [
    "BAD_OKAY_GOOD",
    "ArmComparison",
    "ArmCount",
    "ArmTest",
    "ArmsTest",
    "Category",
    "ClusteredDifference",
    "ContingencyTest",
    "Estimate",
    "McNemar",
    "PairedArmsTest",
    "PairedComparison",
    "PairedTest",
    "RankComparison",
    "RankTest",
    "RaoScott",
    "RatedArms",
    "RatingScale",
    "SignedRanks",
    "Subset",
    "arm_counts",
    "clustered_difference",
    "cochran_q",
    "compare_arms",
    "compare_paired_arms",
    "cross_table",
    "expected_counts",
    "fisher_exact",
    "friedman",
    "independence_test",
    "kruskal_wallis",
    "mcnemar",
    "odds_ratio",
    "one_way_icc",
    "proportion",
    "rank_comparison",
    "rao_scott",
    "rated_arms",
    "relative_gain_percent",
    "risk_difference",
    "signed_ranks",
    "stuart_maxwell",
]
