"""One page of a block, and what a block's answers are stored as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empathylab.study.assignment.slots import Item, Slot


@dataclass(frozen=True, slots=True)
class Step:
    """One page."""

    key: str
    block: str
    page: str
    """What kind of page it is: the block's kind, or a part of it such as `example`."""
    number: int = 1
    """Which of the block's pages of this kind, from 1; of a check: which attempt."""
    of: int = 1
    entries: tuple[int, ...] = ()
    """Of a scale: the numbers of its items on this page, in the order shown."""
    shows: tuple[int, ...] = ()
    """The numbers of the participant's items that the page shows, from 1."""
    reply: tuple[int, int] | None = None
    """Which of how many replies to the same situation, where there are several in a row."""

    def items(self, slot: Slot | None) -> tuple[Item, ...]:
        """The items of the slot that the page shows."""
        return () if slot is None else tuple(slot.items[number - 1] for number in self.shows)

    def item(self, slot: Slot | None) -> Item | None:
        """The first item of the slot that the page shows, if any."""
        return next(iter(self.items(slot)), None)


def block_of(key: str) -> str:
    """The id of the block that a page belongs to, by the page's key."""
    return key.partition("/")[0]


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One rating."""

    step: Step
    item: Item
    dimension: str
    value: int
    label: str | None


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """An answer about an item that is no rating; a preference is about two."""

    step: Step
    items: tuple[Item, ...]
    question: str
    value: Any


@dataclass(frozen=True, slots=True)
class AnsweredScale:
    """A questionnaire that was answered."""

    scale: str
    phase: str
    """`default` or `evoked`; of the person who is helped `before`, `after` or `later`."""
    situation: str | None
    order: tuple[int, ...]
    values: Mapping[int, float] = field(hash=False)


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """A reply in the participant's own words."""

    step: Step
    situation: str
    text: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a block's answers are stored as once a participant has finished."""

    ratings: tuple[RatedItem, ...] = ()
    scales: tuple[AnsweredScale, ...] = ()
    replies: tuple[WrittenReply, ...] = ()
    answers: tuple[AnsweredQuestion, ...] = ()
