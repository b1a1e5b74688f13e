"""How a scale is shown: orders, items, schema, range."""

from __future__ import annotations

import itertools
import math

import pytest

from empathylab.errors import InputError
from empathylab.scales import (
    answer_schema,
    builtin_scale,
    builtin_scales,
    describe_range,
    item_order,
    render_items,
)
from tests.scales.examples import MOODS, VIEWS, example_scale

PANAS_ORDER_1 = (6, 7, 5, 17, 1, 16, 2, 18, 12, 4, 9, 13, 14, 3, 8, 19, 11, 15, 20, 10)
MOODS_ORDER_3 = (2, 4, 3, 5, 1, 6)


def test_the_first_order_is_the_printed_one() -> None:
    assert item_order(MOODS, 7, 0) == (1, 2, 3, 4, 5, 6)


def test_an_order_is_the_same_on_every_machine() -> None:
    assert item_order(builtin_scale("panas"), 1, 1) == PANAS_ORDER_1
    assert item_order(MOODS, 42, 3) == MOODS_ORDER_3


@pytest.mark.parametrize("name", builtin_scales())
def test_orders_hold_every_item_once(name: str) -> None:
    scale = builtin_scale(name)
    assert sorted(item_order(scale, 3, 2)) == list(range(1, scale.items + 1))


def test_orders_differ_by_index_seed_and_scale() -> None:
    panas, agq = builtin_scale("panas"), builtin_scale("fds")
    orders = [item_order(panas, seed, index) for seed in (1, 2) for index in range(1, 20)]
    assert len(set(orders)) == len(orders)
    assert item_order(panas, 1, 1) != item_order(agq, 1, 1)[:20]


def test_a_short_scale_is_shown_in_all_its_orders_before_one_comes_back() -> None:
    orders = [item_order(VIEWS, 1, index) for index in range(math.factorial(3))]
    assert sorted(orders) == sorted(itertools.permutations((1, 2, 3)))


def test_a_scale_of_one_item_has_one_order() -> None:
    assert item_order(example_scale("one", words=["Calm"]), 1, 5) == (1,)


def test_items_are_numbered_as_shown() -> None:
    assert render_items(VIEWS, (2, 3, 1)).splitlines()[0] == f"1. {VIEWS.require_words()[1]}"


def test_items_without_wording_cannot_be_shown() -> None:
    with pytest.raises(InputError, match="empathylab scales import FILE"):
        render_items(builtin_scale("agq"), (1, 2))


def test_the_schema_asks_for_every_number_shown_and_nothing_else() -> None:
    value = {"type": "integer", "enum": [0, 1, 2, 3]}
    assert answer_schema(VIEWS, (2, 3, 1)) == {
        "type": "object",
        "properties": {"1": value, "2": value, "3": value},
        "required": ["1", "2", "3"],
        "additionalProperties": False,
    }


def test_a_fully_labelled_range_is_described_by_its_labels() -> None:
    assert describe_range(MOODS).startswith("1 = not at all, 2 = a bit, 3 = fairly")


def test_a_partly_labelled_range_is_described_by_its_ends_too() -> None:
    assert describe_range(builtin_scale("gasp")) == (
        "Whole numbers from 1 to 7: 1 = very unlikely, 7 = very likely"
    )


def test_a_range_without_labels_is_described_by_its_ends() -> None:
    assert describe_range(VIEWS) == "Whole numbers from 0 to 3"
