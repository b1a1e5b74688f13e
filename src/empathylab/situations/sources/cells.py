"""The cells of a user's table, column by column, and row by row where one of them is wrong.

A column is checked at once. Where a row fails, the functions for a single row say what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from empathylab.compute.threads import ahead
from empathylab.errors import InputError
from empathylab.tables import clean_text

if TYPE_CHECKING:
    import polars as pl

_LINE_BREAKS = "\r\n?"
_CONTROLS = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u009f\ufffe\uffff]"


def parts_of(
    table: pl.DataFrame | Iterable[pl.DataFrame], first_row: int
) -> Iterator[tuple[int, pl.DataFrame]]:
    """The table part by part, each with the number of its first row."""
    import polars as pl

    number = first_row
    for part in [table] if isinstance(table, pl.DataFrame) else ahead(table):
        yield number, part
        number += part.height


def clean_texts(frame: pl.DataFrame, column: str) -> pl.Series:
    """The column's cells as clean text; null where they hold none, or there is no such column."""
    import polars as pl

    if column not in frame.columns:
        return pl.Series(column, [None], pl.String).new_from_index(0, frame.height)
    series = plain_texts(frame[column])
    clean = series.str.replace_all(_LINE_BREAKS, "\n").str.replace_all(_CONTROLS, "\ufffd")
    stripped = clean.str.strip_chars()
    return stripped.set(stripped == "", None)


def plain_texts(series: pl.Series) -> pl.Series:
    """The cells as Python writes them."""
    import polars as pl

    if series.dtype == pl.String:
        return series
    texts = [None if value is None else str(value) for value in series]
    return pl.Series(series.name, texts, pl.String)


def by_value(
    frame: pl.DataFrame, column: str, function: Callable[[Any], Any], dtype: Any
) -> pl.Series:
    """The function of each cell, called once for each value; null where it raises InputError.

    A column that is not there holds nothing.
    """
    import polars as pl

    if column not in frame.columns:
        return pl.Series(column, [function(None)], dtype).new_from_index(0, frame.height)

    def result(value: object) -> object:
        try:
            return function(value)
        except InputError:
            return None

    series = frame[column]
    if series.dtype.is_nested():
        return pl.Series(column, [result(value) for value in series.to_list()], dtype)
    values = series.unique(maintain_order=True)
    results = pl.Series([result(value) for value in values.to_list()], dtype=dtype)
    # Polars keeps the old type of a column without rows.
    return series.replace_strict(values, results, return_dtype=dtype).cast(dtype)


def repeated(hashes: Iterable[pl.Series]) -> list[int]:
    """The positions of rows whose hash another row has, too."""
    import polars as pl

    return pl.concat(hashes).is_duplicated().arg_true().to_list()


def filled(row: Mapping[str, Any], column: str, where: str) -> str:
    """The cell's text, which must not be empty."""
    value = "" if row[column] is None else clean_text(str(row[column])).strip()
    if not value:
        raise InputError(f"{column!r} is empty", where=where, remedy="Fill it in.")
    return value


def texts_in(row: Mapping[str, Any]) -> dict[str, str]:
    """The row's cells as clean text, without those that hold none."""
    texts = {
        name: clean_text(str(value)).strip() for name, value in row.items() if value is not None
    }
    return {name: text for name, text in texts.items() if text}


def sample_number(given: object, where: str = "") -> int:
    """Which of a respondent's replies it is; 0 where the table does not say."""
    if given is None:
        return 0
    if not re.fullmatch(r"\d{1,6}(\.0)?", str(given).strip()):
        raise InputError(
            "'sample' must be 0, 1, 2 …", where=where, got=given, remedy="Fix the row."
        )
    return int(float(str(given)))
