from __future__ import annotations

import math

import pytest

from empathylab.stats.arms import (
    odds_ratio,
    proportion,
    relative_gain_percent,
    risk_difference,
)
from tests.stats.arms.reference_files import R

(A, B), (C, D) = R["square"]
FOUR = (A, A + B, C, C + D)


def test_wilsons_interval_is_the_one_of_r() -> None:
    assert proportion(A, A + B)[1:] == pytest.approx(R["wilson"], abs=1e-9)


def test_wilsons_interval_ends_at_0_and_1() -> None:
    assert proportion(0, 10).low == 0
    assert proportion(10, 10).high == 1


@pytest.mark.parametrize(
    ("place", "counts"),
    [
        (0, (56, 70, 48, 80)),
        (1, (9, 10, 3, 10)),
        (2, (6, 7, 2, 7)),
        (3, (5, 56, 0, 29)),
        (4, (0, 10, 0, 20)),
    ],
)
def test_newcombes_interval_joins_rs_wilson_intervals(
    place: int, counts: tuple[int, int, int, int]
) -> None:
    assert risk_difference(*counts)[1:] == pytest.approx(R["newcombe"][place], abs=1e-9)


def test_the_risk_difference_is_exact_where_shares_are_not() -> None:
    assert risk_difference(1295, 2000, 986, 2000).estimate == 0.1545


def test_relative_gain_by_hand() -> None:
    # 64.75% against 49.30%.
    assert relative_gain_percent(1295, 2000, 986, 2000).estimate == pytest.approx(
        100 * (0.6475 / 0.493 - 1)
    )


def test_katzs_interval_is_the_one_of_r() -> None:
    ratio = [1 + value / 100 for value in relative_gain_percent(*FOUR)]
    assert ratio == pytest.approx(R["ratio"], rel=1e-10)


def test_woolfs_interval_is_that_of_a_logistic_regression() -> None:
    assert tuple(odds_ratio(*FOUR)) == pytest.approx(R["odds_ratio"], rel=1e-6)


def test_an_empty_cell_gets_haldanes_half() -> None:
    # (0.5 · 5.5) / (10.5 · 5.5).
    assert odds_ratio(0, 10, 5, 10).estimate == pytest.approx(0.5 / 10.5)


def test_no_good_rating_at_all_is_a_loss_of_everything() -> None:
    result = relative_gain_percent(0, 10, 5, 10)
    assert result.estimate == -100
    assert math.isnan(result.low)


def test_a_reference_without_good_ratings_has_no_relative_gain() -> None:
    assert math.isnan(relative_gain_percent(3, 10, 0, 10).estimate)


@pytest.mark.parametrize("effect", [risk_difference, relative_gain_percent, odds_ratio])
def test_an_empty_arm_has_no_effect(effect: object) -> None:
    assert math.isnan(effect(0, 0, 5, 10).estimate)  # type: ignore[operator]
    assert math.isnan(effect(5, 10, 0, 0).estimate)  # type: ignore[operator]


def test_no_rating_has_no_share() -> None:
    assert math.isnan(proportion(0, 0).estimate)
