"""Critical values of looks at a running study."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from empathylab.errors import UserError
from empathylab.stats.sequential import Spending, spending_boundaries

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)


def test_obrien_fleming_boundaries_are_the_published_ones() -> None:
    """Lan & DeMets (1983), five equal looks, one-sided .025, as their program LD98 prints them."""
    found = [boundary.z for boundary in spending_boundaries(FIVE, alpha=0.05)]
    assert found == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=2e-4)


def test_pocock_boundaries_are_the_published_ones() -> None:
    """The Pocock-type function in the same setting, from the same program."""
    found = [boundary.z for boundary in spending_boundaries(FIVE, alpha=0.05, spending="pocock")]
    assert found == pytest.approx([2.4380, 2.4268, 2.4101, 2.3966, 2.3859], abs=2e-4)


def test_one_look_at_the_end_is_the_usual_test() -> None:
    (only,) = spending_boundaries((1.0,))
    assert (only.z, only.p, only.spent) == pytest.approx((1.959964, 0.05, 0.05), abs=1e-6)


def test_two_looks_together_reject_with_the_declared_probability() -> None:
    first, last = spending_boundaries((0.5, 1.0), spending="pocock")
    # By hand: P(Z1 > z1) is what is spent first, and the nominal levels add up to more than alpha.
    assert first.spent == pytest.approx(2 * ndtr(-first.z))
    assert last.spent == pytest.approx(0.05)
    assert first.p + last.p > 0.05


@pytest.mark.parametrize("fractions", [(), (0.5, 0.5), (1.0, 0.5), (0.0, 1.0), (0.5, 1.2)])
def test_looks_that_make_no_sense_are_refused(fractions: tuple[float, ...]) -> None:
    with pytest.raises(UserError, match="looks must be proportions"):
        spending_boundaries(fractions)


@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
def test_boundaries_reject_as_often_as_a_multivariate_normal_says(spending: Spending) -> None:
    """Genz's integration of the looks' joint distribution (scipy) knows nothing of the recursion.

    The statistics of two looks correlate at √(t₁/t₂).
    """
    fractions = np.array([0.3, 0.55, 0.8, 1.0])
    found = spending_boundaries(fractions.tolist(), alpha=0.05, spending=spending)
    correlation = np.sqrt(np.minimum.outer(fractions, fractions))
    correlation /= np.sqrt(np.maximum.outer(fractions, fractions))
    for looks in range(2, 5):
        joint = multivariate_normal(cov=correlation[:looks, :looks], seed=1)
        inside = joint.cdf([item.z for item in found[:looks]])
        assert 2 * (1 - inside) == pytest.approx(found[looks - 1].spent, abs=2e-4)
