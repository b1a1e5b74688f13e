"""How much of what the lab has."""

from __future__ import annotations

from sqlalchemy import Connection, Table, func, select

from empathylab.store.administrations import with_respondents
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
    """By kind, how many the lab has; what raters say about themselves is part of their study."""
    counts = {name: select(func.count()).select_from(table) for name, table in _TABLES.items()}
    counts["administrations"] = with_respondents(select(func.count()))
    parts = [query.scalar_subquery().label(name) for name, query in counts.items()]
    return dict(connection.execute(select(*parts)).mappings().one())
