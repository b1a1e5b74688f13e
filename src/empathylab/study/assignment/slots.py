"""Slots: one rater's batch of items, and how a list is cut into batches."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Item:
    """One page of work: a response to rate, or a situation."""

    situation: str
    arm: str | None
    """Whose response; None where there is only the situation."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One rater's batch of items, in the order in which it is shown."""

    arm: str
    """The rater's; `everyone` where all raters are in one condition."""
    number: int
    """Within the arm, from 0."""
    items: tuple[Item, ...]


def evenly(things: Sequence[Thing], most: int) -> list[Sequence[Thing]]:
    """The fewest parts of at most so many, whose sizes differ by one at most."""
    parts = -(-len(things) // most)
    cuts = [len(things) * item // parts for item in range(parts + 1)] if parts else [0]
    return [things[start:end] for start, end in itertools.pairwise(cuts)]
