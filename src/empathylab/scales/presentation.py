"""How a scale is shown to a respondent: in which order, in which words, for which answer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

from empathylab.scales.definition import Scale


def item_order(scale: Scale, seed: int, index: int) -> tuple[int, ...]:
    """The items' numbers in their `index`-th order: 0 as printed, then one shuffle after another.

    The same everywhere and for ever, because it comes from hashes of seed, scale, index and item
    and not from a random generator. No order comes back before all others have been used.
    """
    if index < 0:
        raise ValueError(f"index must be 0 or more, not {index}")
    order = tuple(range(1, scale.items + 1))
    used = {order}
    for step in range(1, index + 1):
        if len(used) == math.factorial(scale.items):
            used.clear()
        attempt = 0
        while (order := _shuffled(scale, seed, step, attempt)) in used:
            attempt += 1
        used.add(order)
    return order


def render_items(scale: Scale, order: Sequence[int]) -> str:
    """The items' wording in that order, one line each, numbered from 1 as shown."""
    words = scale.require_words()
    return "\n".join(f"{shown}. {words[item - 1]}" for shown, item in enumerate(order, start=1))


def answer_schema(scale: Scale, order: Sequence[int]) -> dict[str, object]:
    """The JSON schema of an answer: an object from each number shown to a value of the range.

    The range is an `enum`: llama.cpp and OpenAI's strict mode both hold a model to it.
    """
    numbers = [str(shown) for shown in range(1, len(order) + 1)]
    value = {"type": "integer", "enum": list(range(scale.minimum, scale.maximum + 1))}
    return object_schema({number: dict(value) for number in numbers})


def object_schema(properties: Mapping[str, object]) -> dict[str, object]:
    """The JSON schema of an object with all of these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def describe_range(scale: Scale, numbers: str = "Whole numbers from {minimum} to {maximum}") -> str:
    """What the numbers mean, in one line without a full stop.

    `numbers` names the range where the labels do not cover it.
    """
    labels = ", ".join(f"{value} = {label}" for value, label in sorted(scale.anchors.items()))
    if len(scale.anchors) == scale.maximum - scale.minimum + 1:
        return labels
    named = numbers.format(minimum=scale.minimum, maximum=scale.maximum)
    return f"{named}: {labels}" if labels else named


def _shuffled(scale: Scale, seed: int, step: int, attempt: int) -> tuple[int, ...]:
    def key(item: int) -> bytes:
        return hashlib.sha256(f"{seed}/{scale.id}/{step}/{attempt}/{item}".encode()).digest()

    return tuple(sorted(range(1, scale.items + 1), key=key))
