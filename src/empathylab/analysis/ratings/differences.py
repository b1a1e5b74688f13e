"""Each arm's difference from the reference, in a unit that readers know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from empathylab.analysis.ratings.looks import ALPHA
from empathylab.analysis.ratings.scales import StudyScales
from empathylab.analysis.results import Unit
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
            one.dimension,
            one.arm,
            one.reference,
            one.kind,
            one.subset,
            one.n + one.n_reference,
            one.clustered.raters,
            Estimate(*(100 * end for end in one.clustered.difference)),
            "percentage points",
            one.clustered.df,
            one.clustered.p,
            one.clustered_p_holm,
            one.clustered.note,
            f"proportion rated {counted_arms.scales[one.dimension].good_label}",
        )
        for one in counted_arms.tests
        if one.dimension not in scales.by_mean
    ]
    for of in means:
        found += [
            Comparison(
                of.dimension,
                one.arm,
                one.reference,
                one.kind,
                one.subset,
                one.n + one.n_reference,
                one.raters,
                one.difference,
                "points",
                one.df,
                one.p,
                one.p_holm,
                one.note,
                f"mean {of.dimension}",
            )
            for one in of.differences
        ]
    order = list(scales.continuous)
    return sorted(found, key=lambda one: order.index(one.dimension))


def t_quantile(df: float, level: float) -> float:
    """Of Student's t; of the normal distribution with infinite degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(level) if math.isinf(df) else stdtrit(df, level))
