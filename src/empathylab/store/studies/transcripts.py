"""Conversations of a study's participants as researchers read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, case, func, or_, select

from empathylab.store import schema
from empathylab.store.schema.statements import Rows, newest_rows

_CONVERSATIONS, _TURNS = schema.live_conversations, schema.live_turns
_SLOTS, _PAGES = schema.slots, schema.page_answers


def listed_conversations(
    connection: Connection, study: int, *, stopped_only: bool, limit: int, offset: int
) -> tuple[int, Rows]:
    """How many participants talked or were stopped for their safety, and some, newest first."""
    stopped = _SLOTS.c.outcome == "safety"
    talked = _SLOTS.c.id.in_(
        select(_CONVERSATIONS.c.place_id).where(_CONVERSATIONS.c.study_id == study)
    )
    query = select(_SLOTS).where(
        _SLOTS.c.study_id == study,
        _SLOTS.c.world == "person",
        stopped if stopped_only else or_(talked, stopped),
    )
    return newest_rows(connection, query, _SLOTS, limit=limit, offset=offset)


def reply_figures(connection: Connection, slots: Sequence[int]) -> dict[int, Any]:
    """By slot: messages of the participant, replies that they saw, fallbacks, and dollars."""
    replied = (_TURNS.c.sender == "respondent") & _TURNS.c.shown_at.is_not(None)
    query = (
        select(
            _CONVERSATIONS.c.place_id,
            func.sum(case((_TURNS.c.sender == "participant", 1), else_=0)).label("messages"),
            func.sum(case((replied, 1), else_=0)).label("replies"),
            func.sum(case((_TURNS.c.outcome == "fallback", 1), else_=0)).label("fallbacks"),
            func.sum(_TURNS.c.cost).label("cost"),
        )
        .select_from(_TURNS.join(_CONVERSATIONS))
        .where(_CONVERSATIONS.c.place_id.in_(slots))
        .group_by(_CONVERSATIONS.c.place_id)
    )
    return {row.place_id: row for row in connection.execute(query)}


def conversations_of(connection: Connection, slot: int) -> Rows:
    """A participant's conversations in the order in which they began, with their partners' keys."""
    others = _CONVERSATIONS.alias()
    partner = (
        select(_SLOTS.c.person)
        .join(others, others.c.place_id == _SLOTS.c.id)
        .where(others.c.id == _CONVERSATIONS.c.partner_id)
        .scalar_subquery()
    )
    query = (
        select(_CONVERSATIONS, partner.label("partner"))
        .where(_CONVERSATIONS.c.place_id == slot)
        .order_by(_CONVERSATIONS.c.id)
    )
    return connection.execute(query).all()


def crisis_findings(connection: Connection, slots: Sequence[int]) -> dict[int, list[str]]:
    """By slot, the words for a crisis that were found in what participants wrote."""
    query = (
        select(_PAGES.c.place_id, _PAGES.c.given)
        .where(_PAGES.c.place_id.in_(slots), _PAGES.c.given["crisis"].as_string().is_not(None))
        .order_by(_PAGES.c.id)
    )
    words: dict[int, list[str]] = {}
    for slot, given in connection.execute(query):
        words.setdefault(slot, []).extend(given["crisis"])
    return words
