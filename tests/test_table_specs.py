"""Exported tables, specified once."""

from __future__ import annotations

import polars as pl

from empathylab.table_specs import ColumnSpec, TableSpec

SPEC = TableSpec[list[int]](
    "squares",
    "Numbers and their squares",
    (
        ColumnSpec("number", "whole number", "The number"),
        ColumnSpec("square", "number", "Its square", "0 or more"),
        ColumnSpec("note", "text", "A remark"),
    ),
    lambda numbers: ({"number": number, "square": float(number**2)} for number in numbers),
)


def test_a_table_is_read_from_its_source() -> None:
    expected = {"number": [2, 3], "square": [4.0, 9.0], "note": [None, None]}
    assert SPEC.read([2, 3]).to_dict(as_series=False) == expected


def test_an_empty_table_keeps_its_types() -> None:
    assert SPEC.read([]).schema == {"number": pl.Int64, "square": pl.Float64, "note": pl.String}


def test_columns_are_found_by_name() -> None:
    assert SPEC.names == ("number", "square", "note")
    column = SPEC.column("square")
    assert column is not None
    assert column.values == "0 or more"
    assert SPEC.column("cube") is None
