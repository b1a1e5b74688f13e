"""Distributions over answers, from the alternatives of each token."""

from __future__ import annotations

import math

import pytest

from empathylab.scales import (
    Scale,
    answer_distributions,
    builtin_scale,
    scale_from_dict,
)

PANAS = builtin_scale("panas")


def tokens_for(
    values: dict[int, dict[str, float]], order: tuple[int, ...]
) -> list[tuple[str, dict[str, float]]]:
    """An answer in pieces as models write it; probabilities per position shown."""
    pieces: list[tuple[str, dict[str, float]]] = [("{", {}), ("\n ", {})]
    for number, (shown, weighed) in enumerate(values.items()):
        if number:
            pieces.append((",\n", {}))
        pieces += [(' "', {}), (str(shown), {}), ('":', {})]
        top = max(weighed, key=lambda token: weighed[token])
        pieces.append((top, {token: math.log(p) for token, p in weighed.items()}))
    return [*pieces, ("}", {})]


def test_probabilities_reach_the_item_that_was_shown_there() -> None:
    order = tuple(reversed(range(1, 21)))
    tokens = tokens_for({1: {" 4": 0.6, " 5": 0.2, " 1": 0.1, " x": 0.1}}, order)
    found = answer_distributions(tokens, PANAS, order)
    assert list(found) == [20]
    # By hand: 0.6, 0.2 and 0.1 of 0.9; expected (4·0.6 + 5·0.2 + 1·0.1) / 0.9 = 3.5 / 0.9.
    assert found[20].mass == pytest.approx(0.9)
    assert found[20].expected == pytest.approx(3.5 / 0.9)
    assert found[20].probabilities[2] == 0
    assert sum(found[20].probabilities.values()) == pytest.approx(1)


def test_entropy_is_zero_when_certain_and_two_bits_over_four_even_answers() -> None:
    order = tuple(range(1, 21))
    even = {"1": 0.25, "2": 0.25, "3": 0.25, "4": 0.25}
    found = answer_distributions(tokens_for({1: {"3": 1.0}, 2: even}, order), PANAS, order)
    assert found[1].entropy == 0
    assert found[2].entropy == pytest.approx(2)


def test_tokens_that_differ_only_in_spaces_are_one_answer() -> None:
    order = tuple(range(1, 21))
    found = answer_distributions(tokens_for({1: {"3": 0.5, " 3": 0.5}}, order), PANAS, order)
    assert found[1].probabilities[3] == pytest.approx(1)


def test_answers_outside_the_range_do_not_count() -> None:
    order = tuple(range(1, 21))
    found = answer_distributions(tokens_for({1: {"9": 0.8, "5": 0.2}}, order), PANAS, order)
    assert found[1].expected == 5
    assert found[1].mass == pytest.approx(0.2)


def test_an_item_without_any_possible_answer_is_left_out() -> None:
    order = tuple(range(1, 21))
    assert answer_distributions(tokens_for({1: {"9": 1.0}}, order), PANAS, order) == {}


def test_an_item_answered_twice_is_left_out() -> None:
    order = tuple(range(1, 21))
    once = tokens_for({1: {"3": 1.0}}, order)
    assert answer_distributions(once + once, PANAS, order) == {}


def test_no_tokens_give_nothing() -> None:
    assert answer_distributions([], PANAS, tuple(range(1, 21))) == {}


def scale_between(lowest: int, highest: int) -> Scale:
    texts = ("id", "name", "citation", "licence", "instruction")
    numbers = {"version": 1, "minimum": lowest, "maximum": highest, "items": 1}
    return scale_from_dict(dict.fromkeys(texts, "own") | numbers | {"rule": "sum"})


def logs(shares: dict[str, float]) -> dict[str, float]:
    return {token: math.log(share) for token, share in shares.items()}


@pytest.mark.parametrize(
    ("lowest", "highest", "first", "second", "expected"),
    [
        # By hand: 10 in 0.8 · 0.9 of all cases, 1 in 0.8 · 0.1, 9 in 0.2.
        (0, 10, {"1": 0.8, "9": 0.2}, {"0": 0.9, "}": 0.1}, {10: 0.72, 1: 0.08, 9: 0.2}),
        (-3, 3, {"-": 0.8, "0": 0.2}, {"2": 0.9, "1": 0.1}, {-2: 0.72, -1: 0.08, 0: 0.2}),
    ],
)
def test_an_answer_of_two_tokens_is_read_to_its_end(
    lowest: int,
    highest: int,
    first: dict[str, float],
    second: dict[str, float],
    expected: dict[int, float],
) -> None:
    taken = next(iter(first)), next(iter(second))
    tokens = [('{"1":', {}), (taken[0], logs(first)), (taken[1], logs(second)), ("}", {"}": 0.0})]
    found = answer_distributions(tokens, scale_between(lowest, highest), (1,))
    known = {value: p for value, p in found[1].probabilities.items() if p}
    assert known == pytest.approx(expected)
    assert found[1].mass == pytest.approx(1)
