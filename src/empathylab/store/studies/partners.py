"""People who answer participants: pairs of participants, and the queue of trained confederates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from empathylab.store import schema
from empathylab.store.schema.statements import Rows, change_rows

_CONVERSATIONS, _TURNS, _SLOTS = schema.live_conversations, schema.live_turns, schema.slots


def conversation_row(connection: Connection, conversation: int) -> Any:
    """A conversation; None where it was deleted."""
    query = select(_CONVERSATIONS).where(_CONVERSATIONS.c.id == conversation)
    return connection.execute(query).one_or_none()


def others_waiting(connection: Connection, row: Any, world: str, seen_since: datetime) -> Rows:
    """Others who wait on the same page for the same author, the first comer first."""
    query = (
        select(_CONVERSATIONS)
        .select_from(_CONVERSATIONS.join(_SLOTS))
        .where(
            _CONVERSATIONS.c.study_id == row.study_id,
            _CONVERSATIONS.c.step == row.step,
            _CONVERSATIONS.c.author == row.author,
            _CONVERSATIONS.c.state == "waiting",
            _CONVERSATIONS.c.seen_at >= seen_since,
            _CONVERSATIONS.c.id != row.id,
            _SLOTS.c.world == world,
        )
        .order_by(_CONVERSATIONS.c.id)
    )
    return connection.execute(query).all()


def queue(connection: Connection, study: int, authors: Sequence[str], taken_by: str | None) -> Rows:
    """Conversations of those authors that a confederate has taken, or that nobody has (None)."""
    query = (
        select(_CONVERSATIONS)
        .where(
            _CONVERSATIONS.c.study_id == study,
            _CONVERSATIONS.c.author.in_(authors),
            _CONVERSATIONS.c.state != "ended",
            _CONVERSATIONS.c.taken_by.is_not_distinct_from(taken_by),
        )
        .order_by(_CONVERSATIONS.c.id)
    )
    return connection.execute(query).all()


def stories_waiting(
    connection: Connection, own: Any, authors: Sequence[str], world: str, since: datetime
) -> Rows:
    """Stories on the same page that nobody has taken, the one that has waited longest first."""
    query = (
        select(_CONVERSATIONS.c.id)
        .select_from(_CONVERSATIONS.join(_SLOTS))
        .where(
            _CONVERSATIONS.c.study_id == own.study_id,
            _CONVERSATIONS.c.step == own.step,
            _CONVERSATIONS.c.author.in_(authors),
            _free_story(),
            _CONVERSATIONS.c.started_at >= since,
            _CONVERSATIONS.c.place_id != own.place_id,
            _SLOTS.c.world == world,
        )
        .order_by(_CONVERSATIONS.c.id)
    )
    return connection.execute(query).all()


def _free_story() -> Any:
    return (
        (_CONVERSATIONS.c.state == "open")
        & _CONVERSATIONS.c.partner_id.is_(None)
        & _CONVERSATIONS.c.taken_by.is_(None)
        & _CONVERSATIONS.c.opened_at.is_(None)
    )


def take_story(connection: Connection, conversation: int, own: int, at: datetime) -> bool:
    """Whether the participant with that conversation of their own replies to this one now."""
    free = (_CONVERSATIONS.c.id == conversation) & _free_story()
    return change_rows(connection, _CONVERSATIONS, free, partner_id=own, opened_at=at) == 1


def replied_to(connection: Connection, own: int) -> Any:
    """The conversation whose replies the participant with that one writes; None without."""
    query = select(_CONVERSATIONS).where(_CONVERSATIONS.c.partner_id == own)
    return connection.execute(query).one_or_none()


def take(connection: Connection, conversation: int, who: str, **values: Any) -> bool:
    """Whether the conversation is this confederate's now."""
    free = _CONVERSATIONS.c.taken_by.is_(None) & (_CONVERSATIONS.c.state != "ended")
    own = _CONVERSATIONS.c.id == conversation
    return change_rows(connection, _CONVERSATIONS, own, free, taken_by=who, **values) == 1


def answer_turn(connection: Connection, turn: int, text: str, at: datetime) -> bool:
    """Whether a person's reply is stored now; a turn that has one keeps it."""
    values = {"text": text, "state": "ready", "ready_at": at, "outcome": "valid"}
    return change_rows(connection, _TURNS, _pending(turn), **values) == 1


def _pending(turn: int) -> ColumnElement[bool]:
    return (_TURNS.c.id == turn) & (_TURNS.c.state == "pending")


def fail_turn(
    connection: Connection,
    turn: int,
    reason: str,
    at: datetime,
    text: str | None,
    rejected: str | None = None,
) -> None:
    """Ends the wait for a person's reply: with the fallback, or without a reply."""
    values = {"reason": reason, "ready_at": at, "text": text, "rejected": rejected}
    outcome = {"state": "failed"} if text is None else {"state": "ready", "outcome": "fallback"}
    change_rows(connection, _TURNS, _pending(turn), **values, **outcome)


def blank_replies(connection: Connection, slot: int) -> None:
    """Deletes what a participant wrote in the conversations of their partners."""
    own = select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.place_id == slot)
    partners = select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.partner_id.in_(own))
    written = _TURNS.c.live_conversation_id.in_(partners) & (_TURNS.c.sender == "respondent")
    change_rows(connection, _TURNS, written, text="", masked=None)


def last_event(connection: Connection, conversations: Sequence[int]) -> datetime | None:
    """When something was last said in the conversations; None before."""
    latest = func.max(func.coalesce(_TURNS.c.ready_at, _TURNS.c.asked_at))
    query = select(latest).where(_TURNS.c.live_conversation_id.in_(conversations))
    return connection.execute(query).scalar_one()  # type: ignore[no-any-return]
