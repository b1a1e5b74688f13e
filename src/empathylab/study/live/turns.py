"""A conversation as its participant's page gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sender = Literal["participant", "respondent"]
INTERRUPTED = frozenset({"study-cap", "outage", "no-partner"})
"""Reasons for which a conversation ends through no fault of the participant."""


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn as its participant sees it."""

    sender: Sender
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as a page gets it: nothing in it identifies the author."""

    number: int
    turns: tuple[ShownTurn, ...] = ()
    """Those that may be seen now."""
    label: str | None = None
    """The name of the label that is shown with replies."""
    waiting: bool = False
    """Whether a reply is still to come."""
    seconds: float = 0.0
    """Until it is worth looking again."""
    state: Literal["waiting", "open", "ended"] = "open"
    reason: str | None = None
    """Why it ended."""
    ahead: int = 0
    """In the waiting room: how many people came before."""
    unshown: tuple[int, ...] = ()
    """The rows of turns that are seen now for the first time."""

    @property
    def interrupted(self) -> bool:
        """Whether it ended because replies can no longer be had."""
        return self.reason in INTERRUPTED
