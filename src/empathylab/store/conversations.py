"""Conversations in the lab: adding those of files, and reading all of them as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl
from sqlalchemy import Connection, delete, func, select

from empathylab.store import schema
from empathylab.store.imports.files import Change, begin_import
from empathylab.store.inserts import (
    add_respondent,
    hash_of,
    insert_or_ignore,
    insert_returning_ids,
    now,
)
from empathylab.store.lab import Lab
from empathylab.store.ratings import ratings_frame
from empathylab.store.schema.statements import insert_rows

Speaker = Literal["person", "respondent"]


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One message of an imported conversation."""

    role: Speaker
    text: str
    feeling: float | None = None
    state: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation as a file tells it."""

    key: str
    respondent: str
    turns: tuple[SpokenTurn, ...]
    kind: Literal["model", "human"] = "model"
    simulator: str | None = None
    persona: Mapping[str, Any] | None = None
    """The persona's definition, with `id`, `collection` and `language`."""
    language: str | None = None
    start: float | None = None
    final: float | None = None
    success_at: float | None = None
    failure_below: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exchanges(self) -> int:
        """Replies of the respondent."""
        return sum(turn.role == "respondent" for turn in self.turns)


def add_persona(connection: Connection, definition: Mapping[str, Any]) -> int:
    """The lab's id of exactly this persona."""
    table = schema.personas
    known = {name: str(definition[name]) for name in ("collection", "language")}
    known |= {"key": str(definition["id"]), "fingerprint": hash_of(dict(definition))}
    row = known | {
        "definition": dict(definition),
        "validated": bool(definition.get("validated", False)),
        "added_at": now(),
    }
    insert_or_ignore(connection, table, [row])
    query = select(table.c.id).where(*(table.c[name] == value for name, value in known.items()))
    return int(connection.execute(query).scalar_one())


def store_conversations(
    lab: Lab, kind: str, source: str, conversations: Sequence[ImportedConversation]
) -> Change:
    """What became of the file: the same content again changes nothing, other content replaces."""
    fingerprint = hash_of([_content(conversation) for conversation in conversations])
    summary = {"conversations": len(conversations)}
    with lab.writing() as connection:
        import_id, change = begin_import(connection, kind, source, fingerprint, summary)
        if import_id is None:
            return change
        table = schema.conversations
        connection.execute(delete(table).where(table.c.import_id == import_id))
        kinds = {conversation.respondent: conversation.kind for conversation in conversations}
        respondents = {name: add_respondent(connection, name, who) for name, who in kinds.items()}
        rows = [
            _row(connection, conversation, import_id, respondents[conversation.respondent])
            for conversation in conversations
        ]
        ids = insert_returning_ids(connection, table, rows)
        turns = [
            {
                "conversation_id": number,
                "position": position,
                "role": turn.role,
                "text": turn.text,
                "feeling": turn.feeling,
                "state": dict(turn.state) if turn.state else None,
                "outcome": "valid",
            }
            for number, stored in zip(ids, conversations, strict=True)
            for position, turn in enumerate(stored.turns)
        ]
        insert_rows(connection, schema.turns, turns)
        return change


def _content(conversation: ImportedConversation) -> list[Any]:
    turns = [[turn.role, turn.text, turn.feeling, turn.state] for turn in conversation.turns]
    who = ("key", "respondent", "kind", "simulator", "persona", "language")
    result = ("start", "final", "success_at", "failure_below")
    return [*(getattr(conversation, name) for name in (*who, *result)), turns]


def _row(
    connection: Connection, conversation: ImportedConversation, import_id: int, respondent_id: int
) -> dict[str, Any]:
    same = ("key", "simulator", "language", "start", "final", "success_at", "failure_below")
    persona = conversation.persona
    no_reply = "the conversation has no reply of the respondent"
    return {
        **{name: getattr(conversation, name) for name in (*same, "exchanges")},
        "import_id": import_id,
        "respondent_id": respondent_id,
        "persona_id": None if persona is None else add_persona(connection, persona),
        "sample": 0,
        "outcome": "completed" if conversation.exchanges else "no_reply",
        "reason": None if conversation.exchanges else no_reply,
        "details": dict(conversation.details) or None,
        "added_at": now(),
    }


def has_conversations(lab: Lab) -> bool:
    """Whether the lab has a conversation."""
    with lab.reading() as connection:
        return connection.execute(select(schema.conversations.c.id).limit(1)).first() is not None


def conversations_frame(lab: Lab) -> pl.DataFrame:
    """One row per conversation, in the order in which they were added."""
    table, runs, imports = schema.conversations, schema.runs, schema.imports
    personas, respondents = schema.personas, schema.respondents
    query = (
        select(
            table.c.id.label("conversation"),
            table.c.key,
            table.c.run_id.label("run"),
            imports.c.source,
            respondents.c.name.label("respondent"),
            respondents.c.kind,
            table.c.simulator,
            personas.c.collection,
            personas.c.key.label("persona"),
            personas.c.definition,
            *table.c["language", "sample", "start", "final", "success_at", "failure_below"],
            *table.c["exchanges", "outcome", "reason", "ended_by"],
            runs.c.settings.label("run_settings"),
            func.coalesce(runs.c.last_used_at, runs.c.started_at, table.c.added_at).label("used"),
        )
        .select_from(table.join(respondents).outerjoin(personas).outerjoin(imports))
        .outerjoin(runs, runs.c.id == table.c.run_id)
        .order_by(table.c.id)
    )
    return lab.frame(query)


def turns_frame(lab: Lab) -> pl.DataFrame:
    """Every turn of every conversation, in order."""
    table = schema.turns
    query = select(
        table.c.conversation_id.label("conversation"),
        *table.c["position", "role", "text", "feeling", "state", "outcome", "reason"],
    ).order_by(table.c.conversation_id, table.c.position)
    return lab.frame(query)


def persona_definitions(lab: Lab, collection: str) -> list[dict[str, Any]]:
    """The personas of that collection, the newest of each id and language."""
    table = schema.personas
    query = (
        select(table.c.key, table.c.language, table.c.definition)
        .where(table.c.collection == collection)
        .order_by(table.c.id)
    )
    with lab.reading() as connection:
        newest = {(row.key, row.language): row.definition for row in connection.execute(query)}
    return list(newest.values())


def persona_collections(lab: Lab) -> list[str]:
    """The names of the collections whose personas the lab has."""
    table = schema.personas
    query = select(table.c.collection).distinct().order_by(table.c.collection)
    with lab.reading() as connection:
        return list(connection.execute(query).scalars())


def rated_conversations(lab: Lab, study: str) -> pl.DataFrame:
    """A study's ratings of replies that were made from conversations, with the exchange."""
    responses = schema.responses
    query = select(responses.c.id, responses.c.details).where(responses.c.details.is_not(None))
    with lab.reading() as connection:
        rows = [
            (int(row.id), int(row.details["conversation"]), int(row.details["exchange"]))
            for row in connection.execute(query)
            if isinstance(row.details, dict) and "conversation" in row.details
        ]
    names = {"response": pl.Int64, "conversation": pl.Int64, "exchange": pl.Int64}
    known = pl.DataFrame(rows, schema=names, orient="row")
    return ratings_frame(lab, study).join(known, on="response")
