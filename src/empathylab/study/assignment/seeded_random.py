"""Chance that can be repeated: orders and sides from hashes of a stored seed.

The same on every machine and in every version of Python, because nothing comes from a random
generator.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TypeVar

Thing = TypeVar("Thing")


def draw(seed: int, *parts: object) -> bytes:
    """A hash of the seed and the parts; parts are kept apart, so that ab, c is not a, bc."""
    return hashlib.sha256(json.dumps([seed, *map(str, parts)]).encode()).digest()


def shuffled(things: Iterable[Thing], seed: int, *parts: object) -> tuple[Thing, ...]:
    """The things in an order that seed and parts decide, whatever order they come in.

    Things that are written alike keep the order in which they come.
    """
    return tuple(sorted(things, key=lambda item: draw(seed, *parts, item)))


def turned(seed: int, *parts: object) -> bool:
    """One side or the other, each with chance one half."""
    return draw(seed, *parts)[0] % 2 == 1
