"""Slopes with standard errors that allow for clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from empathylab.style.clustered import clustered_slope

ROW = np.arange(60)
RATER, SITUATION = ROW % 12, (7 * ROW) % 15
WORDS, MARKS = 10 + (ROW * ROW) % 23, (ROW * 5 + ROW // 7) % 9
RATING = (1 + (3 * ROW + MARKS + (ROW % 12) // 3) % 5).astype(float)
Z = (MARKS - MARKS.mean()) / MARKS.std(ddof=1)
CONSTANT = np.ones((60, 1))
WITH_LENGTH = np.column_stack([CONSTANT, np.log1p(WORDS)])


@pytest.mark.parametrize(
    ("controls", "slope", "two_way", "one_way"),
    [
        (CONSTANT, 0.256479822957, 0.298518052986, 0.129382018878),
        (WITH_LENGTH, 0.377153645703, 0.292807586471, 0.128156162730),
    ],
)
def test_standard_errors_are_those_of_rs_sandwich(
    controls: np.ndarray, slope: float, two_way: float, one_way: float
) -> None:
    # tests/reference/style_clusters.R: vcovCL, type HC1, of sandwich.
    both = clustered_slope(RATING, Z, controls, [SITUATION, RATER])
    assert (both.estimate, both.se) == pytest.approx((slope, two_way), rel=1e-9)
    one = clustered_slope(RATING, Z, controls, [SITUATION])
    assert (one.estimate, one.se) == pytest.approx((slope, one_way), rel=1e-9)


def test_one_way_by_hand() -> None:
    # y = 0, 0, 3, 3 at x = -1, -1, 1, 1 lies on its line but for y[3] = 5: mean 2, slope 2,
    # residuals 0, 0, -1, 1. Clusters {0, 2} and {1, 3} have score sums -1 and 1, so
    # 2 / 16 · 2/1 · 3/2 = 0.375.
    y, x = np.array([0.0, 0, 3, 5]), np.array([-1.0, -1, 1, 1])
    found = clustered_slope(y, x, np.ones((4, 1)), [np.array([0, 1, 0, 1])])
    assert found.estimate == pytest.approx(2)
    assert found.se == pytest.approx(math.sqrt(0.375))
    assert found.df == 1


def test_the_interval_uses_the_smaller_number_of_clusters() -> None:
    # Every cluster of both sets holds x = 1 and −1 equally often, so all count in full: 3 and 4.
    rows, columns = np.repeat(np.arange(3), 8), np.tile(np.repeat(np.arange(4), 2), 3)
    x = np.tile([1.0, -1.0], 12)
    y = x + np.random.default_rng(0).normal(size=24)
    found = clustered_slope(y, x, np.ones((24, 1)), [rows, columns])
    assert found.df == pytest.approx(2)
    # The 97.5% point of t with 2 degrees of freedom is 4.302653.
    assert (found.high - found.estimate) / found.se == pytest.approx(4.302653, abs=1e-6)


def test_a_mark_in_one_cluster_only_is_no_evidence() -> None:
    x = np.zeros(60)
    x[SITUATION == 3] = 1.0
    found = clustered_slope(RATING, x, CONSTANT, [SITUATION], fewest=5)
    assert not math.isnan(found.estimate)
    assert math.isnan(found.p)


def test_clusters_count_by_how_much_varies_in_them() -> None:
    # Squares about the mean 0: 8 in the first cluster, 2 in each of two others, so 144 / 72 = 2.
    x = np.array([2.0, -2, 1, -1, 1, -1])
    y = np.array([3.0, -1, 1, 0, 2, -1])
    found = clustered_slope(y, x, np.ones((6, 1)), [np.array([0, 0, 1, 1, 2, 2])])
    assert found.df == pytest.approx(1)


def test_a_column_the_controls_explain_has_no_slope() -> None:
    found = clustered_slope(RATING, 3 * Z + 1, np.column_stack([CONSTANT, Z]), [SITUATION])
    assert all(math.isnan(value) for value in found)


def test_one_cluster_tells_nothing() -> None:
    assert math.isnan(clustered_slope(RATING, Z, CONSTANT, [np.zeros(60, dtype=int)]).se)


def test_no_rows_tell_nothing() -> None:
    empty = np.array([])
    found = clustered_slope(empty, empty, np.ones((0, 1)), [np.array([], dtype=int)])
    assert math.isnan(found.estimate)


def test_a_two_way_variance_below_zero_gives_way_to_the_larger_one_way() -> None:
    # Two values in each cell of a 2 × 2 table, x = 1 and −1, residuals u and −u with u = 1.2, −1,
    # −1, 0.8: the scores sum to ±0.4 over rows and over columns, but to 2u over cells. One-way:
    # 0.32 · 2/1 · 7/6, over the square of x'x = 8.
    x = np.tile([1.0, -1.0], 4)
    y = 2 * x + np.repeat([1.2, -1.0, -1.0, 0.8], 2) * x
    rows, columns = np.repeat([0, 0, 1, 1], 2), np.repeat([0, 1, 0, 1], 2)
    found = clustered_slope(y, x, np.ones((8, 1)), [rows, columns])
    assert found.estimate == pytest.approx(2)
    assert found.se == pytest.approx(math.sqrt(0.32 * 2 * 7 / 6) / 8)
