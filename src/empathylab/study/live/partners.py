"""People who answer participants: the waiting room, pairs, and partners who leave.

All of it is decided when someone's page looks again, within that participant's transaction, and
kept in the lab alone: any server process goes on where another was killed. Two participants are
paired while the study is locked, so that nobody is paired twice.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from empathylab.store.studies.live import (
    change_conversation,
    end_conversation,
    pending_turn,
    turn_rows,
)
from empathylab.store.studies.partners import (
    answer_turn,
    conversation_row,
    fail_turn,
    last_event,
    others_waiting,
    queue,
)
from empathylab.study.live.conversations import LiveDesk, drawn
from empathylab.study.live.settings import Live
from empathylab.study.live.turns import Conversation, ShownTurn

LEFT = "left"
"""The reason for the end of a conversation whose partner has left."""
_STAYED = ("limit", "participant", "time")
"""Why conversations end of people who are still there."""
_PRESENT = timedelta(seconds=25)
"""Waiting pages look again more often than that."""
_BEAT = timedelta(seconds=5)
_LOOK_AGAIN = 2.0


def waiting_room(desk: LiveDesk, step: str) -> Conversation:
    """The participant's place in the waiting room, which they leave once a partner is there."""
    row = desk.find(step)
    if row is None:
        row = desk.begin(step, state="waiting")
    if row.state == "waiting":
        row = _with_partner(desk, row)
    waits = row.state == "waiting" or (row.state == "open" and row.opened_at > desk.now)
    if row.state == "waiting" and desk.now - row.seen_at > _BEAT:
        desk.require("write")
        change_conversation(desk.connection, row.id, seen_at=desk.now)
    return Conversation(
        row.id,
        label=row.label,
        waiting=waits,
        seconds=_LOOK_AGAIN,
        state=row.state,
        reason=row.reason,
        ahead=_ahead(desk, row) if row.state == "waiting" else 0,
    )


def _with_partner(desk: LiveDesk, row: Any) -> Any:
    """The row, opened where a partner is there or nobody has to be waited for any longer."""
    people, author = desk.live.people, desk.live.authors[row.author]
    others = _others(desk, row) if author.person == "participant" else ()
    if others:
        desk.require("locked")
        _pair(desk, row, others[0])
    elif author.kind != "person" and _connected_at(desk, row) <= desk.now:
        _open(desk, row)
    elif desk.now - row.started_at > timedelta(seconds=people.wait.maximum):
        desk.require("write")
        if people.otherwise == "end":
            end_conversation(desk.connection, row.id, "no-partner", desk.now)
        else:
            kind = desk.live.authors[people.otherwise].kind
            _open(desk, row, author=people.otherwise, kind=kind)
    else:
        return row
    return conversation_row(desk.connection, row.id)


def _others(desk: LiveDesk, row: Any) -> Any:
    return others_waiting(desk.connection, row, desk.slot.world, desk.now - _PRESENT)


def connected_at(live: Live, secret: bytes, row: Any, now: datetime) -> datetime:
    """When someone who waits can talk with a partner who is there now.

    Where models answer in other arms that is not at once, so that waiting does not tell the arm.
    """
    if live.only_people:
        return now
    began: datetime = row.started_at
    return max(now, began + drawn(live.people.wait, secret, "wait", row.id))


def _open(desk: LiveDesk, row: Any, **values: Any) -> None:
    desk.require("write")
    change_conversation(desk.connection, row.id, state="open", opened_at=desk.now, **values)


def _pair(desk: LiveDesk, row: Any, other: Any) -> None:
    for own, partner in ((row, other), (other, row)):
        values = {"state": "open", "partner_id": partner.id}
        at = _connected_at(desk, own)
        change_conversation(desk.connection, own.id, **values, opened_at=at)


def _connected_at(desk: LiveDesk, row: Any) -> datetime:
    return connected_at(desk.live, desk.secret, row, desk.now)


def _ahead(desk: LiveDesk, row: Any) -> int:
    """How many came before; shown only where it does not identify arms."""
    if not desk.live.only_people:
        return 0
    if desk.live.authors[row.author].person == "participant":
        return sum(other.id < row.id for other in _others(desk, row))
    waiting = queue(desk.connection, row.study_id, [row.author], None)
    return sum(other.id < row.id for other in waiting)


def tells_first(row: Any) -> bool:
    """Whether the participant tells before they reply: the first of a pair does."""
    return row.partner_id is None or row.id < row.partner_id


def with_reply_in_time(desk: LiveDesk, row: Any) -> Any:
    """The row of a conversation, after a person who has not replied in time was given up."""
    if row.kind != "person" or row.state == "ended":
        return row
    turns = turn_rows(desk.connection, row.id)
    if not turns or turns[-1].state != "pending":
        return row
    if not (_is_late(desk, turns[-1].asked_at) or _has_gone(desk, row)):
        return row
    desk.require("write")
    fallback = desk.live.fallback
    if row.partner_id is None and fallback is not None:
        text = fallback.in_language(desk.language)
        fail_turn(desk.connection, turns[-1].id, LEFT, desk.now, text)
        return row
    fail_turn(desk.connection, turns[-1].id, LEFT, desk.now, None)
    _end_both(desk, row)
    return conversation_row(desk.connection, row.id)


def _is_late(desk: LiveDesk, since: datetime) -> bool:
    return desk.now - since > timedelta(seconds=desk.live.people.reply_within)


def _has_gone(desk: LiveDesk, row: Any) -> bool:
    """Whether the partner's part in the study is over, or all of it deleted."""
    if row.partner_id is None:
        return bool(row.opened_at) and row.taken_by is None and row.kind == "person"
    partner = conversation_row(desk.connection, row.partner_id)
    return partner is None or (partner.state == "ended" and partner.reason not in _STAYED)


def leave_partner(desk: LiveDesk, row: Any) -> None:
    """Ends what a participant who stops shares with a partner."""
    desk.require("write")
    _end_both(desk, row)


def _end_both(desk: LiveDesk, row: Any) -> None:
    for number in sorted(filter(None, (row.id, row.partner_id))):
        end_conversation(desk.connection, number, LEFT, desk.now)


def partner_conversation(desk: LiveDesk, row: Any) -> Conversation:
    """The conversation of the participant's partner, as the participant who replies sees it."""
    other = None if row.partner_id is None else conversation_row(desk.connection, row.partner_id)
    if other is None:
        return Conversation(row.id, label=row.label, state="ended", reason=LEFT)
    turns = turn_rows(desk.connection, other.id)
    is_asked = bool(turns) and turns[-1].state == "pending"
    waits = other.state != "ended" and not is_asked
    if waits and _is_late(desk, _last(desk, row, other)):
        desk.require("write")
        _end_both(desk, row)
        other, waits = conversation_row(desk.connection, other.id), False
    shown = tuple(
        ShownTurn("participant" if turn.sender == "respondent" else "respondent", turn.text)
        for turn in turns
        if turn.state == "ready"
    )
    return Conversation(
        other.id,
        shown,
        row.label,
        waiting=waits,
        seconds=_LOOK_AGAIN,
        state=other.state,
        reason=other.reason,
    )


def _last(desk: LiveDesk, row: Any, other: Any) -> datetime:
    """When something last happened between the two."""
    latest = last_event(desk.connection, (row.id, other.id))
    times = (latest, row.opened_at, other.opened_at, row.ended_at, other.ended_at)
    return max(at for at in times if at is not None)


def reply_to_partner(desk: LiveDesk, row: Any, text: str) -> bool:
    """Whether the participant's reply is stored in their partner's conversation."""
    desk.require("write")
    pending = pending_turn(desk.connection, row.partner_id)
    return pending is not None and answer_turn(desk.connection, pending.id, text, desk.now)
