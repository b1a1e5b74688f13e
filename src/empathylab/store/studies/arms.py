"""Studies in the lab: their arms, their raters, and the raters' questionnaires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from empathylab.errors import InputError
from empathylab.store import schema
from empathylab.store.inserts import hash_of, insert_or_ignore, now
from empathylab.store.schema.statements import change_rows, ids_by


def add_study(
    connection: Connection, name: str, title: str, protocol: Mapping[str, Any], *, status: str
) -> int:
    """The lab's id of the study of that name; a study keeps the protocol it began with."""
    protocol_hash = hash_of(protocol)
    row = {
        "name": name,
        "version": 1,
        "title": title,
        "protocol": dict(protocol),
        "protocol_hash": protocol_hash,
        "status": status,
        "added_at": now(),
    }
    insert_or_ignore(connection, schema.studies, [row])
    table = schema.studies
    found = connection.execute(
        select(table.c.id, table.c.protocol_hash).where(table.c.name == name, table.c.version == 1)
    ).one()
    if found.protocol_hash != protocol_hash:
        raise InputError(
            "the lab already has a study with this name, but with another design or scale",
            got=name,
            remedy="Give this one another name.",
        )
    return int(found.id)


def add_arms(connection: Connection, study: int, arms: Mapping[str, int]) -> dict[str, int]:
    """The ids of the study's arms; `arms` gives each arm's respondent."""
    rows = [
        {"study_id": study, "name": name, "respondent_id": respondent}
        for name, respondent in arms.items()
    ]
    insert_or_ignore(connection, schema.arms, rows)
    return ids_by(connection, schema.arms.c.name, schema.arms.c.study_id == study)


def add_raters(
    connection: Connection, study: int, raters: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """The ids of the study's raters by name; a row has name, kind, details and seconds."""
    table = schema.raters
    query = select(table).where(table.c.study_id == study)
    stored = {row["name"]: row for row in connection.execute(query).mappings()}
    fresh = []
    for rater in raters:
        known = stored.get(rater["name"])
        if known is None:
            fresh.append({"study_id": study, "added_at": now(), **rater})
        elif any(known[field] != rater[field] for field in ("details", "seconds")):
            values = {"details": rater["details"], "seconds": rater["seconds"]}
            change_rows(connection, table, table.c.id == known["id"], **values)
    insert_or_ignore(connection, table, fresh)
    return ids_by(connection, table.c.name, table.c.study_id == study)
