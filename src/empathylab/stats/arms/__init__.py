"""Rated arms: counts, tests against a reference and effect sizes, with and without clustering."""

from empathylab.stats.arms.clustered import (
    ClusteredDifference,
    RaoScott,
    clustered_difference,
    one_way_icc,
    rao_scott,
)
from empathylab.stats.arms.comparison import ArmComparison, ArmTest, compare_arms
from empathylab.stats.arms.contingency import (
    ContingencyTest,
    cross_table,
    fisher_exact,
    independence_test,
)
from empathylab.stats.arms.counts import ArmCount
from empathylab.stats.arms.effects import (
    odds_ratio,
    proportion,
    relative_gain_percent,
    risk_difference,
)
from empathylab.stats.arms.paired_tests import (
    McNemar,
    cochran_q,
    friedman,
    mcnemar,
    signed_ranks,
    stuart_maxwell,
)
from empathylab.stats.arms.ranks import kruskal_wallis, rank_comparison
from empathylab.stats.arms.rating_scales import BAD_OKAY_GOOD, RatingScale
from empathylab.stats.arms.within import PairedComparison, PairedTest, compare_paired_arms
from empathylab.stats.estimates import Estimate

__all__ = [
    "BAD_OKAY_GOOD",
    "ArmComparison",
    "ArmCount",
    "ArmTest",
    "ClusteredDifference",
    "ContingencyTest",
    "Estimate",
    "McNemar",
    "PairedComparison",
    "PairedTest",
    "RaoScott",
    "RatingScale",
    "clustered_difference",
    "cochran_q",
    "compare_arms",
    "compare_paired_arms",
    "cross_table",
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
    "relative_gain_percent",
    "risk_difference",
    "signed_ranks",
    "stuart_maxwell",
]
