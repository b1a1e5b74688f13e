"""Events that researchers are notified of, and how far each notification is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, select

from empathylab.store import schema
from empathylab.store.inserts import insert_or_ignore
from empathylab.store.schema.statements import Rows, change_rows, newest_rows

Channel = Literal["email", "webhook"]
CHANNELS: tuple[Channel, ...] = ("email", "webhook")


def add_alerts(
    connection: Connection,
    study: int,
    events: Sequence[tuple[str, str, Mapping[str, Any]]],
    channels: Collection[Channel],
    at: datetime,
) -> None:
    """Keeps events (kind, key, details) for each channel; the same event again changes nothing."""
    rows = [
        {
            "study_id": study,
            "kind": kind,
            "key": key,
            "channel": channel,
            "details": dict(details),
            "at": at,
            "state": "pending" if channel in channels else "off",
            "next_at": at,
        }
        for kind, key, details in events
        for channel in CHANNELS
    ]
    insert_or_ignore(connection, schema.alerts, rows)


def claim_alerts(
    connection: Connection, study: int, channel: Channel, now: datetime, until: datetime
) -> Rows:
    """The alerts that are due; no other process takes them before `until`."""
    table = schema.alerts
    due = (
        (table.c.study_id == study)
        & (table.c.channel == channel)
        & (table.c.state == "pending")
        & (table.c.next_at <= now)
    )
    rows = connection.execute(select(table).where(due).order_by(table.c.id)).all()
    claim = {"next_at": until, "attempts": table.c.attempts + 1}
    return [
        row for row in rows if change_rows(connection, table, table.c.id == row.id, due, **claim)
    ]


def change_alerts(connection: Connection, numbers: Sequence[int], **values: Any) -> None:
    """Changes columns of these alerts."""
    change_rows(connection, schema.alerts, schema.alerts.c.id.in_(numbers), **values)


def listed_alerts(
    connection: Connection, study: int, *, limit: int, offset: int
) -> tuple[int, Rows]:
    """How many alerts there are, and some of them, newest first."""
    table = schema.alerts
    query = select(table).where(table.c.study_id == study)
    return newest_rows(connection, query, table, limit=limit, offset=offset)


def comments_after(
    connection: Connection, study: int, steps: Sequence[str], answer: int
) -> list[tuple[int, int, str]]:
    """Comments of participants that were stored after this answer: its id, the slot, the words."""
    pages, slots = schema.page_answers, schema.slots
    comment = pages.c.given["comment"].as_string()
    query = (
        select(pages.c.id, pages.c.place_id, comment)
        .select_from(pages.join(slots))
        .where(
            slots.c.study_id == study,
            slots.c.world == "person",
            pages.c.step.in_(steps),
            pages.c.id > answer,
            comment != "",
        )
        .order_by(pages.c.id)
    )
    return [(int(number), int(slot), text) for number, slot, text in connection.execute(query)]


def stopped_for_safety(connection: Connection, study: int) -> list[int]:
    """The slots of participants whose part ended for their safety."""
    table = schema.slots
    query = select(table.c.id).where(
        table.c.study_id == study, table.c.world == "person", table.c.outcome == "safety"
    )
    return list(connection.execute(query).scalars())
