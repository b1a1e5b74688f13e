"""Recipients of replies: what released files say of them, and what a lab's own studies asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import Connection, delete, select

from empathylab.errors import InputError
from empathylab.store import schema
from empathylab.store.frames import read_frame
from empathylab.store.imports.files import Change, begin_import
from empathylab.store.inserts import hash_of
from empathylab.store.judgements import lab_judgements
from empathylab.store.lab import Lab
from empathylab.store.ratings import Study, lab_studies
from empathylab.store.studies.arms import add_raters, add_study
from empathylab.store.studies.records import change_study, real_people

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
        existing = connection.execute(
            select(schema.studies).where(schema.studies.c.name == name)
        ).first()
        if existing is not None and KIND not in existing.protocol:
            raise InputError(
                "the lab already has a different study with this name",
                where=source,
                got=name,
                remedy="Give this one another --name.",
            )
        number, change = begin_import(
            connection, KIND, name, fingerprint, summary | {"source": source, "licence": licence}
        )
        if number is None:
            return change
        study = _study(connection, existing, name, title, outcomes)
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
    connection: Connection, existing: Any, name: str, title: str, outcomes: Sequence[str]
) -> int:
    protocol = {"design": "between", "dimensions": [], KIND: {"outcomes": list(outcomes)}}
    if existing is None:
        return add_study(connection, name, title, protocol, status="closed")
    values = {"protocol": protocol, "protocol_hash": hash_of(protocol), "title": title}
    change_study(connection, existing.id, **values)
    return int(existing.id)


def _received(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("participant", "details")}


def recipient_studies(lab: Lab) -> dict[str, Study]:
    """The studies with recipients, by name."""
    with lab.reading() as connection:
        table = schema.studies
        rows = connection.execute(select(table.c.name, table.c.protocol)).all()
    known = {row.name for row in rows if KIND in row.protocol or row.protocol.get("live")}
    return {
        name: study for name, study in lab_studies(lab).items() if name.partition("@")[0] in known
    }


def imported_replies(connection: Connection, study: int) -> list[dict[str, Any]]:
    """The rows that a released file brought, with their participants."""
    table = schema.raters
    query = select(table.c.name, table.c.details).where(table.c.study_id == study, real_people())
    return [
        {"participant": row.name, **received}
        for row in connection.execute(query.order_by(table.c.id))
        for received in row.details.get("marks", {}).get(_RECEIVED, ())
    ]


def ratings_of_replies(lab: Lab, study: str) -> pl.DataFrame:
    """What people in closed studies and judges say of the study's replies, long.

    Columns: `reply` (the conversation's number), `rater`, `rater_kind`, `dimension`, `rating`.
    """
    responses, ratings = schema.responses, schema.ratings
    raters, studies = schema.raters, schema.studies
    with lab.reading() as connection:
        rows = connection.execute(
            select(responses.c.id, responses.c.details).where(responses.c.details.is_not(None))
        ).all()
        replies = {
            int(row.id): str(row.details[_RECEIVED]["reply"])
            for row in rows
            if isinstance(row.details, dict) and _RECEIVED in row.details
            if row.details[_RECEIVED]["study"] == study
        }
        query = (
            select(
                ratings.c.response_id.label("response"),
                raters.c.name.label("rater"),
                raters.c.kind.label("rater_kind"),
                ratings.c.dimension,
                ratings.c.value.label("rating"),
            )
            .select_from(ratings.join(raters).join(studies))
            .where(studies.c.status == "closed", real_people())
            .order_by(ratings.c.id)
        )
        people = read_frame(connection, query)
    judged = lab_judgements(lab).filter(
        pl.col("outcome") == "valid",
    )
    judged = judged.select(
        "response",
        pl.col("judge").alias("rater"),
        pl.lit("model").alias("rater_kind"),
        "dimension",
        pl.col("value").alias("rating"),
    )
    columns = {"response": pl.Int64, "reply": pl.String}
    known = pl.DataFrame(list(replies.items()), schema=columns, orient="row")
    both = pl.concat([people, judged], how="vertical_relaxed")
    return both.join(known, on="response", maintain_order="left").drop("response")
