"""Conversations with participants as pages use them, within the participant's transaction."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection

from empathylab.store.studies.live import (
    add_conversation,
    add_turn,
    change_conversation,
    find_conversation,
    mark_turns_shown,
    turn_rows,
)
from empathylab.study.live.masking import Masks
from empathylab.study.live.pausing import pause_reason
from empathylab.study.live.settings import Author, Delay, Live
from empathylab.study.live.turns import Conversation, Sender, ShownTurn

_LOOK_AGAIN = 1.0
"""Seconds until a page looks again for a reply that is due but not ready."""


@dataclass(frozen=True, slots=True)
class LiveDesk:
    """The conversations of one participant; `slot` is their row."""

    connection: Connection
    live: Live
    secret: bytes
    slot: Any
    language: str
    now: datetime
    require: Callable[[Literal["write", "locked"]], None]
    """Begins the transaction again where it has less than that."""

    @property
    def condition(self) -> tuple[str, str | None]:
        """The names of the participant's author and label."""
        return self.live.conditions[self.slot.arm]

    @property
    def author(self) -> Author:
        """Who answers the participant."""
        return self.live.authors[self.condition[0]]

    def find(self, step: str) -> Any:
        """The row of the conversation of that page; None before it began."""
        return find_conversation(self.connection, self.slot.id, step)

    def opened(self, step: str, opening: str = "") -> Any:
        """The same, begun unless it did before: with a first message, where there is one."""
        row = self.find(step)
        if row is None:
            row = self.begin(step)
            if opening and row.state != "ended":
                self.tell(row, opening)
        return row

    def read(self, row: Any) -> Conversation:
        """A conversation's row with the turns that may be seen now."""
        turns = turn_rows(self.connection, row.id)
        seen = _visible(turns, self.now)
        rest = turns[len(seen) :]
        return Conversation(
            row.id,
            tuple(ShownTurn(turn.sender, turn.text) for turn in seen),
            row.label,
            waiting=bool(rest) and (row.state != "ended" or rest[0].state == "ready"),
            seconds=_until(rest, self.now),
            state=row.state,
            reason=row.reason,
            unshown=tuple(turn.id for turn in seen if turn.shown_at is None),
        )

    def begin(self, step: str, *, state: str = "open", **details: Any) -> Any:
        """The row of the conversation of that page, which begins now unless it did before.

        It ends at once where replies can no longer be had.
        """
        self.require("write")
        reason = None
        if self.slot.study_status == "paused":
            reason = pause_reason(self.connection, self.slot.study_id)
        author, label = self.condition
        return add_conversation(
            self.connection,
            {
                "study_id": self.slot.study_id,
                "place_id": self.slot.id,
                "step": step,
                "author": author,
                "label": label,
                "kind": self.author.kind,
                "state": state if reason is None else "ended",
                "reason": reason,
                "started_at": self.now,
                "seen_at": self.now,
                "details": details,
            },
        )

    def tell(self, conversation: Any, text: str, position: int = 1) -> None:
        """Keeps what the participant wrote, and has it answered: by the next turn."""
        self.require("write")
        author = self.live.authors[conversation.author]
        masked = self._masked(conversation, text) if self.live.mask else None
        add_turn(
            self.connection,
            {
                **self._turn(conversation, position, "participant"),
                "text": text,
                "masked": masked if masked != text else None,
                "state": "ready",
                "ready_at": self.now,
                "shown_at": self.now,
                "due_at": self.now,
                "outcome": "valid",
            },
        )
        reply = self._turn(conversation, position + 1, "respondent")
        reply["due_at"] = self.now + self.delay(conversation, position + 1)
        if author.text is not None:
            reply |= {"state": "ready", "ready_at": self.now, "outcome": "valid"}
            reply["text"] = author.text.in_language(self.language)
        add_turn(self.connection, reply)

    def _masked(self, conversation: Any, text: str) -> str:
        turns = turn_rows(self.connection, conversation.id)
        earlier = (turn.text for turn in turns if turn.sender == "participant")
        return Masks(self.language, earlier).mask(text)

    def _turn(self, conversation: Any, position: int, sender: Sender) -> dict[str, Any]:
        return {
            "live_conversation_id": conversation.id,
            "position": position,
            "sender": sender,
            "state": "pending",
            "asked_at": self.now,
        }

    def delay(self, conversation: Any, position: int) -> timedelta:
        """How long a reply takes at least: drawn evenly for all authors."""
        person, step = self.slot.person, conversation.step
        return drawn(self.live.delay, self.secret, "delay", person, step, position)

    def mark_shown(self, conversation: Conversation) -> None:
        """Keeps when turns were first shown, and that the participant was there."""
        if conversation.unshown:
            self.require("write")
            mark_turns_shown(self.connection, conversation.unshown, self.now)
            change_conversation(self.connection, conversation.number, seen_at=self.now)


def drawn(delay: Delay, secret: bytes, *parts: object) -> timedelta:
    """A time between the two of a delay, always the same for the same parts."""
    digest = hmac.new(secret, " ".join(map(str, parts)).encode(), "sha256").digest()
    proportion = int.from_bytes(digest[:7]) / 2**56
    return timedelta(seconds=delay.minimum + proportion * (delay.maximum - delay.minimum))


def _visible(turns: Sequence[Any], now: datetime) -> list[Any]:
    """The turns before the first that is not ready or not due."""
    seen = []
    for turn in turns:
        if turn.state != "ready" or turn.due_at > now:
            break
        seen.append(turn)
    return seen


def _until(hidden: Sequence[Any], now: datetime) -> float:
    if not hidden:
        return 0.0
    left: timedelta = hidden[0].due_at - now
    return max(_LOOK_AGAIN, left.total_seconds())
