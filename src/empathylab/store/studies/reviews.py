"""What researchers say of and to participants: reviews, messages, and what people wrote to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from empathylab.store import schema

Rows = Sequence[Any]
"""Rows of the lab, whose columns are attributes."""


def add_message(connection: Connection, slot: int, who: str, text: str, at: datetime) -> None:
    """Keeps a message until its receiver comes to a page."""
    row = {"place_id": slot, "who": who, "text": text, "sent_at": at}
    connection.execute(insert(schema.messages), [row])


def messages_to(connection: Connection, slot: int) -> Rows:
    """All messages to the holder of a slot, oldest first."""
    table = schema.messages
    return connection.execute(
        select(table).where(table.c.place_id == slot).order_by(table.c.id)
    ).all()


def unread_messages(connection: Connection, study: int) -> Rows:
    """The study's messages that nobody has read, oldest first: number, person and text."""
    table, slots = schema.messages, schema.slots
    query = (
        select(table.c.id, slots.c.person, table.c.text)
        .join(slots, slots.c.id == table.c.place_id)
        .where(slots.c.study_id == study, table.c.read_at.is_(None))
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def mark_messages_read(connection: Connection, numbers: Sequence[int], at: datetime) -> None:
    """Writes down when messages were read."""
    table = schema.messages
    unread = table.c.id.in_(numbers) & table.c.read_at.is_(None)
    connection.execute(update(table).where(unread).values(read_at=at))


def forget_reviews(connection: Connection, slot: int) -> None:
    """Deletes what was said to and of the holder of a slot, whose slot itself stays."""
    table, slots = schema.messages, schema.slots
    connection.execute(delete(table).where(table.c.place_id == slot))
    connection.execute(
        update(slots).where(slots.c.id == slot).values(review=None, review_reason=None)
    )
