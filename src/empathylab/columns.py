"""Columns of a table as numbers or as points of a scale; errors name the file and the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from empathylab.errors import InputError
from empathylab.tables import missing_as_null

if TYPE_CHECKING:
    import polars as pl

_MOST_VALUES = 20


def numbers(
    frame: pl.DataFrame, column: str, *, where: str, remedy: str = "Fix the row."
) -> pl.Series:
    """The column as floats; nulls stay, and anything else that is no number is refused by row."""
    import polars as pl

    if frame[column].dtype.is_numeric():
        return frame[column].cast(pl.Float64)
    texts = _texts(frame, column)
    values = texts.cast(pl.Float64, strict=False)
    wrong = texts.is_not_null() & (values.is_null() | values.is_infinite())
    _refuse_first(texts, wrong, "must be a number", where, remedy)
    return values


def on_scale(
    frame: pl.DataFrame, column: str, points: Sequence[str | float], *, where: str
) -> pl.Series:
    """The column as words, or as floats where all points are numbers; nulls stay.

    Words may differ from the points in case. Values that are none of the points are refused: the
    first by row, the others with their counts.
    """
    if all(isinstance(point, int | float) for point in points):
        names = [f"{point:g}" for point in points]
        values = numbers(frame, column, where=where)
    else:
        names = [str(point) for point in points]
        values = in_case_of(_texts(frame, column, words=names), names)
    outside = values.is_not_null() & ~values.is_in(list(points))
    must = f"must be one of {', '.join(names)}"
    remedy = "Fix the row, or name all of the scale's points with --levels, lowest first."
    _refuse_first(frame[column], outside, must, where, remedy)
    return values


def _texts(frame: pl.DataFrame, column: str, *, words: Sequence[str] = ()) -> pl.Series:
    """The column as text, null where a cell says so (NA, none …), except for the words given."""
    import polars as pl

    texts = frame.select(pl.col(column).cast(pl.String).str.strip_chars())
    given = texts[column]
    return given.zip_with(given.is_in(list(words)), missing_as_null(texts)[column])


def in_case_of(texts: pl.Series, words: Sequence[str]) -> pl.Series:
    """The texts, those that differ from a word in case only as that word."""
    lower = {word.lower(): word for word in words}
    if len(lower) < len(words):
        return texts
    return texts.str.to_lowercase().replace_strict(lower, default=texts)


def other_values(wrong: pl.Series) -> str:
    """`; 12 rows have other values: 'Fiar' (9), 'gut' (3)`; nothing for a single row."""
    if len(wrong) < 2:
        return ""
    counts = sorted(wrong.value_counts().rows(), key=lambda row: (-row[1], str(row[0])))
    listed = ", ".join(f"{value!r} ({count})" for value, count in counts[:_MOST_VALUES])
    more = len(counts) - _MOST_VALUES
    rest = f" and {more} more" if more > 0 else ""
    return f"; {len(wrong):,} rows have other values: {listed}{rest}"


def _refuse_first(series: pl.Series, wrong: pl.Series, must: str, where: str, remedy: str) -> None:
    rows = wrong.arg_true()
    if len(rows):
        first = int(rows[0])
        raise InputError(
            f"{series.name!r} {must}{other_values(series.filter(wrong))}",
            where=f"{where} row {first + 2}",
            got=series[first],
            remedy=remedy,
        )
