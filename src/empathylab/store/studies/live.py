"""Live replies and chats of studies: conversations with participants, turn by turn.

A pending turn is claimed by one server process for a few seconds and the claim is renewed while a
model is asked. When the process is killed, the claim runs out and another process takes the turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    func,
    insert,
    or_,
    select,
    update,
)

from empathylab.store import schema
from empathylab.store.inserts import insert_or_ignore
from empathylab.store.schema.statements import Rows, change_rows, remove_rows

_CONVERSATIONS, _TURNS = schema.live_conversations, schema.live_turns
_SPOKEN = _TURNS.join(_CONVERSATIONS)
_ONGOING = _CONVERSATIONS.c.state != "ended"
_LEAST_REPLACED = 5
# Statements of every page of a conversation: built once, which costs more than running them.
_FIND = select(_CONVERSATIONS).where(
    _CONVERSATIONS.c.place_id == bindparam("row"), _CONVERSATIONS.c.step == bindparam("at")
)
_TURNS_OF = (
    select(_TURNS)
    .where(_TURNS.c.live_conversation_id == bindparam("conversation"))
    .order_by(_TURNS.c.position)
)
_ADD_TURN = insert(_TURNS)
_MARK_SHOWN = (
    update(_TURNS)
    .where(_TURNS.c.id == bindparam("turn"), _TURNS.c.shown_at.is_(None))
    .values(shown_at=bindparam("at"))
)


def find_conversation(connection: Connection, slot: int, step: str) -> Any:
    """The participant's conversation on that page; None where there is none."""
    return connection.execute(_FIND, {"row": slot, "at": step}).one_or_none()


def add_conversation(connection: Connection, row: Mapping[str, Any]) -> Any:
    """The conversation of that slot and step, added unless it is there already."""
    insert_or_ignore(connection, _CONVERSATIONS, [row])
    return find_conversation(connection, row["place_id"], row["step"])


def change_conversation(connection: Connection, conversation: int, **values: Any) -> None:
    """Changes columns of a conversation."""
    change_rows(connection, _CONVERSATIONS, _CONVERSATIONS.c.id == conversation, **values)


def end_conversation(connection: Connection, conversation: int, reason: str, at: datetime) -> bool:
    """Whether the conversation ends now; the reason of one that has ended stays."""
    return _end(connection, _CONVERSATIONS.c.id == conversation, reason, at) == 1


def _end(connection: Connection, rule: ColumnElement[bool], reason: str, at: datetime) -> int:
    values = {"state": "ended", "reason": reason, "ended_at": at}
    return change_rows(connection, _CONVERSATIONS, _ONGOING, rule, **values)


def turn_rows(connection: Connection, conversation: int) -> Rows:
    """The turns of a conversation in order."""
    return connection.execute(_TURNS_OF, {"conversation": conversation}).all()


def pending_turn(connection: Connection, conversation: int) -> Any:
    """The turn of a conversation that waits for a person's words; None where none does."""
    return next(
        (row for row in turn_rows(connection, conversation) if row.state == "pending"), None
    )


def add_turn(connection: Connection, row: Mapping[str, Any]) -> None:
    """Keeps a turn; a second one at the same position breaks a unique rule."""
    connection.execute(_ADD_TURN, dict(row))


def mark_turns_shown(connection: Connection, turns: Sequence[int], at: datetime) -> None:
    """Keeps when turns were first shown."""
    connection.execute(_MARK_SHOWN, [{"turn": turn, "at": at} for turn in turns])


def _free(now: datetime) -> Any:
    return or_(
        _TURNS.c.state == "pending",
        (_TURNS.c.state == "claimed") & (_TURNS.c.claimed_until < now),
    )


def waiting_turns(connection: Connection, study: int, now: datetime, limit: int) -> Rows:
    """Turns of a study that no process works on, with their conversations, the most urgent first.

    Turns of conversations that have ended are left alone.
    """
    query = (
        select(
            _TURNS,
            *_CONVERSATIONS.c["place_id", "author", "step"],
        )
        .select_from(_SPOKEN)
        .where(
            _CONVERSATIONS.c.study_id == study,
            _CONVERSATIONS.c.kind == "model",
            _ONGOING,
            _free(now),
        )
        .order_by(_TURNS.c.due_at, _TURNS.c.id)
        .limit(limit)
    )
    return connection.execute(query).all()


def claim_turn(
    connection: Connection, turn: int, claim: str, now: datetime, until: datetime, cost: float
) -> bool:
    """Whether the turn is this process's until then; `cost` is its maximum."""
    values = {"state": "claimed", "claim": claim, "claimed_until": until}
    values |= {"attempts": _TURNS.c.attempts + 1, "cost": _TURNS.c.cost + cost}
    return change_rows(connection, _TURNS, _TURNS.c.id == turn, _free(now), **values) == 1


def _claimed_by(claim: str) -> ColumnElement[bool]:
    return (_TURNS.c.claim == claim) & (_TURNS.c.state == "claimed")


def renew_claims(connection: Connection, claim: str, until: datetime) -> None:
    """Keeps all turns that this process has claimed for longer."""
    change_rows(connection, _TURNS, _claimed_by(claim), claimed_until=until)


def finish_turn(
    connection: Connection, turn: int, claim: str, *, saved: float = 0.0, **values: Any
) -> bool:
    """Whether the turn was still this process's and is stored now.

    `saved` is by how much it cost less than what was set aside for it.
    """
    values |= {"claim": None, "claimed_until": None, "cost": _TURNS.c.cost - saved}
    return change_rows(connection, _TURNS, _TURNS.c.id == turn, _claimed_by(claim), **values) == 1


def live_costs(connection: Connection, study: int, now: datetime) -> tuple[float, float]:
    """What the study's live replies cost, and how much of it is set aside for those under way.

    What a killed process had set aside counts as spent: its provider may have answered.
    """
    is_claimed = (_TURNS.c.state == "claimed") & (_TURNS.c.claimed_until >= now)
    under_way = case((is_claimed, _TURNS.c.cost), else_=0.0)
    query = (
        select(
            func.coalesce(func.sum(_TURNS.c.cost), 0.0),
            func.coalesce(func.sum(under_way), 0.0),
        )
        .select_from(_SPOKEN)
        .where(_CONVERSATIONS.c.study_id == study)
    )
    total, set_aside = connection.execute(query).one()
    return float(total), float(set_aside)


def slot_cost(connection: Connection, slot: int) -> float:
    """The same of one participant."""
    query = (
        select(func.coalesce(func.sum(_TURNS.c.cost), 0.0))
        .select_from(_SPOKEN)
        .where(_CONVERSATIONS.c.place_id == slot)
    )
    return float(connection.execute(query).scalar_one())


def end_open_conversations(
    connection: Connection, study: int, reason: str, at: datetime, *, slot: int | None = None
) -> int:
    """How many open conversations of the study, or of one participant, end now."""
    own = _CONVERSATIONS.c.study_id == study
    if slot is not None:
        own = own & (_CONVERSATIONS.c.place_id == slot)
    return _end(connection, own, reason, at)


def end_waiting_conversations(
    connection: Connection, study: int, reason: str, at: datetime
) -> None:
    """Ends the conversations of a study in which a reply has not been shown yet."""
    waiting = select(_TURNS.c.live_conversation_id).where(_TURNS.c.shown_at.is_(None))
    own = (_CONVERSATIONS.c.study_id == study) & _CONVERSATIONS.c.id.in_(waiting)
    _end(connection, own, reason, at)


def delete_conversations(connection: Connection, slot: int) -> None:
    """Deletes a participant's conversations with their turns."""
    remove_rows(connection, _CONVERSATIONS, _CONVERSATIONS.c.place_id == slot)


def exported_turns(connection: Connection, study: int) -> Rows:
    """All turns of a study's participants with their conversations, by person and position."""
    slots = schema.slots
    query = (
        select(
            _TURNS,
            *_CONVERSATIONS.c["step", "author", "label", "kind"],
            _CONVERSATIONS.c.state.label("conversation_state"),
            _CONVERSATIONS.c.reason.label("ended_because"),
            slots.c.person,
        )
        .select_from(_SPOKEN.join(slots))
        .where(_CONVERSATIONS.c.study_id == study, slots.c.world == "person")
        .order_by(slots.c.person, _CONVERSATIONS.c.id, _TURNS.c.position)
    )
    return connection.execute(query).all()


def expire_turns(connection: Connection, slots: Select[tuple[int]]) -> None:
    """Deletes the words of conversations at these slots; counts and times stay."""
    own = select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.place_id.in_(slots))
    written = _TURNS.c.live_conversation_id.in_(own) & _TURNS.c.text.is_not(None)
    change_rows(connection, _TURNS, written, text="", masked=None, rejected=None)


def reply_counts(connection: Connection, study: Any) -> dict[str, int]:
    """How many replies people have seen, wait for, or got the fallback for, by reason.

    Until the study is closed, reasons of few replies are left out: they tell the arm.
    """
    minimum = 1 if study.status == "closed" else _LEAST_REPLACED
    slots = schema.slots
    state = case(
        (_TURNS.c.outcome == "fallback", _TURNS.c.reason),
        (_TURNS.c.shown_at.is_not(None), "shown"),
        else_="waiting",
    )
    query = (
        select(state, func.count())
        .select_from(_SPOKEN.join(slots))
        .where(
            _CONVERSATIONS.c.study_id == study.id,
            slots.c.world == "person",
            _TURNS.c.sender == "respondent",
            _TURNS.c.state != "failed",
        )
        .group_by(state)
    )
    counts = {str(name): int(count) for name, count in connection.execute(query)}
    plain = {name: counts.pop(name, 0) for name in ("shown", "waiting")}
    replaced = {name: count for name, count in sorted(counts.items()) if count >= minimum}
    return plain | {f"replaced: {name}": count for name, count in replaced.items()}


def live_outcome(connection: Connection, slot: int) -> str:
    """Whether all replies to a participant were the author's own, or some the fallback's."""
    query = (
        select(_TURNS.c.reason)
        .select_from(_SPOKEN)
        .where(_CONVERSATIONS.c.place_id == slot, _TURNS.c.outcome == "fallback")
    )
    return "fallback" if connection.execute(query).first() is not None else "valid"


def conversation_rows(connection: Connection, conversations: Sequence[int]) -> Rows:
    """Conversations with the language of their participants, in the order of their ids."""
    slots = schema.slots
    query = (
        select(_CONVERSATIONS, slots.c.language, slots.c.person)
        .select_from(_CONVERSATIONS.join(slots))
        .where(_CONVERSATIONS.c.id.in_(conversations))
        .order_by(_CONVERSATIONS.c.id)
    )
    return connection.execute(query).all()


def release_claims(connection: Connection, claim: str) -> None:
    """Gives back the turns of a process that ends, for others to answer."""
    values = {"state": "pending", "claim": None, "claimed_until": None}
    change_rows(connection, _TURNS, _claimed_by(claim), **values)


def last_reasons(connection: Connection, study: int, count: int) -> list[str | None]:
    """Why the newest replies of models were none, newest first; None where they were."""
    query = (
        select(_TURNS.c.reason)
        .select_from(_SPOKEN)
        .where(
            _CONVERSATIONS.c.study_id == study,
            _CONVERSATIONS.c.kind == "model",
            _TURNS.c.sender == "respondent",
            _TURNS.c.state.in_(("ready", "failed")),
        )
        .order_by(_TURNS.c.ready_at.desc(), _TURNS.c.id.desc())
        .limit(count)
    )
    return list(connection.execute(query).scalars())
