"""Permutation tests of many features at once."""

from __future__ import annotations

import numpy as np
import pytest

from empathylab.style.permutations import reassignment_p, sign_flip_p


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_all_flips_of_few_pairs_by_hand() -> None:
    # Sums of ±1 ±2 ±3: 6, 4, 2, 0, 0, -2, -4, -6; as far as 4 lie four of the eight.
    assert sign_flip_p(np.array([[-1.0], [2.0], [3.0]]), 99, rng()) == pytest.approx([0.5])


def test_pairs_that_do_not_differ_give_1() -> None:
    assert sign_flip_p(np.zeros((4, 1)), 99, rng()) == pytest.approx([1.0])
    assert sign_flip_p(np.zeros((40, 1)), 99, rng()) == pytest.approx([1.0])


def test_random_flips_come_close_to_all_flips() -> None:
    differences = np.arange(-4.0, 8)[:, None]
    every = sign_flip_p(differences, 99, rng())[0]
    drawn = sign_flip_p(np.vstack([differences, np.zeros((1, 1))]), 20_000, rng())[0]
    assert drawn == pytest.approx(every, abs=0.01)


def test_the_smallest_p_is_one_in_all_draws_and_the_observed_one() -> None:
    assert sign_flip_p(np.ones((60, 1)), 199, rng()) == pytest.approx([1 / 200])


def test_dealing_anew_by_hand() -> None:
    # {1, 2} against {9}: the means part by 7.5; the other two deals part them by 4.5 and 3.
    found = reassignment_p(np.array([[1.0], [2.0]]), np.array([[9.0]]), 30_000, rng())
    assert found == pytest.approx([1 / 3], abs=0.01)


def test_a_missing_value_is_left_out_when_dealing_anew() -> None:
    one, other = np.array([[1.0], [2.0], [np.nan]]), np.array([[9.0]])
    found = reassignment_p(one, other, 3_000, rng())[0]
    assert 0 < found < 1


def test_no_rows_give_no_p() -> None:
    assert np.isnan(sign_flip_p(np.zeros((0, 2)), 9, rng())).all()
    assert np.isnan(reassignment_p(np.zeros((0, 2)), np.ones((3, 2)), 9, rng())).all()


@pytest.mark.parametrize(
    ("asked", "rows", "drawn"), [(4_999, 1_000, 4_999), (4_999, 2_000, 2_500), (4_999, 9_000, 999)]
)
def test_many_rows_get_fewer_flips(asked: int, rows: int, drawn: int) -> None:
    assert sign_flip_p(np.ones((rows, 1)), asked, rng()) == pytest.approx([1 / (drawn + 1)])


def test_a_great_many_rows_are_left_to_t() -> None:
    assert np.isnan(sign_flip_p(np.ones((20_001, 1)), 9, rng())).all()
