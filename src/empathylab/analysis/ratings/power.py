"""The power of a study like this one, from its own reference arm and raters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from empathylab.stats.arms import ArmComparison
from empathylab.stats.power.analytic import design_effect, two_shares_power

DIFFERENCES = (0.05, 0.10, 0.15)
_STEPS = 40


class PowerPoint(NamedTuple):
    """With how many raters per arm a difference is found, and how often."""

    difference: float
    raters: int
    power: float


@dataclass(frozen=True, slots=True)
class PowerSetting:
    """The assumptions of a power curve."""

    reference: str
    share: float
    """Of good ratings in the reference arm."""
    ratings_per_rater: int
    icc: float
    raters: int
    """Of this study, in the arm with the fewest."""


def power_setting(comparison: ArmComparison, dimension: str) -> PowerSetting | None:
    """The assumptions for a study like this one; None where it has no test or no variance."""
    tests = [
        test
        for test in comparison.tests
        if test.dimension == dimension and test.kind == "all" and test.n_reference
    ]
    counts = [
        count for count in comparison.counts if count.dimension == dimension and count.kind == "all"
    ]
    mine = [count for count in counts if count.arm == comparison.reference]
    if not tests or not mine or not mine[0].raters:
        return None
    share = mine[0].good / mine[0].n
    iccs = [value for test in tests for value in (test.clustered.icc, test.clustered.icc_reference)]
    known = [value for value in iccs if math.isfinite(value)]
    if not 0 < share < 1 or not known:
        return None
    icc = min(1.0, max(0.0, sum(known) / len(known)))
    each = max(1, round(mine[0].n / mine[0].raters))
    raters = min((count.raters for count in counts if count.raters), default=mine[0].raters)
    return PowerSetting(comparison.reference, share, each, icc, raters)


def power_curve(given: PowerSetting) -> list[PowerPoint]:
    """The power of the test of two proportions at α = .05, by difference and raters."""
    most = max(100, 2 * given.raters)
    effect = design_effect(given.icc, given.ratings_per_rater)
    curve = []
    for points in DIFFERENCES:
        share = given.share + points if given.share + points < 1 else given.share - points
        for step in range(1, _STEPS + 1):
            raters = max(2, round(most * step / _STEPS))
            n = max(1, int(raters * given.ratings_per_rater / effect))
            curve.append(PowerPoint(points, raters, two_shares_power(share, given.share, n).power))
    return curve
