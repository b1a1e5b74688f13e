"""Many rows into a table at once: COPY on PostgreSQL, many rows per statement on SQLite."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from typing import Any

import polars as pl
from sqlalchemy import Connection, Table, func, select
from sqlalchemy.exc import DBAPIError

from empathylab.store.schema import responses, studies
from empathylab.store.schema.search import (
    FILL_AFTER,
    INSERT_TRIGGER,
    KEEP_WORDS,
    KEPT_WORDS_BYTES,
)

_ROWS_PER_STATEMENT = 200
_MANY = 20_000
_CACHE_KB = 128 * 1024
_WORDS_BYTES = 64 * 1024 * 1024
_INDEX_MEMORY = "256MB"
_LONGEST_WAIT = "2s"
_SQLITE_INDEXES = """
SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL
"""
_POSTGRES_INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = current_schema() AND tablename = %s
AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""
_POSTGRES_REFERENCES = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND conrelid = to_regclass(%s)
"""


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
    rows = frame.with_columns(moments).rows()
    marks = f"({', '.join('?' * frame.width)})"
    for start in range(0, len(rows), _ROWS_PER_STATEMENT):
        part = rows[start : start + _ROWS_PER_STATEMENT]
        values = ", ".join([marks] * len(part))
        statement = f"INSERT INTO {table.name} ({columns}) VALUES {values}"  # noqa: S608
        connection.exec_driver_sql(statement, tuple(chain.from_iterable(part)))


@contextlib.contextmanager
def loading(connection: Connection, table: Table, rows: int) -> Iterator[None]:
    """While about `rows` new rows come: what the database keeps beside them is made at the end.

    Row by row, indexes and PostgreSQL's checks of references take several times as long.
    """
    newest = connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
    many = rows >= _MANY and 2 * rows >= newest
    if connection.dialect.name == "postgresql":
        made_again = _drop_postgres_rules(connection, table) if many else []
        yield
        for statement in made_again:
            connection.exec_driver_sql(statement)
        return
    with _larger_cache(connection):
        indexes = _found(connection, _SQLITE_INDEXES, table) if many else {}
        for name in indexes:
            connection.exec_driver_sql(f"DROP INDEX {name}")
        with _filling_search(connection, newest) if table is responses else nullcontext():
            yield
        for statement in indexes.values():
            connection.exec_driver_sql(statement)


@contextlib.contextmanager
def _filling_search(connection: Connection, newest: int) -> Iterator[None]:
    """The words of responses that are newer go into SQLite's search index once all are there."""
    connection.exec_driver_sql("DROP TRIGGER response_search_insert")
    yield
    connection.exec_driver_sql(KEEP_WORDS, (_WORDS_BYTES,))
    connection.exec_driver_sql(FILL_AFTER, (newest,))
    connection.exec_driver_sql(KEEP_WORDS, (KEPT_WORDS_BYTES,))
    connection.exec_driver_sql(INSERT_TRIGGER)


@contextlib.contextmanager
def _larger_cache(connection: Connection) -> Iterator[None]:
    before = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
    connection.exec_driver_sql(f"PRAGMA cache_size = -{_CACHE_KB}")
    try:
        yield
    finally:
        connection.exec_driver_sql(f"PRAGMA cache_size = {before}")


def _drop_postgres_rules(connection: Connection, table: Table) -> list[str]:
    """Drops the table's indexes and references; gives the statements that make them again.

    Nobody else can use the table meanwhile. So they stay while a study runs, while others use the
    table for longer than a moment, and for a user who does not own it.
    """
    running = select(studies.c.id).where(studies.c.status == "open").limit(1)
    if connection.execute(running).first() is not None:
        return []
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_LONGEST_WAIT}'")
            indexes = _found(connection, _POSTGRES_INDEXES, table)
            references = _found(connection, _POSTGRES_REFERENCES, table)
            for name in references:
                connection.exec_driver_sql(f"ALTER TABLE {table.name} DROP CONSTRAINT {name}")
            for name in indexes:
                connection.exec_driver_sql(f"DROP INDEX {name}")
            connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")
            connection.exec_driver_sql(f"SET LOCAL maintenance_work_mem = '{_INDEX_MEMORY}'")
    except DBAPIError:
        return []
    return [
        *indexes.values(),
        *(
            f"ALTER TABLE {table.name} ADD CONSTRAINT {name} {definition}"
            for name, definition in references.items()
        ),
    ]


def _found(connection: Connection, query: str, table: Table) -> dict[str, str]:
    """The rules that the query finds for the table, by name."""
    return {row[0]: row[1] for row in connection.exec_driver_sql(query, (table.name,))}
