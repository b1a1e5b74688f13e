"""The statements that modules of the store write most often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    bindparam,
    delete,
    func,
    select,
    update,
)

Rows = Sequence[Any]
"""Rows of the lab, whose columns are attributes."""
Rule = ColumnElement[bool]


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds the rows; there may be none."""
    if rows:
        connection.execute(table.insert(), list(rows))


def update_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Changes rows by their `id`; all name the same columns, and there may be none."""
    if rows:
        names = [name for name in rows[0] if name != "id"]
        statement = update(table).where(table.c.id == bindparam("row"))
        values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
        given = [{"row": row["id"], **{f"new_{name}": row[name] for name in names}} for row in rows]
        connection.execute(statement.values(values), given)


def ids_by(connection: Connection, column: Column[Any], *rules: Rule) -> dict[Any, int]:
    """By the column's values, the ids of the rows that meet the rules, in the table's order."""
    number = column.table.c.id
    query = select(column, number).where(*rules).order_by(number)
    return {value: int(row) for value, row in connection.execute(query)}


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
