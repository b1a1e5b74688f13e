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
        return width / t_quantile(self.df, 1 - ALPHA / 2)

    def equivalence(self, margin: float | None) -> Equivalence | None:
        """The test against ± the margin; None without a margin or an interval."""
        if margin is None or math.isnan(self.se):
            return None
        return equivalence_test(self.difference.estimate, self.se, margin, df=self.df, alpha=ALPHA)


def comparisons(
    counted_arms: ArmComparison, means: Sequence[MeanComparison], scales: StudyScales
) -> list[Comparison]:
    """Each arm against the reference: by mean on scales of many points, else by good ratings."""
    found = [
        Comparison(
            test.dimension,
            test.arm,
            test.reference,
            test.kind,
            test.subset,
            test.n + test.n_reference,
            test.clustered.raters,
            Estimate(*(100 * end for end in test.clustered.difference)),
            "percentage points",
            test.clustered.df,
            test.clustered.p,
            test.clustered_p_holm,
            test.clustered.note,
            f"proportion rated {counted_arms.scales[test.dimension].good_label}",
        )
        for test in counted_arms.tests
        if test.dimension not in scales.by_mean
    ]
    for of in means:
        found += [
            Comparison(
                of.dimension,
                difference.arm,
                difference.reference,
                difference.kind,
                difference.subset,
                difference.n + difference.n_reference,
                difference.raters,
                difference.difference,
                "points",
                difference.df,
                difference.p,
                difference.p_holm,
                difference.note,
                f"mean {of.dimension}",
            )
            for difference in of.differences
        ]
    order = list(scales.continuous)
    return sorted(found, key=lambda item: order.index(item.dimension))


def t_quantile(df: float, level: float) -> float:
    """Of Student's t; of the normal distribution with infinite degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(level) if math.isinf(df) else stdtrit(df, level))
