"""Two one-sided tests."""

from __future__ import annotations

import math

import pytest

from empathylab.errors import InputError
from empathylab.stats.equivalence import equivalence_test


def test_two_one_sided_tests_of_r_on_its_sleep_data() -> None:
    # R 4.2.2: t.test(x, y, mu = -3, alternative = "greater"), t.test(x, y, mu = 3,
    # alternative = "less") and t.test(x, y, conf.level = 0.9) with x, y the halves of sleep$extra.
    found = equivalence_test(-1.58, 0.8490910172, 3.0, df=17.7764735161)
    assert (found.t_low, found.t_high) == pytest.approx((1.6723766607, -5.3940035956), abs=1e-8)
    assert (found.p_low, found.p_high) == pytest.approx((0.0559789145, 0.0000208115), abs=1e-9)
    assert found.p == found.p_low
    assert (found.low, found.high) == pytest.approx((-3.0533814973, -0.1066185027), abs=1e-8)
    assert not found.equivalent


def test_the_interval_lies_within_the_margin_exactly_where_p_is_small() -> None:
    for estimate in (-0.3, 0.0, 0.12, 0.2, 0.4):
        found = equivalence_test(estimate, 0.1, 0.3, df=12)
        inside = found.margin_low < found.low and found.high < found.margin_high
        assert found.equivalent == inside


def test_without_degrees_of_freedom_the_normal_distribution_is_used() -> None:
    found = equivalence_test(0.0, 0.1, 0.2)
    assert found.p == pytest.approx(0.0227501319)
    assert found.high == pytest.approx(0.1 * 1.6448536270)


def test_limits_may_differ_in_size() -> None:
    found = equivalence_test(0.1, 0.05, (-0.1, 0.4), df=20)
    assert (found.t_low, found.t_high) == pytest.approx((4.0, -6.0))


@pytest.mark.parametrize("margin", [0, -1.0, math.nan, math.inf, (0.1, 0.4), (-0.4, -0.1)])
def test_a_margin_that_makes_no_sense_is_refused(margin: float | tuple[float, float]) -> None:
    with pytest.raises(InputError, match="both sides of zero"):
        equivalence_test(0.0, 0.1, margin)


def test_an_unknown_error_has_no_test() -> None:
    assert math.isnan(equivalence_test(0.0, math.nan, 0.1).p)
    assert not equivalence_test(0.0, 0.0, 0.1).equivalent
