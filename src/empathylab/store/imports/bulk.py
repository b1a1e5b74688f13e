"""Many rows into a table at once: COPY on PostgreSQL, prepared rows on SQLite."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import polars as pl
from sqlalchemy import Connection, Table

from empathylab.store.schema import responses
from empathylab.store.schema.search import FILL_AFTER, INSERT_TRIGGER


def insert_frame(connection: Connection, table: Table, frame: pl.DataFrame) -> None:
    """Inserts the frame's rows; its columns are named as the table's, JSON columns hold text."""
    if not frame.height:
        return
    columns = ", ".join(frame.columns)
    if connection.dialect.name == "postgresql":
        cursor: Any = connection.connection.cursor()
        with cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN (FORMAT csv)") as copy:
            copy.write(frame.write_csv(include_header=False))
        return
    moments = pl.selectors.datetime().dt.strftime("%Y-%m-%d %H:%M:%S%.6f")
    marks = ", ".join("?" * frame.width)
    statement = f"INSERT INTO {table.name} ({columns}) VALUES ({marks})"  # noqa: S608
    connection.exec_driver_sql(statement, frame.with_columns(moments).rows())


@contextlib.contextmanager
def indexing_at_the_end(connection: Connection) -> Iterator[None]:
    """Many new responses: their words go into SQLite's search index once all are there.

    Reply by reply it takes six times as long. PostgreSQL gathers new words by itself.
    """
    if connection.dialect.name == "postgresql":
        yield
        return
    newest = f"SELECT coalesce(max(id), 0) FROM {responses.name}"  # noqa: S608
    before = connection.exec_driver_sql(newest).scalar_one()
    connection.exec_driver_sql("DROP TRIGGER response_search_insert")
    yield
    connection.exec_driver_sql(FILL_AFTER, (before,))
    connection.exec_driver_sql(INSERT_TRIGGER)
