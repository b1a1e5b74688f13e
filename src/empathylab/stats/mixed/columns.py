"""Columns of a table as a mixed model reads them: complete rows, ratings, numbers and levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.notes import Note, note

_MAX_VALUE = 1e100
"""Numbers beyond overflow when they are squared and summed."""


def level_codes(column: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """Each value's number, and the values in the order of an Enum or of appearance."""
    if isinstance(column.dtype, pl.Enum):
        physical = column.to_physical().to_numpy()
        kept, codes = np.unique(physical, return_inverse=True)
        names = column.dtype.categories
        return codes.astype(np.int64), tuple(names[int(item)] for item in kept)
    if isinstance(column.dtype, pl.Categorical):
        column = column.cast(pl.String)
    seen = pl.DataFrame({"value": column.unique(maintain_order=True)}).with_row_index("code")
    joined = pl.DataFrame({"value": column}).join(
        seen, on="value", how="left", maintain_order="left"
    )
    return joined["code"].cast(pl.Int64).to_numpy(), tuple(map(_written, seen["value"].to_list()))


def _written(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def complete_rows(frame: pl.DataFrame, where: str) -> tuple[pl.DataFrame, dict[str, int]]:
    """Rows without a missing value, and how many others there were, by the column at fault."""
    dropped: dict[str, int] = {}
    left = frame
    for name in frame.columns:
        column = pl.col(name)
        there = column.is_not_null()
        if frame[name].dtype.is_float():
            there = there & column.is_not_nan()
        kept = left.filter(there)
        if kept.height < left.height:
            dropped[name] = left.height - kept.height
        left = kept
    if left.is_empty():
        lost = "; ".join(f"{count} rows: {name!r} is missing" for name, count in dropped.items())
        raise InputError(
            f"no complete row is left ({lost})" if lost else "the table has no rows",
            where=where,
            remedy="Check the file and the columns that the formula names.",
        )
    return left, dropped


def category_codes(
    column: pl.Series, levels: Sequence[str | int | float] | None, notes: list[Note]
) -> tuple[Codes, tuple[str, ...]]:
    """Category numbers and names, lowest first."""
    if levels is None and isinstance(column.dtype, pl.Enum):
        levels = column.dtype.categories.to_list()
    if levels is None:
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            raise InputError(
                f"the order of the labels in {column.name!r} is not known",
                got=column.unique(maintain_order=True).to_list()[:12],
                remedy="Name all of them as `levels`, lowest first.",
            )
        values = column.to_numpy()
        if column.dtype.is_float() and np.isinf(values).any():
            raise InputError(
                f"{column.name!r} contains an infinite number", remedy="Correct the column."
            )
        categories, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), tuple(_written(item) for item in categories.tolist())
    order = [_written(level) for level in levels]
    if len(set(order)) < len(order):
        raise InputError("a level is named twice", got=list(levels), remedy="Name each once.")
    codes, names = level_codes(column)
    for name in names:
        if name not in order:
            raise InputError(
                f"{column.name!r} contains a rating that is not among the levels given",
                got=name,
                remedy=f"The levels given are {', '.join(order)}; name all, lowest first.",
            )
    unused = [name for name in order if name not in names]
    if unused:
        notes.append(note("unused_categories", column=column.name, categories=tuple(unused)))
    used = [name for name in order if name in names]
    places = np.array([used.index(name) for name in names], dtype=np.int64)
    return places[codes], tuple(used)


def column_numbers(column: pl.Series, where: str) -> Array:
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(
            f"{column.name!r} must contain numbers",
            where=where,
            got=column[0],
            remedy="Turn it into numbers, or fit an ordinal model.",
        )
    values = column.cast(pl.Float64).to_numpy()
    if not np.isfinite(values).all():
        raise InputError(
            f"{column.name!r} contains an infinite number",
            where=where,
            remedy="Correct the column.",
        )
    if np.abs(values).max(initial=0.0) > _MAX_VALUE:
        raise InputError(
            f"{column.name!r} contains a number too large to compute with",
            where=where,
            got=float(np.abs(values).max()),
            remedy="Change the unit of the column.",
        )
    return values


def all_levels(column: pl.Series) -> list[str]:
    if isinstance(column.dtype, pl.Enum):
        return list(column.dtype.categories.to_list())
    return [
        _written(drop_null)
        for drop_null in column.unique(maintain_order=True).drop_nulls().to_list()
    ]


def moved_first(
    codes: Codes, levels: tuple[str, ...], name: str, first: str
) -> tuple[Codes, tuple[str, ...]]:
    if first not in levels:
        raise UnknownName(f"level of {name!r}", first, levels)
    order = (first, *(level for level in levels if level != first))
    places = np.array([order.index(level) for level in levels], dtype=np.int64)
    return places[codes], order
