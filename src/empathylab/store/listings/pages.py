"""A page of a long list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

Row = Mapping[str, Any]

MOST_COUNTED = 10_000
"""Rows beyond these are not counted: counting would take longer than reading the page."""


MOST_CHOICES = 500
"""Of a list to choose from."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Some rows of a list, and how long the list is."""

    rows: Sequence[Row]
    total: int
    """At most `MOST_COUNTED` + 1, which stands for more."""


def read_page(connection: Connection, query: Select[Any], *, offset: int, limit: int) -> Listing:
    """The rows of the query from `offset` on; counted where they do not end there."""
    rows = read_rows(connection, query.offset(offset).limit(limit))
    total = offset + len(rows)
    if len(rows) == limit or (offset and not rows):
        total = count_rows(connection, query)
    return Listing(rows, total)


def count_rows(connection: Connection, query: Select[Any]) -> int:
    """How many rows the query has, up to `MOST_COUNTED` + 1."""
    counted = query.order_by(None).limit(MOST_COUNTED + 1).subquery()
    return int(connection.execute(select(func.count()).select_from(counted)).scalar_one())


def read_rows(connection: Connection, query: Select[Any]) -> list[Row]:
    """All rows of the query."""
    return [dict(row) for row in connection.execute(query).mappings()]


def first_row(connection: Connection, query: Select[Any]) -> Row | None:
    """The only row of the query, or None."""
    return next(iter(read_rows(connection, query.limit(1))), None)


def equal_where_given(values: Mapping[Any, Any]) -> list[ColumnElement[bool]]:
    """The rules that columns have these values; an empty value sets no rule."""
    return [column == value for column, value in values.items() if value not in ("", None)]


def values_of(connection: Connection, query: Select[Any]) -> list[str]:
    """The values of the query's only column, for a list to choose from."""
    values = connection.execute(query.limit(MOST_CHOICES)).scalars()
    return [str(value) for value in values if value]
