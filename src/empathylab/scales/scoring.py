"""Scores of a scale's subscales from item answers: one function for all scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from empathylab.errors import InputError
from empathylab.scales.definition import Scale


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one subscale, or of all items together (`total`)."""

    subscale: str
    value: float | None
    """None where too many answers are missing."""
    items: int
    """How many items the subscale has."""
    missing: int
    """How many of them were not answered."""


def score(
    scale: Scale,
    values: Mapping[int, float],
    *,
    missing: Literal["refuse", "prorate"] = "refuse",
) -> tuple[Score, ...]:
    """A score for each subscale, in the scale's order, then `total` where the scale has one.

    `values` maps item numbers to answers as given; reversed items are turned round here, as
    minimum + maximum - answer. Answers need not be whole (an expected answer is not).

    Items without an answer: with "refuse" a subscale that lacks any has no value. With "prorate"
    its missing items count as the mean of the answered ones, if at most half are missing.
    """
    _check(scale, values)
    return tuple(
        _score(scale, name, items, values, missing) for name, items in scale.scored_parts()
    )


def _score(
    scale: Scale,
    name: str,
    items: Sequence[int],
    values: Mapping[int, float],
    policy: Literal["refuse", "prorate"],
) -> Score:
    turned = scale.minimum + scale.maximum
    answers = [
        turned - values[item] if item in scale.reversed else values[item]
        for item in items
        if item in values
    ]
    lacking = len(items) - len(answers)
    allowed = len(items) // 2 if policy == "prorate" else 0
    if lacking > allowed or not answers:
        return Score(name, None, len(items), lacking)
    total = sum(answers) * len(items) / len(answers)
    value = {"sum": total, "double-sum": 2 * total, "mean": total / len(items)}[scale.rule]
    return Score(name, float(value), len(items), lacking)


def _check(scale: Scale, values: Mapping[int, float]) -> None:
    for item, value in values.items():
        if item not in range(1, scale.items + 1):
            raise InputError(
                f"{scale.id} has items 1 to {scale.items}",
                got=item,
                remedy="Give the answers by the scale's own item numbers.",
            )
        if not scale.minimum <= value <= scale.maximum:
            raise InputError(
                f"the answer to item {item} of {scale.id} must be between "
                f"{scale.minimum} and {scale.maximum}",
                got=value,
                remedy="Correct the answer, or leave it out as missing.",
            )
