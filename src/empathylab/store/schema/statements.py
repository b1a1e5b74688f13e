"""The statements that modules of the store write most often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, func, select, update

Rows = Sequence[Any]
"""Rows of the lab, whose columns are attributes."""
Rule = ColumnElement[bool]


def change_rows(connection: Connection, table: Table, *rules: Rule, **values: Any) -> int:
    """How many rows meet the rules; their columns have these values now."""
    return connection.execute(update(table).where(*rules).values(**values)).rowcount


def remove_rows(connection: Connection, table: Table, *rules: Rule) -> int:
    """How many rows met the rules and are deleted now."""
    return connection.execute(delete(table).where(*rules)).rowcount


def count_rows(connection: Connection, table: Table, *rules: Rule) -> int:
    """How many rows meet the rules."""
    query = select(func.count()).select_from(table).where(*rules)
    return int(connection.execute(query).scalar_one())


def newest_rows(
    connection: Connection, query: Select[Any], table: Table, *, limit: int, offset: int
) -> tuple[int, Rows]:
    """How many rows the query has, and some of them, the newest of the table first."""
    total = query.with_only_columns(func.count(), maintain_column_froms=True)
    part = query.order_by(table.c.id.desc()).limit(limit).offset(offset)
    return int(connection.execute(total).scalar_one()), connection.execute(part).all()
