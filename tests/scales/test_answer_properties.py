"""What must hold for every answer, whatever the values, the order and the style."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.scales import Scale, item_order, parse_answer
from tests.scales.examples import (
    BARE,
    BLANK,
    DASHED,
    LABELLED,
    MOODS,
    NUMBERED,
    PANAS,
    PATHS,
    PULLS,
    SINGLE,
    VIEWS,
    WORDED,
    Style,
)

STYLES = NUMBERED | DASHED | WORDED | LABELLED | BARE
EXAMPLES = settings(max_examples=15, deadline=None)
HOSTILE = """1. 2. 3: 4 5 -1 4.5 4/5 2-3 ( ) [ ] { } " , ; . : = - | calm bold tired very utterly
four because or rating item Q2 1️⃣ ٣ ½ <think> ``` not I'm sorry 99999999999"""
FRAGMENTS = st.sampled_from([*HOSTILE.split(), "\n"])


def scales_for(name: str) -> list[Scale]:
    if name in LABELLED:
        return [MOODS, PANAS]
    if name in WORDED:
        return [MOODS, VIEWS, PULLS, PATHS]
    if name in DASHED:
        return [MOODS, VIEWS, BLANK]
    return [MOODS, VIEWS, PULLS, PATHS, BLANK, PANAS]


@st.composite
def answered(draw: st.DrawFn, scales: Sequence[Scale]) -> tuple[Scale, tuple[int, ...], list[int]]:
    """A scale, an order in which it was shown, and values in that order."""
    scale = draw(st.sampled_from(scales))
    order = item_order(scale, 1, draw(st.integers(0, 3)))
    value = st.integers(scale.minimum, scale.maximum)
    return scale, order, draw(st.lists(value, min_size=len(order), max_size=len(order)))


def one_line_each(style: Style) -> bool:
    return style(MOODS, (1, 2, 3, 4, 5, 6), [1] * 6).count("\n") == 5


LINE_STYLES = [name for name, style in STYLES.items() if one_line_each(style)]


@pytest.mark.parametrize("name", STYLES)
def test_every_style_is_read_back_exactly(name: str) -> None:
    @EXAMPLES
    @given(answered(scales_for(name)))
    def check(case: tuple[Scale, tuple[int, ...], list[int]]) -> None:
        scale, order, values = case
        parsed = parse_answer(STYLES[name](scale, order, values), scale, order)
        assert (parsed.outcome, parsed.reason) == ("valid", None)
        assert parsed.values == dict(zip(order, values, strict=True))

    check()


@pytest.mark.parametrize("name", LINE_STYLES)
def test_a_missing_line_makes_an_answer_incomplete_and_shifts_nothing(name: str) -> None:
    @EXAMPLES
    @given(answered(scales_for(name)), st.randoms(use_true_random=False))
    def check(case: tuple[Scale, tuple[int, ...], list[int]], chance: random.Random) -> None:
        scale, order, values = case
        lines = STYLES[name](scale, order, values).split("\n")
        gone = chance.randrange(len(lines))
        parsed = parse_answer("\n".join(lines[:gone] + lines[gone + 1 :]), scale, order)
        expected = dict(zip(order, values, strict=True))
        del expected[order[gone]]
        assert parsed.outcome == "incomplete"
        assert parsed.values == ({} if name in BARE or name == "- v" else expected)

    check()


@pytest.mark.parametrize("name", [name for name in LINE_STYLES if name not in BARE | {"- v": None}])
def test_the_order_of_lines_that_name_items_is_free(name: str) -> None:
    @EXAMPLES
    @given(answered(scales_for(name)), st.randoms(use_true_random=False))
    def check(case: tuple[Scale, tuple[int, ...], list[int]], chance: random.Random) -> None:
        scale, order, values = case
        lines = STYLES[name](scale, order, values).split("\n")
        chance.shuffle(lines)
        parsed = parse_answer("\n".join(lines), scale, order)
        assert parsed.values == dict(zip(order, values, strict=True))

    check()


@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(
        st.text(), st.lists(FRAGMENTS, max_size=60).map(" ".join), st.text("0123456789.,:()-\n ")
    ),
    structured=st.booleans(),
)
def test_no_text_raises_or_yields_values_outside_the_scale(text: str, structured: bool) -> None:
    for scale in (MOODS, PULLS, SINGLE):
        order = item_order(scale, 1, 1)
        parsed = parse_answer(text, scale, order, structured=structured)
        assert set(parsed.values) <= set(order)
        assert all(scale.minimum <= value <= scale.maximum for value in parsed.values.values())
        assert (parsed.outcome == "valid") == (parsed.reason is None)
        assert parsed.outcome != "valid" or set(parsed.values) == set(order)
