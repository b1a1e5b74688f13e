"""Student's t: the same tests and intervals as SciPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from empathylab.stats.t_tests import satterthwaite_df, t_margin, t_test, two_sided_p, z_margin

FIRST = np.array([3.1, 2.2, 4.8, 3.9, 5.0, 2.7])
SECOND = np.array([2.0, 2.4, 1.9, 2.2])


def test_a_test_and_interval_of_a_mean_are_those_of_scipy() -> None:
    se = float(FIRST.std(ddof=1)) / math.sqrt(len(FIRST))
    test = t_test(float(FIRST.mean()), se, len(FIRST) - 1, 0.9)
    expected = scipy_stats.ttest_1samp(FIRST, 0)
    interval = expected.confidence_interval(0.9)
    assert (test.t, test.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)
    assert (test.low, test.high) == pytest.approx((interval.low, interval.high), rel=1e-12)


def test_a_negative_estimate_has_the_p_of_its_positive_twin() -> None:
    assert t_test(-1.2, 0.5, 7).p == t_test(1.2, 0.5, 7).p


def test_two_means_are_compared_as_by_welch() -> None:
    parts = [(float(side.var(ddof=1)) / len(side), len(side) - 1) for side in (FIRST, SECOND)]
    difference = float(FIRST.mean() - SECOND.mean())
    se = math.sqrt(sum(variance for variance, _ in parts))
    test = t_test(difference, se, satterthwaite_df(parts))
    expected = scipy_stats.ttest_ind(FIRST, SECOND, equal_var=False)
    assert (test.df, test.t, test.p) == pytest.approx(
        (expected.df, expected.statistic, expected.pvalue), rel=1e-12
    )


def test_a_side_that_does_not_vary_adds_nothing_to_the_degrees_of_freedom() -> None:
    assert satterthwaite_df([(0.3, 5), (0.0, 9)]) == pytest.approx(5)
    assert math.isnan(satterthwaite_df([(0.0, 5), (0.0, 9)]))


def test_infinite_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert t_margin(math.inf, 0.95) == z_margin(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert two_sided_p(1.3, math.inf) == pytest.approx(2 * scipy_stats.norm.sf(1.3), rel=1e-12)


@pytest.mark.parametrize(("se", "df"), [(0.0, 5), (math.nan, 5), (math.inf, 5), (1, 0), (1, -1)])
def test_without_an_error_or_degrees_of_freedom_there_is_no_test(se: float, df: float) -> None:
    test = t_test(1.5, se, df)
    assert test.estimate == 1.5
    assert all(math.isnan(value) for value in (test.t, test.p, test.low, test.high))
