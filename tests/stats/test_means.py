"""Comparing means."""

from __future__ import annotations

import math

import pytest

from empathylab.stats import mean_difference

# Student's sleep data, as R ships it; R 4.3: t.test(extra ~ group, data = sleep) prints
# df = 17.776, 95 percent confidence interval -3.3654832 0.2054832, means 0.75 and 2.33.
GROUP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
GROUP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_the_interval_is_the_one_r_prints_for_the_sleep_data() -> None:
    result = mean_difference(GROUP_1, GROUP_2)
    assert result.estimate == pytest.approx(0.75 - 2.33)
    assert result.low == pytest.approx(-3.3654832, abs=1e-7)
    assert result.high == pytest.approx(0.2054832, abs=1e-7)
    assert result.df == pytest.approx(17.776, abs=1e-3)
    assert (result.n, result.reference_n) == (10, 10)


def test_two_values_each_by_hand() -> None:
    # Means 2 and 6, variances 2 and 2: difference −4, standard error √2, df 2, t(.975, 2) = 4.3027.
    result = mean_difference([1, 3], [5, 7])
    assert result.estimate == -4
    assert result.df == pytest.approx(2)
    assert result.high == pytest.approx(-4 + 4.302653 * math.sqrt(2), abs=1e-5)


def test_without_variation_there_is_no_interval() -> None:
    result = mean_difference([3, 3, 3], [3, 3])
    assert result.estimate == 0
    assert not result.varies
    assert math.isnan(result.low)


def test_one_value_gives_no_interval() -> None:
    assert not mean_difference([3], [1, 2]).varies


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        mean_difference([], [1])
