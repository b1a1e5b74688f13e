"""Reading whole tables and joins as Polars frames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    DateTime,
    Float,
    Integer,
    Select,
    String,
    TypeDecorator,
)
from sqlalchemy.types import TypeEngine

_AT_ONCE = 100_000


def read_frame(connection: Connection, query: Select[Any]) -> pl.DataFrame:
    """The query's rows; JSON columns come as JSON text."""
    return pl.concat(read_parts(connection, query))


def read_parts(connection: Connection, query: Select[Any]) -> Iterator[pl.DataFrame]:
    """The query's rows in parts, at least one.

    Only those of one part are Python objects, which take ten times the room of columns.
    """
    columns = query.selected_columns
    schema = {
        column.key or str(number): _dtype(column.type) for number, column in enumerate(columns)
    }
    documents = [number for number, column in enumerate(columns) if _is_json(column.type)]
    yield pl.DataFrame(schema=schema)
    result = connection.execute(query)
    if all(_comes_as_it_is(column.type) for column in columns) and result.cursor is not None:
        while rows := result.cursor.fetchmany(_AT_ONCE):
            yield pl.DataFrame(rows, schema=schema, orient="row")
        result.close()
        return
    for rows in result.partitions(_AT_ONCE):
        cells = [_with_json_text(row, documents) for row in rows] if documents else rows
        yield pl.DataFrame([tuple(row) for row in cells], schema=schema, orient="row")


def _dtype(kind: TypeEngine[Any]) -> pl.DataType | type[pl.DataType]:
    if isinstance(kind, TypeDecorator):
        kind = kind.impl_instance
    if isinstance(kind, Boolean):
        return pl.Boolean
    if isinstance(kind, Integer):
        return pl.Int64
    if isinstance(kind, Float):
        return pl.Float64
    if isinstance(kind, DateTime):
        return pl.Datetime("us", "UTC")
    return pl.String


def _comes_as_it_is(kind: TypeEngine[Any]) -> bool:
    """Whether the database driver gives what the column holds, on either database."""
    return isinstance(kind, Integer | Float | String)


def _is_json(kind: TypeEngine[Any]) -> bool:
    return isinstance(kind, JSON)


def _with_json_text(row: Any, positions: list[int]) -> tuple[Any, ...]:
    cells = list(row)
    for position in positions:
        if cells[position] is not None:
            cells[position] = json.dumps(cells[position], ensure_ascii=False)
    return tuple(cells)
