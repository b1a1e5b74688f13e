"""Published files in the lab: what came from which file, once.

A file is known by its kind and name. The same content again changes nothing; other content under
the same name takes the place of what the file brought before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl
from sqlalchemy import Connection, delete, select, update

from empathylab.scales.published import PublishedAdministration, PublishedResults
from empathylab.store import schema
from empathylab.store.imports.bulk import insert_frames
from empathylab.store.inserts import add_respondent, insert_returning_ids, now

Change = Literal["added", "unchanged", "replaced", "new version", "skipped"]


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """What became of one file."""

    file: str
    holds: Literal["situations", "scales", "results", "people", "unknown"]
    change: Change
    count: int = 0
    """Situations, scales or administrations."""
    respondent: str | None = None
    scale: str | None = None
    invalid: Mapping[str, int] = field(default_factory=dict)
    """Administrations that cannot be used, by reason."""
    ignored: Mapping[str, int] = field(default_factory=dict)
    """Columns that were not understood, by reason."""
    note: str | None = None
    """Why a file was skipped, or what changed."""


def begin_import(
    connection: Connection, kind: str, source: str, fingerprint: str, summary: Mapping[str, Any]
) -> tuple[int | None, Change]:
    """The number of the import and what it is; no number where the lab has exactly this."""
    table = schema.imports
    known = connection.execute(
        select(table.c.id, table.c.fingerprint).where(
            table.c.kind == kind, table.c.source == source
        )
    ).one_or_none()
    row = {"fingerprint": fingerprint, "summary": dict(summary), "added_at": now()}
    if known is None:
        number = insert_returning_ids(connection, table, [{"kind": kind, "source": source, **row}])[
            0
        ]
        return number, "added"
    if known.fingerprint == fingerprint:
        return None, "unchanged"
    administrations = schema.administrations
    connection.execute(delete(administrations).where(administrations.c.import_id == known.id))
    connection.execute(update(table).where(table.c.id == known.id).values(**row))
    return int(known.id), "replaced"


def add_published(
    connection: Connection,
    results: PublishedResults,
    *,
    kind: Literal["model", "human"],
    scale_id: int,
    situation_ids: Sequence[int | None],
    import_id: int,
) -> None:
    """Adds the administrations of a file; `situation_ids` go with them one by one."""
    shared = {
        "respondent_id": add_respondent(connection, results.respondent, kind),
        "scale_id": scale_id,
        "answer_id": None,
        "counterpart": False,
        "mode": "imported",
        "import_id": import_id,
        "added_at": now(),
    }
    rows = [
        shared | _row(administration) | {"situation_id": situation}
        for administration, situation in zip(results.administrations, situation_ids, strict=True)
    ]
    ids = insert_returning_ids(connection, schema.administrations, rows)
    _add_values(connection, ids, results.administrations)


def _row(administration: PublishedAdministration) -> dict[str, Any]:
    return {
        "phase": administration.phase,
        "order_index": administration.order_index,
        "item_order": list(administration.item_order),
        "repeat": administration.repeat,
        "subject": administration.subject,
        "outcome": administration.outcome,
        "reason": administration.reason,
    }


def _add_values(
    connection: Connection, ids: Sequence[int], administrations: Sequence[PublishedAdministration]
) -> None:
    """Adds many small rows."""
    rows = [
        (number, item, float(value))
        for number, administration in zip(ids, administrations, strict=True)
        for item, value in administration.values.items()
    ]
    types = {"administration_id": pl.Int64, "item": pl.Int64, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema=types, orient="row")
    sum(insert_frames(connection, schema.item_answers, [frame]))
