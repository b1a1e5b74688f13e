"""Recipients of replies: what released files say of them, and what a lab's own studies asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import Connection, delete, select, update

from empathylab.errors import InputError
from empathylab.store import schema
from empathylab.store.imports.files import Change, begin_import
from empathylab.store.inserts import hash_of
from empathylab.store.lab import Lab
from empathylab.store.ratings import Study, lab_studies
from empathylab.store.studies.arms import add_raters, add_study
from empathylab.store.studies.records import real_people

KIND = "recipients"
CONDITIONS = ("response", "label", "replier", "reply")
BEFORE = " before"
"""Stands after the name of an outcome, for its value before the reply."""
_RECEIVED = "received"


def store_recipients(
    lab: Lab,
    name: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str,
    source: str,
    licence: str,
    outcomes: Sequence[str],
) -> Change:
    """Stores a released file as a closed study; what it held before is replaced.

    A row has `participant`, the names of conditions and outcomes with their values, and `details`
    about the participant.
    """
    by_person: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_person.setdefault(str(row["participant"]), []).append(row)
    fingerprint = hash_of([[dict(row) for row in rows], list(outcomes), title, licence])
    summary = {"study": name, "recipients": len(by_person), "replies": len(rows)}
    with lab.writing() as connection:
        held = connection.execute(
            select(schema.studies).where(schema.studies.c.name == name)
        ).first()
        if held is not None and KIND not in held.protocol:
            raise InputError(
                "the lab holds another study of this name",
                where=source,
                got=name,
                remedy="Give this one another --name.",
            )
        number, change = begin_import(
            connection, KIND, name, fingerprint, summary | {"source": source, "licence": licence}
        )
        if number is None:
            return change
        study = _study(connection, held, name, title, outcomes)
        connection.execute(delete(schema.raters).where(schema.raters.c.study_id == study))
        add_raters(
            connection,
            study,
            [
                {
                    "name": person,
                    "kind": "person",
                    "seconds": None,
                    "details": {
                        **given[0].get("details", {}),
                        "marks": {_RECEIVED: [_received(row) for row in given]},
                    },
                }
                for person, given in by_person.items()
            ],
        )
    return change


def _study(
    connection: Connection, held: Any, name: str, title: str, outcomes: Sequence[str]
) -> int:
    protocol = {"design": "between", "dimensions": [], KIND: {"outcomes": list(outcomes)}}
    if held is None:
        return add_study(connection, name, title, protocol, status="closed")
    table = schema.studies
    values = {"protocol": protocol, "protocol_hash": hash_of(protocol), "title": title}
    connection.execute(update(table).where(table.c.id == held.id).values(**values))
    return int(held.id)


def _received(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("participant", "details")}


def recipient_studies(lab: Lab) -> dict[str, Study]:
    """The studies with recipients, by name."""
    with lab.reading() as connection:
        table = schema.studies
        imported = [
            row.name
            for row in connection.execute(select(table.c.name, table.c.protocol))
            if KIND in row.protocol
        ]
    return {name: study for name, study in lab_studies(lab).items() if name in imported}


def recipients_frame(lab: Lab, study: str) -> pl.DataFrame:
    """One row per participant and reply: conditions, outcomes, and values before the reply."""
    with lab.reading() as connection:
        rows = received_replies(connection, _number(connection, study))
    return pl.DataFrame(rows, infer_schema_length=None)


def _number(connection: Connection, study: str) -> int:
    table = schema.studies
    query = select(table.c.id).where(table.c.name == study)
    return int(connection.execute(query.order_by(table.c.version.desc()).limit(1)).scalar_one())


def received_replies(connection: Connection, study: int) -> list[dict[str, Any]]:
    """The study's participants with the replies that they got, as `recipients_frame` gives them."""
    table = schema.raters
    query = select(table.c.name, table.c.details).where(table.c.study_id == study, real_people())
    return [
        {"participant": row.name, **received}
        for row in connection.execute(query.order_by(table.c.id))
        for received in row.details.get("marks", {}).get(_RECEIVED, ())
    ]
