"""How much more often one arm is rated good than another, from four counts.

Ratings count as independent; `clustered` says what remains when they are not.
"""

from __future__ import annotations

import math

from empathylab.stats.estimates import NO_ESTIMATE, Estimate
from empathylab.stats.intervals import wilson
from empathylab.stats.t_tests import z_margin


def proportion(good: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """The proportion of good ratings with Wilson's interval; NaN where there is no rating."""
    if n == 0:
        return NO_ESTIMATE
    low, high = wilson(good / n, n, confidence=confidence)
    return Estimate(good / n, float(low), float(high))


def risk_difference(
    good: int, n: int, good_reference: int, n_reference: int, *, confidence: float = 0.95
) -> Estimate:
    """The proportion of good ratings minus the reference's, with Newcombe's interval.

    The interval joins the two Wilson intervals (method 10), and stays inside −1 to 1. Not for
    paired ratings.

    Newcombe, R. G. (1998). Statistics in Medicine 17, 873–890.
    """
    one = proportion(good, n, confidence=confidence)
    other = proportion(good_reference, n_reference, confidence=confidence)
    if n == 0 or n_reference == 0:
        return NO_ESTIMATE
    # Whole numbers first: 1,295/2,000 − 986/2,000 must not come out below .1545.
    difference = (good * n_reference - good_reference * n) / (n * n_reference)
    return Estimate(
        difference,
        difference - math.hypot(one.estimate - one.low, other.high - other.estimate),
        difference + math.hypot(one.high - one.estimate, other.estimate - other.low),
    )


def relative_gain_percent(
    good: int, n: int, good_reference: int, n_reference: int, *, confidence: float = 0.95
) -> Estimate:
    """By how many percent the proportion of good ratings exceeds the reference's.

    The interval is that of the ratio of the shares, on the log scale. NaN where the reference has
    no good rating; no interval where the arm has none.

    Katz, D., et al. (1978). Biometrics 34, 469–474.
    """
    if n == 0 or n_reference == 0 or good_reference == 0:
        return NO_ESTIMATE
    ratio = (good / n) / (good_reference / n_reference)
    if good == 0:
        return Estimate(-100.0)
    se = math.sqrt(1 / good - 1 / n + 1 / good_reference - 1 / n_reference)
    spread = math.exp(z_margin(confidence) * se)
    return Estimate(*(100 * (value - 1) for value in (ratio, ratio / spread, ratio * spread)))


def odds_ratio(
    good: int, n: int, good_reference: int, n_reference: int, *, confidence: float = 0.95
) -> Estimate:
    """The odds of a good rating over the reference's, with Woolf's interval.

    Where one of the four counts is 0, one half is added to each for estimate and interval.

    Woolf, B. (1955). Annals of Human Genetics 19, 251–253; Haldane, J. B. S. (1956). Annals of
    Human Genetics 20, 309–311.
    """
    if n == 0 or n_reference == 0:
        return NO_ESTIMATE
    cells = [float(good), n - good, good_reference, n_reference - good_reference]
    if min(cells) == 0:
        cells = [cell + 0.5 for cell in cells]
    ratio = cells[0] * cells[3] / (cells[1] * cells[2])
    spread = math.exp(z_margin(confidence) * math.sqrt(sum(1 / cell for cell in cells)))
    return Estimate(ratio, ratio / spread, ratio * spread)
