"""Planted replies: to some situations one right reply, and replies that each have one fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from empathylab.files import packaged_table
from empathylab.judging.rubric.definition import Profile, rubric

RIGHT = "right"
"""The kind of the replies without a fault."""


@dataclass(frozen=True, slots=True)
class PlantedReply:
    """A reply that was written to have one fault, or none."""

    situation: str
    """Its id in the set."""
    kind: str
    """`right`, or the name of the fault."""
    text: str
    expected: Profile
    """The scores by the rubric."""


@dataclass(frozen=True, slots=True)
class PlantedReplies:
    """All planted replies, and on which dimension each fault must show."""

    id: str
    version: int
    situation_set: str
    tolerance: float
    """How far a score may be from the expected one and still count as the same."""
    faults: Mapping[str, str]
    """By fault, the dimension on which it scores lowest."""
    replies: tuple[PlantedReply, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The right kind, then the faults."""
        return (RIGHT, *self.faults)


@cache
def planted_replies() -> PlantedReplies:
    """The planted replies that ship with the package."""
    table = packaged_table("empathylab.judging.rubric", "planted_replies.toml")
    replies = tuple(
        PlantedReply(
            situation=reply["situation"],
            kind=reply["kind"],
            text=reply["text"],
            expected=rubric().profile(dict(zip(table["scores"], reply["expected"], strict=True))),
        )
        for reply in table["replies"]
    )
    return PlantedReplies(
        id=table["id"],
        version=table["version"],
        situation_set=table["situation_set"],
        tolerance=table["tolerance"],
        faults=table["faults"],
        replies=replies,
    )
