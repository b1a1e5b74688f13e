"""Results of analyses that the lab keeps: a bounded number of them, the oldest go first."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select

from empathylab.store.inserts import now
from empathylab.store.lab import Lab
from empathylab.store.schema import cached_results as table

MOST_BYTES = 64_000_000
"""Of all results together."""


def read_result(lab: Lab, key: str) -> bytes | None:
    """The content that was kept under the key, or None."""
    with lab.reading() as connection:
        found = connection.execute(select(table.c.content).where(table.c.key == key)).scalar()
    return None if found is None else bytes(found)


def save_result(lab: Lab, key: str, topic: str, content: bytes) -> None:
    """Keeps the content under the key, in place of any before; makes room where it is needed."""
    if len(content) > MOST_BYTES // 4:
        return
    with lab.writing() as connection:
        connection.execute(delete(table).where(table.c.key == key))
        row = {"key": key, "topic": topic, "content": content, "size": len(content)}
        connection.execute(table.insert(), [row | {"made_at": now()}])
        _make_room(connection)


def clear_results(connection: Connection) -> None:
    """Deletes all results: they hold data of a person who is being deleted or excluded."""
    connection.execute(delete(table))


def _make_room(connection: Connection) -> None:
    total = connection.execute(select(func.coalesce(func.sum(table.c.size), 0))).scalar_one()
    if total <= MOST_BYTES:
        return
    oldest = connection.execute(select(table.c.key, table.c.size).order_by(table.c.made_at)).all()
    for row in oldest:
        connection.execute(delete(table).where(table.c.key == row.key))
        total -= row.size
        if total <= MOST_BYTES:
            return
