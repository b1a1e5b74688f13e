"""Latin squares balanced for carry-over."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from empathylab.errors import InputError
from empathylab.study.assignment.latin_squares import Square, williams_squares


def followers(squares: tuple[Square, ...]) -> Counter[tuple[int, int]]:
    return Counter(pair for square in squares for row in square for pair in itertools.pairwise(row))


def test_the_square_of_four_is_the_one_derived_by_hand() -> None:
    # First row 0, 1, n − 1, 2; each further row adds 1 modulo 4.
    assert williams_squares(4) == (((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)),)


def test_the_squares_of_three_are_all_six_orders() -> None:
    # Six orders of three things are all there are, and balance needs two squares of three rows.
    squares = williams_squares(3)
    assert sorted(row for square in squares for row in square) == sorted(
        itertools.permutations(range(3))
    )


@pytest.mark.parametrize("treatments", range(1, 13))
def test_every_square_is_latin(treatments: int) -> None:
    everything = set(range(treatments))
    for square in williams_squares(treatments):
        assert all(set(row) == everything for row in square)
        assert all(set(column) == everything for column in zip(*square, strict=True))


@pytest.mark.parametrize("treatments", range(2, 13))
def test_each_treatment_follows_each_other_equally_often(treatments: int) -> None:
    counts = followers(williams_squares(treatments))
    assert set(counts) == set(itertools.permutations(range(treatments), 2))
    assert set(counts.values()) == {1 if treatments % 2 == 0 else 2}


def test_without_a_treatment_there_is_no_square() -> None:
    with pytest.raises(InputError, match="needs a treatment"):
        williams_squares(0)
