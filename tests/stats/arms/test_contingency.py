from __future__ import annotations

import math

import pytest

from empathylab.errors import InputError
from empathylab.stats.arms import cross_table, fisher_exact, independence_test
from empathylab.stats.notes import note
from tests.stats.arms.reference_files import R, rated


def test_chi_square_by_hand() -> None:
    # Margins 20, 20 and 20, 20: all expected counts are 10, so 4 · 25/10 = 10.
    result = independence_test([[15, 5], [5, 15]], yates=False)
    assert result.chi2 == pytest.approx(10)
    assert (result.df, result.n, result.smallest_expected) == (1, 40, 10)
    # w² = chi-square / n; V is the same in a 2×2 table.
    assert result.cohens_w.estimate == pytest.approx(0.5)
    assert result.cramers_v.estimate == pytest.approx(0.5)


def test_yates_takes_a_half_from_every_distance() -> None:
    # 4 · 4.5²/10 = 8.1.
    result = independence_test([[15, 5], [5, 15]])
    assert result.chi2 == pytest.approx(8.1)
    assert result.correction == "yates"


def test_yates_does_not_overshoot_a_table_that_fits() -> None:
    result = independence_test([[10, 10], [10, 10]])
    assert (result.chi2, result.p) == (0, 1)


def test_yates_on_the_r_table() -> None:
    result = independence_test(R["square"])
    assert result.chi2 == pytest.approx(R["yates"]["statistic"], rel=1e-12)
    assert result.p == pytest.approx(R["yates"]["p"], rel=1e-10)
    # Pearson's statistic behind V, and its interval by R's noncentral chi-square.
    assert tuple(result.cohens_w) == pytest.approx(R["w_square"], abs=1e-8)


def test_a_larger_table_is_the_one_of_r() -> None:
    frame = rated()
    table, arms, ratings = cross_table(frame["arm"].to_list(), frame["rating"].to_list())
    assert (arms, ratings) == (["human", "alpha", "beta"], ["1", "2", "3"])
    result = independence_test(table)
    assert result.chi2 == pytest.approx(R["full"]["statistic"], rel=1e-12)
    assert result.df == R["full"]["df"]
    assert result.p == pytest.approx(R["full"]["p"], rel=1e-10)
    assert result.correction == "none"
    assert tuple(result.cohens_w) == pytest.approx(R["w_full"], abs=1e-8)
    assert result.cramers_v.estimate == pytest.approx(R["w_full"][0] / math.sqrt(2))


def test_fishers_tea_by_hand() -> None:
    # The tables (4,0), (3,1), (1,3), (0,4) of 70: 1 + 16 + 16 + 1 = 34.
    assert fisher_exact([[3, 1], [1, 3]]) == pytest.approx(34 / 70)


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ([[3, 1], [1, 3]], 0),
        ([[0, 8], [5, 2]], 1),
        ([[10, 3], [2, 15]], 2),
        ([[1, 11], [9, 3]], 3),
    ],
)
def test_fishers_exact_test_is_the_one_of_r(table: list[list[int]], place: int) -> None:
    assert fisher_exact(table) == pytest.approx(R["fisher"][place], rel=1e-9)


def test_a_small_square_table_gets_fishers_test() -> None:
    result = independence_test([[3, 1], [1, 3]])
    assert result.method == "Fisher exact"
    assert result.p == pytest.approx(34 / 70)
    assert result.p_chi2 != result.p


def test_a_simulated_p_is_the_exact_one() -> None:
    # Margins (3, 3) × (2, 2, 2): 20 equally likely sets for row 1. Rows (2, 1, 0) and its like
    # are 12 of them with the statistic 4; rows (1, 1, 1) are 8 with the statistic 0.
    result = independence_test([[2, 1, 0], [0, 1, 2]], simulations=40_000, seed=3)
    assert result.method == "chi-square, simulated"
    assert result.chi2 == pytest.approx(4)
    assert result.p == pytest.approx(12 / 20, abs=0.01)


def test_the_same_seed_simulates_the_same() -> None:
    table = [[2, 1, 0], [0, 1, 2]]
    assert independence_test(table, seed=5).p == independence_test(table, seed=5).p


def test_without_simulations_the_chi_square_has_to_do() -> None:
    result = independence_test([[2, 1, 0], [0, 1, 2]], simulations=0)
    assert (result.method, result.p) == ("chi-square", result.p_chi2)


def test_a_category_never_used_is_left_out_and_said() -> None:
    result = independence_test([[15, 0, 5], [5, 0, 15]], yates=False)
    assert (result.df, result.chi2) == (1, pytest.approx(10))
    assert result.note == note("empty_left_out", rows=0, columns=1)


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ([[5, 0], [7, 0]], "one_column"),
        ([[5, 5], [0, 0]], "one_row"),
        ([[0, 0], [0, 0]], "no_counts"),
    ],
)
def test_a_table_without_two_rows_and_columns_has_no_test(
    table: list[list[int]], code: str
) -> None:
    result = independence_test(table)
    assert math.isnan(result.p)
    assert math.isnan(result.chi2)
    assert (result.method, result.note) == ("none", note(code))


def test_the_interval_of_v_holds_its_estimate() -> None:
    result = independence_test([[100, 97], [101, 98]])
    assert result.cramers_v.low <= result.cramers_v.estimate <= result.cramers_v.high


@pytest.mark.parametrize("table", [[[1.5, 2], [3, 4]], [[-1, 2], [3, 4]], [1, 2, 3]])
def test_what_is_no_table_of_counts_is_refused(table: list[object]) -> None:
    with pytest.raises(InputError, match="whole numbers from 0"):
        independence_test(table)  # type: ignore[arg-type]


def test_fishers_test_refuses_a_larger_table() -> None:
    with pytest.raises(InputError, match="2×2"):
        fisher_exact([[1, 2, 3], [4, 5, 6]])


def test_numbers_ascend_and_words_keep_their_order_in_a_cross_table() -> None:
    _, rows, columns = cross_table(["b", "a", "b"], ["10", "9", "9"])
    assert (rows, columns) == (["b", "a"], ["9", "10"])
