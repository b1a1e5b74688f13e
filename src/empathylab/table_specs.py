"""Exported tables: name, columns, types, meanings and query, said in one place each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    import polars as pl

ColumnType = Literal["text", "whole number", "number", "true or false"]
Source = TypeVar("Source")


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One column."""

    name: str
    type: ColumnType
    meaning: str
    """One sentence for the data dictionary."""
    values: str | None = None
    """Its values or range, where they are fixed; None: those that occur."""


def _column(type_: ColumnType, name: str, meaning: str, values: str | None = None) -> ColumnSpec:
    return ColumnSpec(name, type_, meaning, values)


text = functools.partial(_column, "text")
whole = functools.partial(_column, "whole number")
number = functools.partial(_column, "number")
flag = functools.partial(_column, "true or false")


@dataclass(frozen=True)
class TableSpec(Generic[Source]):
    """One table: `query` gives its rows from a source such as an open connection."""

    name: str
    meaning: str
    columns: tuple[ColumnSpec, ...]
    query: Callable[[Source], Iterable[Mapping[str, Any]] | pl.DataFrame] = field(repr=False)
    """Its rows, or a frame that may have further columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> ColumnSpec | None:
        """The column of that name; None where the table has none."""
        return next((column for column in self.columns if column.name == name), None)

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
        """The rows as a typed table; a value that a row does not hold is null."""
        import polars as pl

        listed = list(rows)
        return pl.DataFrame(
            [
                pl.Series(
                    column.name, [row.get(column.name) for row in listed], polars_type(column.type)
                )
                for column in self.columns
            ]
        )

    def read(self, source: Source) -> pl.DataFrame:
        """The table that the query finds in the source."""
        import polars as pl

        found = self.query(source)
        if not isinstance(found, pl.DataFrame):
            return self.frame(found)
        own = [pl.col(column.name).cast(polars_type(column.type)) for column in self.columns]
        return found.select(*own, pl.exclude(self.names))


def polars_type(name: ColumnType) -> Any:
    """The column type in Polars."""
    import polars as pl

    types: dict[ColumnType, Any] = {
        "text": pl.String,
        "whole number": pl.Int64,
        "number": pl.Float64,
        "true or false": pl.Boolean,
    }
    return types[name]
