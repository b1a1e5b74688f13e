"""Many rows into a table at once: COPY on PostgreSQL, many rows per statement on SQLite."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl
from sqlalchemy import Connection, Table, func, select
from sqlalchemy.exc import DBAPIError

from empathylab.compute.threads import ahead
from empathylab.store.listings.search_index import leave_for_later
from empathylab.store.schema import ratings, responses, studies
from empathylab.store.schema.search import POSTGRES_INDEX

_ROWS_PER_STATEMENT = 200
_MANY = 20_000
_CACHE_KB = 128 * 1024
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
# Without their statistics, the next command joins a table as if it were still empty. Those of a
# long text are of no use.
_POSTGRES_STATISTICS = {
    responses: "responses (id, situation_id, respondent_id, sample, outcome, import_id), "
    "situations (id, situation_set_id, key, emotion), respondents",
    ratings: "ratings, raters, arms",
}
_POSTGRES_REFERENCES = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND conrelid = to_regclass(%s)
"""


def insert_frames(
    connection: Connection, table: Table, frames: Iterable[pl.DataFrame]
) -> Iterator[int]:
    """Inserts the frames' rows; gives the number of rows after each frame.

    Their columns are named as the table's, JSON columns hold text. A frame is made while the one
    before it is written, so whatever makes them must not use the connection.
    """
    if connection.dialect.name == "postgresql":
        for columns, rows, content in ahead(_as_csv(frame) for frame in frames):
            cursor: Any = connection.connection.cursor()
            copied = f"COPY {table.name} ({columns}) FROM STDIN (FORMAT csv)"
            with cursor, cursor.copy(copied) as copy:
                copy.write(content)
            yield rows
        return
    for columns, rows, statements in ahead(_as_statements(frame) for frame in frames):
        for values, parameters in statements:
            statement = f"INSERT INTO {table.name} ({columns}) VALUES {values}"  # noqa: S608
            connection.exec_driver_sql(statement, parameters)
        yield rows


def _as_csv(frame: pl.DataFrame) -> tuple[str, int, str]:
    return ", ".join(frame.columns), frame.height, frame.write_csv(include_header=False)


def _as_statements(frame: pl.DataFrame) -> tuple[str, int, list[tuple[str, tuple[Any, ...]]]]:
    """Many rows per statement; a value that is the same in all rows is handed over once."""
    if not frame.height:
        return "", 0, []
    moments = pl.selectors.datetime().dt.strftime("%Y-%m-%d %H:%M:%S%.6f")
    frame = frame.with_columns(moments)
    first = frame.row(0)
    same = tuple(column.eq_missing(value).all() for column, value in zip(frame, first, strict=True))
    constants = [value for value, alike in zip(first, same, strict=True) if alike]
    others = [column.name for column, alike in zip(frame, same, strict=True) if not alike]
    rows = frame.select(others).rows() if others else [()] * frame.height
    statements = []
    for start in range(0, len(rows), _ROWS_PER_STATEMENT):
        part = rows[start : start + _ROWS_PER_STATEMENT]
        parameters = (*constants, *itertools.chain.from_iterable(part))
        statements.append((_values_clause(same, len(part)), parameters))
    return ", ".join(frame.columns), frame.height, statements


@functools.cache
def _values_clause(same: tuple[bool, ...], rows: int) -> str:
    """Numbered parameters: first those of the constant columns, then the others row by row."""
    others = itertools.count(sum(same) + 1)
    lines = []
    for _ in range(rows):
        constants = itertools.count(1)
        marks = (f"?{next(constants if alike else others)}" for alike in same)
        lines.append(f"({', '.join(marks)})")
    return ", ".join(lines)


@contextlib.contextmanager
def loading(connection: Connection, table: Table, rows: int) -> Iterator[None]:
    """While about `rows` new rows come: what the database keeps beside them is made at the end.

    Row by row, indexes and PostgreSQL's checks of references take several times as long. The index
    of words is made before the first search.
    """
    newest = connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
    many = rows >= _MANY and 2 * rows >= newest
    if connection.dialect.name == "postgresql":
        made_again = _drop_postgres_rules(connection, table) if many else []
        yield
        for statement in made_again:
            connection.exec_driver_sql(statement)
        if many and table in _POSTGRES_STATISTICS:
            statistics = f"ANALYZE (SKIP_LOCKED) {_POSTGRES_STATISTICS[table]}"
            connection.exec_driver_sql(statistics)
        return
    with _larger_cache(connection):
        indexes = _found(connection, _SQLITE_INDEXES, table) if many else {}
        for name in indexes:
            connection.exec_driver_sql(f"DROP INDEX {name}")
        if many and table is responses:
            leave_for_later(connection, newest)
        yield
        for statement in indexes.values():
            connection.exec_driver_sql(statement)


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

    The index of words is left to the first search: it takes longer than all the rest. Nobody else
    can use the table meanwhile. So all rules stay while a study runs, while others use the table
    for longer than a moment, and for a user who does not own it.
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
    indexes.pop(POSTGRES_INDEX, None)
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
