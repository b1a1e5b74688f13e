"""Exported tables read back, with the types that they had."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.export.dictionary import JSON
from empathylab.files import read_json
from empathylab.table_specs import ColumnType, polars_type
from empathylab.tables import plain_cell, read_table

_DTYPES = {str(name): polars_type(name) for name in get_args(ColumnType)}
_ENDINGS = ("csv", "jsonl", "parquet")


def exported_tables(folder: Path) -> dict[str, dict[str, str]]:
    """By table of the export in that folder, the type of each column by name."""
    listed = read_json(folder / JSON)
    try:
        tables: Mapping[str, Any] = listed["tables"]  # type: ignore[index]
        return {
            table: {column: str(entry["type"]) for column, entry in document["columns"].items()}
            for table, document in tables.items()
        }
    except (KeyError, TypeError, AttributeError):
        raise InputError(
            "this is not the data dictionary of an export",
            where=str(folder / JSON),
            remedy="Name the folder that an export wrote.",
        ) from None


def read_exported(folder: Path, table: str) -> pl.DataFrame:
    """The table of the export in that folder, its texts and types as they were in the lab.

    Of CSV, the apostrophe in front of what a spreadsheet would run is taken away again; line
    breaks are all of one kind, and an empty text is missing.
    """
    tables = exported_tables(folder)
    if table not in tables:
        raise UnknownName("exported table", table, tables)
    path = _path(folder, table)
    types = {name: _DTYPES[kind] for name, kind in tables[table].items()}
    if path.suffix == ".csv":
        return _typed(read_table(path), types, where=str(path))
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        return pl.DataFrame(rows, schema=types)
    return read_table(path, required=list(types))


def _path(folder: Path, table: str) -> Path:
    for ending in _ENDINGS:
        path = folder / f"{table}.{ending}"
        if path.is_file():
            return path
    raise InputError(
        "the file of this table is missing",
        where=str(folder),
        got=table,
        remedy="Export it again.",
    )


def _typed(
    frame: pl.DataFrame, types: Mapping[str, type[pl.DataType]], *, where: str
) -> pl.DataFrame:
    names = [plain_cell(column).strip() for column in frame.columns]
    known = [kind.strip() for kind in types]
    if names != known:
        raise InputError(
            "the columns are not those of the dictionary",
            where=where,
            got=", ".join(names),
            remedy="Export it again.",
        )
    columns = []
    for cells, (name, dtype) in zip(frame.get_columns(), types.items(), strict=True):
        if dtype == pl.String:
            texts = [None if cell is None else plain_cell(cell) for cell in cells]
            columns.append(pl.Series(name, texts, pl.String))
        elif dtype == pl.Boolean:
            flags = [None if cell is None else cell == "true" for cell in cells]
            columns.append(pl.Series(name, flags, pl.Boolean))
        else:
            columns.append(cells.cast(dtype))
    return pl.DataFrame(columns)
