"""Reviews of participants, messages to them, and their comments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, insert, select

from empathylab.store import schema
from empathylab.store.schema.statements import Rows, change_rows, remove_rows


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
        .select_from(table.join(slots))
        .where(slots.c.study_id == study, table.c.read_at.is_(None))
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def mark_messages_read(connection: Connection, numbers: Sequence[int], at: datetime) -> None:
    """Writes down when messages were read."""
    table = schema.messages
    unread = table.c.id.in_(numbers) & table.c.read_at.is_(None)
    change_rows(connection, table, unread, read_at=at)


def forget_reviews(connection: Connection, slot: int) -> None:
    """Deletes what was said to and of the holder of a slot, whose slot itself stays."""
    table, slots = schema.messages, schema.slots
    remove_rows(connection, table, table.c.place_id == slot)
    change_rows(connection, slots, slots.c.id == slot, review=None, review_reason=None)
