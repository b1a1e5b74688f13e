"""Ratings in long form are checked and coded."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.agreement import rating_table
from tests.stats.agreement.examples import long


def test_gaps_are_dropped_and_counted() -> None:
    table = rating_table(long([[1, None, float("nan")], [2, 2, 3]]))
    assert (table.n_ratings, table.dropped, table.n_situations) == (4, 2, 3)
    assert table.categories == (1, 2, 3)
    assert table.missing_share == pytest.approx(2 / 6)


def test_words_need_levels_and_lie_one_step_apart() -> None:
    frame = pl.DataFrame({"situation": ["a", "b"], "rater": ["x", "x"], "rating": ["Good", "Bad"]})
    table = rating_table(frame, levels=["Bad", "Okay", "Good"])
    assert table.values.tolist() == [3, 1]
    assert table.categories == (1, 2, 3)
    with pytest.raises(InputError, match="rating 1: 'rating' must be a number; got 'Good'"):
        rating_table(frame)


def test_a_rating_outside_the_levels_is_refused_by_place() -> None:
    frame = pl.DataFrame({"situation": ["a", "b"], "rater": ["x", "x"], "rating": ["Good", "godo"]})
    with pytest.raises(InputError, match="rating 2: 'rating' must be one of Bad, Good; got 'godo'"):
        rating_table(frame, levels=["Bad", "Good"])


@pytest.mark.parametrize("value", [6.0, 1.5])
def test_a_number_outside_the_levels_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="must be one of 1, 2, 3"):
        rating_table(long([[1, 2, value]]), levels=[1, 2, 3])


@pytest.mark.parametrize("levels", [[], [1, 1, 2], ["a", "a"], [2, 1]])
def test_levels_must_differ_and_ascend(levels: list[str | float]) -> None:
    with pytest.raises(InputError, match="levels of the scale"):
        rating_table(long([[1, 2]]), levels=levels)


def test_unused_levels_are_kept() -> None:
    assert rating_table(long([[1, 3]]), levels=[1, 2, 3]).categories == (1, 2, 3)


def test_numbers_written_as_text_are_numbers() -> None:
    frame = long([[1, 2]]).with_columns(pl.col("rating").cast(pl.String))
    assert rating_table(frame).values.tolist() == [1, 2]


def test_a_rater_who_rates_a_situation_twice_is_named() -> None:
    frame = pl.concat([long([[1, 2], [2, 2]]), long([[1, 2]])])
    with pytest.raises(InputError, match="rater 'r0' rated 's00' more than once"):
        rating_table(frame)


def test_an_infinite_rating_is_refused() -> None:
    with pytest.raises(InputError, match="must be finite"):
        rating_table(long([[1, float("inf")]]))


def test_a_column_that_is_not_there_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'rater'"):
        rating_table(long([[1, 2]]), rater="ratr")
