"""Scoring: reversal, rules, missing answers."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.scales import Score, builtin_scale, scale_from_dict, scale_to_dict, score

PAIR = scale_from_dict(
    {
        "id": "pair",
        "version": 1,
        "name": "Pair",
        "citation": "None.",
        "licence": "None.",
        "instruction": "Answer.",
        "minimum": -2,
        "maximum": 3,
        "items": 4,
        "reversed": [2],
        "rule": "sum",
        "subscales": [{"id": "first", "name": "First", "items": [1, 2]}],
    }
)
MEAN = scale_from_dict(scale_to_dict(PAIR) | {"rule": "mean"})


def test_a_reversed_answer_is_taken_from_minimum_plus_maximum() -> None:
    assert score(PAIR, {1: 0, 2: 3, 3: 0, 4: 0})[0].value == -2


def test_subscales_come_in_order_and_the_total_last() -> None:
    results = score(PAIR, {1: 1, 2: 1, 3: 1, 4: 1})
    assert results == (Score("first", 1.0, 2, 0), Score("total", 3.0, 4, 0))


def test_a_scale_may_have_no_total() -> None:
    results = score(builtin_scale("panas"), dict.fromkeys(range(1, 21), 3))
    assert [result.subscale for result in results] == ["positive", "negative"]


def test_the_mean_is_of_the_answers() -> None:
    assert score(MEAN, {1: 1, 2: 1, 3: 2, 4: 2})[1].value == 1.25


def test_answers_need_not_be_whole() -> None:
    assert score(PAIR, {1: 0.5, 2: 0.25, 3: 0, 4: 0})[0].value == 1.25


def test_a_subscale_that_lacks_an_answer_has_no_value() -> None:
    assert score(PAIR, {1: 1, 2: 1, 3: 1}) == (
        Score("first", 1.0, 2, 0),
        Score("total", None, 4, 1),
    )


def test_prorating_fills_gaps_with_the_mean_of_the_rest() -> None:
    results = score(PAIR, {1: 3, 2: 0, 3: 0}, missing="prorate")
    assert results[1] == Score("total", 4 * (3 + 1 + 0) / 3, 4, 1)


def test_prorating_a_mean_is_the_mean_of_the_rest() -> None:
    assert score(MEAN, {1: 3, 2: 0}, missing="prorate")[1].value == 2


def test_prorating_doubles_where_the_scale_does() -> None:
    values = dict.fromkeys(range(1, 21), 1)
    assert score(builtin_scale("dass-21"), values, missing="prorate")[-1].value == 42


def test_half_the_items_are_enough_to_prorate() -> None:
    assert score(PAIR, {1: 1, 3: 1}, missing="prorate")[1].value == 4


def test_less_than_half_the_items_are_not_enough_to_prorate() -> None:
    assert score(PAIR, {1: 1}, missing="prorate")[1].value is None


@pytest.mark.parametrize(("answered", "expected"), [(1, None), (2, None), (3, 5.0), (4, 5.0)])
def test_an_odd_number_of_items_needs_more_than_half_to_prorate(
    answered: int, expected: float | None
) -> None:
    five = scale_from_dict(scale_to_dict(PAIR) | {"items": 5, "reversed": []})
    values = dict.fromkeys(range(1, answered + 1), 1)
    assert score(five, values, missing="prorate")[-1].value == expected


def test_no_answers_give_no_value() -> None:
    assert [result.value for result in score(PAIR, {}, missing="prorate")] == [None, None]


@pytest.mark.parametrize("value", [-3, 4, math.nan])
def test_an_answer_outside_the_range_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="item 1 of pair must be between -2 and 3"):
        score(PAIR, {1: value})


def test_an_item_the_scale_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="pair has items 1 to 4; got 5"):
        score(PAIR, {5: 1})


@pytest.mark.shared_data
def test_empathy_totals_are_those_released(shared_data: Path) -> None:
    scale = builtin_scale("teq")
    with (shared_data / "welivita" / "dataset_and_ratings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = [name for name in rows[0] if name.startswith("empathy_arr_")]
    assert columns
    for row in rows:
        for column in columns:
            stored = json.loads(row[column])
            values = {item: answer + 2 for item, answer in enumerate(stored, start=1)}
            released = row[column.replace("empathy_arr_", "empathy_propensity_")]
            assert score(scale, values)[0].value == float(released)
