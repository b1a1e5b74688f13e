"""How much of what the lab has."""

from __future__ import annotations

from sqlalchemy import Connection, Table, func, select

from empathylab.store.schema import (
    administrations,
    conversations,
    respondents,
    responses,
    runs,
    situations,
    studies,
)

_TABLES: dict[str, Table] = {
    "respondents": respondents,
    "situations": situations,
    "replies": responses,
    "conversations": conversations,
    "administrations": administrations,
    "runs": runs,
    "studies": studies,
}


def lab_contents(connection: Connection) -> dict[str, int]:
    """By kind, how many the lab has."""
    parts = [
        select(func.count()).select_from(table).scalar_subquery().label(name)
        for name, table in _TABLES.items()
    ]
    return dict(connection.execute(select(*parts)).mappings().one())
