"""What the lab's tables are made of: their kinds of columns, and the catalogue they stand in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Integer,
    MetaData,
    Text,
    TypeDecorator,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Moment(TypeDecorator[datetime]):
    """A time with a zone, kept as UTC; SQLite itself would forget the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# SQLite numbers rows by itself only where the key is a plain INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")
Document = JSON().with_variant(JSONB(), "postgresql")


def row_number() -> Column[int]:
    return Column("id", RowId, primary_key=True)


def refers_to(
    target: str, *, nullable: bool = False, index: bool = True, **options: Any
) -> Column[int]:
    name = f"{target[:-1] if target != 'studies' else 'study'}_id"
    reference = ForeignKey(f"{target}.id", ondelete="CASCADE")
    return Column(name, RowId, reference, nullable=nullable, index=index, **options)


def key_to(name: str, target: str) -> Column[int]:
    reference = ForeignKey(f"{target}.id", ondelete="CASCADE")
    return Column(name, RowId, reference, primary_key=True, autoincrement=False)


def text_column(name: str, *, nullable: bool = False, **options: Any) -> Column[str]:
    return Column(name, Text, nullable=nullable, **options)


def one_of(column: str, *values: str) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)
