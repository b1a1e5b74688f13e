"""Adding things to the lab; adding what is already there changes nothing."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Insert, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from empathylab.errors import InputError
from empathylab.scales import Scale, scale_to_dict
from empathylab.situations import Situation, SituationSet
from empathylab.store import schema
from empathylab.store.schema.statements import ids_by, insert_rows

Row = Mapping[str, Any]
TEXT_FIELDS = (
    "text",
    "emotion",
    "valence",
    "factor",
    "topic",
    "utterance",
    "counterpart",
    "title",
)
"""A situation's fields that the column of the same name holds as they are."""
SET_FIELDS = ("version", "title", "language", "licence", "validated", "description")
"""The same for a set."""


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


def insert_or_ignore(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Inserts the rows that break no unique rule; the others are already there."""
    if not rows:
        return
    connection.execute(_insert_or_ignore(connection.dialect.name, table), list(rows))


@functools.cache
def _insert_or_ignore(dialect: str, table: Table) -> Insert:
    if dialect == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def insert_returning_ids(connection: Connection, table: Table, rows: Sequence[Row]) -> list[int]:
    """Inserts all rows and gives their ids, in the same order."""
    if not rows:
        return []
    statement = table.insert().returning(table.c.id, sort_by_parameter_order=True)
    return list(connection.execute(statement, list(rows)).scalars())


def add_situation_set(connection: Connection, chosen: SituationSet) -> dict[str, int]:
    """The lab's ids of the set's situations, by the set's own ids."""
    known = _known_set(connection, chosen)
    if known is None:
        insert_or_ignore(
            connection,
            schema.situation_sets,
            [
                {
                    "name": chosen.id,
                    **{name: getattr(chosen, name) for name in (*SET_FIELDS, "fingerprint")},
                    "added_at": now(),
                }
            ],
        )
        known = _known_set(connection, chosen)
        rows = [
            {
                "situation_set_id": known,
                "key": situation.id,
                **{name: getattr(situation, name) for name in TEXT_FIELDS},
                "context": list(situation.context) or None,
                "details": _details(situation),
            }
            for situation in chosen
        ]
        insert_or_ignore(connection, schema.situations, rows)
    table = schema.situations
    return ids_by(connection, table.c.key, table.c.situation_set_id == known)


def _details(situation: Situation) -> dict[str, object] | None:
    known = {"tags": list(situation.tags), "norms": situation.norms and dict(situation.norms)}
    return {name: value for name, value in known.items() if value} or None


def _known_set(connection: Connection, chosen: SituationSet) -> int | None:
    table = schema.situation_sets
    query = select(table.c.id, table.c.fingerprint).where(
        table.c.name == chosen.id, table.c.version == chosen.version
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    if row.fingerprint != chosen.fingerprint:
        raise InputError(
            f"the lab already has different texts in version {chosen.version} of this set",
            where=f"situation set {chosen.id}",
            remedy="Raise the set's version, give it another id, or use another lab with --lab.",
        )
    return int(row.id)


def add_respondent(
    connection: Connection, name: str, kind: str, details: Mapping[str, Any] | None = None
) -> int:
    """The lab's id of the respondent of that name."""
    row = {"name": name, "kind": kind, "details": dict(details or {}), "added_at": now()}
    insert_or_ignore(connection, schema.respondents, [row])
    table = schema.respondents
    query = select(table.c.id, table.c.kind).where(table.c.name == name)
    found = connection.execute(query).one()
    if found.kind != kind:
        raise InputError(
            f"the respondent is a {found.kind} in this lab", got=name, remedy="Use another name."
        )
    return int(found.id)


def add_scale(connection: Connection, scale: Scale) -> int:
    """The lab's id of exactly this scale, wording included."""
    definition = scale_to_dict(scale)
    fingerprint = hash_of(definition)
    row = {
        "name": scale.id,
        "version": scale.version,
        "fingerprint": fingerprint,
        "definition": definition,
        "added_at": now(),
    }
    insert_or_ignore(connection, schema.scales, [row])
    table = schema.scales
    query = select(table.c.id).where(
        table.c.name == scale.id,
        table.c.version == scale.version,
        table.c.fingerprint == fingerprint,
    )
    return int(connection.execute(query).scalar_one())


def add_item_answers(
    connection: Connection,
    answered: Iterable[tuple[int, Mapping[int, float]]],
    entropies: Mapping[int, Mapping[int, float]] | None = None,
) -> None:
    """Adds the item answers of administrations, given as (administration id, {item: value}).

    `entropies` hold, by administration id, how undecided the answers were, where that is known.
    """
    known = entropies or {}
    rows = [
        {
            "administration_id": administration,
            "item": item,
            "value": float(value),
            "entropy": known.get(administration, {}).get(item),
        }
        for administration, values in answered
        for item, value in values.items()
    ]
    insert_rows(connection, schema.item_answers, rows)


def hash_of(content: Any) -> str:
    """A hash of anything JSON can write, the same on every machine."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
