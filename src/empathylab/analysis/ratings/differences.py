"""Each arm's difference from the reference, in a unit that readers know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from empathylab.analysis.ratings.scales import StudyScales
from empathylab.analysis.results import ALPHA, Unit
from empathylab.stats.arms import ArmComparison, Estimate
from empathylab.stats.arms.means import MeanComparison
from empathylab.stats.equivalence import Equivalence, equivalence_test
from empathylab.stats.notes import Note
from empathylab.stats.t_tests import t_margin


@dataclass(frozen=True, slots=True)
class Comparison:
    """An arm's difference from the reference in a unit that readers know, on some situations."""

    dimension: str
    arm: str
    reference: str
    kind: str
    subset: str
    n: int
    raters: int
    difference: Estimate
    unit: Unit
    df: float
    p: float
    p_adjusted: float
    problem: Note | None
    """Why there is no test."""
    what: str
    """What is compared: `mean empathy`, `proportion rated Good`."""

    @property
    def se(self) -> float:
        """NaN without an interval."""
        width = (self.difference.high - self.difference.low) / 2
        if not math.isfinite(width) or width <= 0:
            return math.nan
        return width / t_margin(self.df, 1 - ALPHA)

    def equivalence(self, margin: float | None) -> Equivalence | None:
        """The test against ± the margin; None without a margin or an interval."""
        if margin is None or math.isnan(self.se):
            return None
        return equivalence_test(self.difference.estimate, self.se, margin, df=self.df, alpha=ALPHA)


def comparisons(
    counted_arms: ArmComparison, means: Sequence[MeanComparison], scales: StudyScales
) -> list[Comparison]:
    """Each arm against the reference: by mean on scales of many points, else by good ratings."""
    by_good = [
        Comparison(
            *(test.dimension, test.arm, test.reference, test.kind, test.subset),
            n=test.n + test.n_reference,
            raters=test.clustered.raters,
            difference=Estimate(*(100 * end for end in test.clustered.difference)),
            unit="percentage points",
            df=test.clustered.df,
            p=test.clustered.p,
            p_adjusted=test.clustered_p_holm,
            problem=test.clustered.note,
            what=f"proportion rated {counted_arms.scales[test.dimension].good_label}",
        )
        for test in counted_arms.tests
        if test.dimension not in scales.by_mean
    ]
    by_mean = [
        Comparison(
            *(mean.dimension, test.arm, test.reference, test.kind, test.subset),
            n=test.n + test.n_reference,
            raters=test.raters,
            difference=test.difference,
            unit="points",
            df=test.df,
            p=test.p,
            p_adjusted=test.p_holm,
            problem=test.note,
            what=f"mean {mean.dimension}",
        )
        for mean in means
        for test in mean.differences
    ]
    order = list(scales.continuous)
    return sorted([*by_good, *by_mean], key=lambda item: order.index(item.dimension))
