"""Checks of what functions are given."""

from __future__ import annotations

import polars as pl

from empathylab.errors import InputError, UnknownName


def require_columns(frame: pl.DataFrame, *columns: str | None) -> None:
    """Raises UnknownName for the first column that the frame does not have; None is no column."""
    for column in columns:
        if column is not None and column not in frame.columns:
            raise UnknownName("column", column, frame.columns)


def without_gaps(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The rows that have a value in each of the columns; NaN is none."""
    numbers = [column for column in columns if frame[column].dtype.is_float()]
    return frame.drop_nulls(columns).drop_nans(numbers)


def require_confidence(confidence: float) -> None:
    """Raises InputError unless the confidence is a proportion."""
    if not 0 < confidence < 1:
        raise InputError(
            "`confidence` must be between 0 and 1", got=confidence, remedy="For example: 0.95."
        )
