"""Reading whole tables and joins as Polars frames."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from sqlalchemy import JSON, Boolean, Connection, DateTime, Float, Integer, Select, TypeDecorator
from sqlalchemy.types import TypeEngine


def read_frame(connection: Connection, query: Select[Any]) -> pl.DataFrame:
    """The query's rows; JSON columns come as JSON text."""
    columns = query.selected_columns
    result = connection.execute(query)
    schema = {
        column.key or str(number): _dtype(column.type) for number, column in enumerate(columns)
    }
    documents = [number for number, column in enumerate(columns) if _is_json(column.type)]
    rows: list[Any] = result.fetchall()  # type: ignore[assignment]
    if documents:
        rows = [_with_json_text(row, documents) for row in rows]
    return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")


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


def _is_json(kind: TypeEngine[Any]) -> bool:
    return isinstance(kind, JSON)


def _with_json_text(row: Any, positions: list[int]) -> tuple[Any, ...]:
    cells = list(row)
    for position in positions:
        if cells[position] is not None:
            cells[position] = json.dumps(cells[position], ensure_ascii=False)
    return tuple(cells)
