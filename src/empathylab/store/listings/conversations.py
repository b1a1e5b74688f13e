"""Conversations, and their turns."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, select

from empathylab.store.listings.pages import (
    Listing,
    Row,
    equal_where_given,
    first_row,
    read_page,
    read_rows,
    values_of,
)
from empathylab.store.schema import conversations, imports, personas, respondents, turns


def list_conversations(
    connection: Connection,
    *,
    respondent: str = "",
    simulator: str = "",
    outcome: str = "",
    run: int | None = None,
    offset: int = 0,
    limit: int = 50,
) -> Listing:
    """Conversations with who talked and how they ended, the newest first."""
    chosen = {
        respondents.c.name: respondent,
        conversations.c.simulator: simulator,
        conversations.c.outcome: outcome,
        conversations.c.run_id: run,
    }
    query = _conversations().where(*equal_where_given(chosen)).order_by(conversations.c.id.desc())
    return read_page(connection, query, offset=offset, limit=limit)


def find_conversation(connection: Connection, conversation: int) -> Row | None:
    """One conversation with the persona's definition."""
    query = _conversations(personas.c.definition, conversations.c.details)
    return first_row(connection, query.where(conversations.c.id == conversation))


def conversation_turns(connection: Connection, conversation: int) -> list[Row]:
    """Its turns, in order."""
    columns = turns.c["position", "role", "text", "feeling", "state", "outcome", "reason"]
    query = (
        select(*columns, turns.c.answer_id.label("answer"))
        .where(turns.c.conversation_id == conversation)
        .order_by(turns.c.position)
    )
    return read_rows(connection, query)


def conversation_choices(connection: Connection) -> dict[str, list[str]]:
    """What the list can be narrowed to."""
    talked = select(conversations.c.respondent_id)
    names = select(respondents.c.name).where(respondents.c.id.in_(talked))
    simulator, outcome = conversations.c.simulator, conversations.c.outcome
    return {
        "respondent": values_of(connection, names.order_by(respondents.c.name)),
        "simulator": values_of(connection, select(simulator).distinct().order_by(simulator)),
        "outcome": values_of(connection, select(outcome).distinct().order_by(outcome)),
    }


def _conversations(*more: Any) -> Select[Any]:
    columns = ("key", "simulator", "language", "start", "final", "success_at", "failure_below")
    return select(
        conversations.c.id.label("conversation"),
        respondents.c.name.label("respondent"),
        personas.c.key.label("persona"),
        conversations.c.run_id.label("run"),
        imports.c.source,
        *conversations.c[*columns, "exchanges", "outcome", "reason", "ended_by"],
        *more,
    ).select_from(conversations.join(respondents).outerjoin(personas).outerjoin(imports))
