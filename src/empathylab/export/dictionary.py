"""The data dictionary of an export: of every column its meaning, type and values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, get_args

import polars as pl

from empathylab.export.lab_tables import LabTables
from empathylab.export.tables import TABLES
from empathylab.export.tables.studies import STUDY_TABLES, TOLD_STUDY
from empathylab.report.table_formats import markdown_table
from empathylab.study.exports.dictionary import dictionary_rows
from empathylab.table_specs import ColumnType, polars_type
from empathylab.tables import table_bytes

CSV, JSON, MARKDOWN = "data_dictionary.csv", "data_dictionary.json", "data_dictionary.md"
_TYPES = {polars_type(name): name for name in get_args(ColumnType)}
_MOST_VALUES, _LONGEST_VALUE = 20, 40
_OF_EACH_STUDY = ("rating", "dimension")
# A list of names would say nothing about the column.
_NAMES = ("rater", "situation", "title", "description", "name", "fingerprint", "protocol_hash")


class Entry(NamedTuple):
    """What is known of a column."""

    table: str
    column: str
    meaning: str
    type: str
    values: str | None
    """The range of numbers; the words that occur, where they are few."""


def dictionary(contents: LabTables, tables: Mapping[str, pl.DataFrame]) -> list[Entry]:
    """An entry for each column of these tables of the lab."""
    studies = _of_studies(contents)
    return [
        _entry(table, frame[column], studies.get((table, column)))
        for table, frame in tables.items()
        for column in frame.columns
    ]


def type_of(column: pl.Series) -> str:
    """What the dictionary calls the column's type."""
    whole = column.dtype.is_integer()
    return "whole number" if whole else _TYPES[type(column.dtype)]


def _entry(table: str, column: pl.Series, of_study: tuple[str, str | None] | None) -> Entry:
    name = column.name
    spec = TABLES[table].column(name)
    meaning, values = (spec.meaning, spec.values) if spec else (None, None)
    if of_study is not None:
        meaning, values = meaning or of_study[0], of_study[1] or values
    # A column without a meaning is a mistake of ours, which the tests look for.
    return Entry(table, name, meaning or "", type_of(column), values or _values(column))


def _of_studies(contents: LabTables) -> dict[tuple[str, str], tuple[str, str | None]]:
    """What the studies' own dictionaries say, put together where several have a column."""
    meanings: dict[tuple[str, str], dict[str, None]] = {}
    values: dict[tuple[str, str], dict[str, str]] = {}
    names = {spec.name for spec in STUDY_TABLES}
    for part in contents.parts:
        for row in dictionary_rows(part.tables, part.dimensions):
            table, column = str(row["table"]), str(row["column"])
            if table not in names:
                continue
            key = (table, TOLD_STUDY if column == "study" else column)
            meanings.setdefault(key, {})[str(row["meaning"])] = None
            if row["values"] and column not in _NAMES:
                values.setdefault(key, {})[part.name] = row["values"]
    return {
        key: (" / ".join(texts), _shared(key[1], values.get(key)))
        for key, texts in meanings.items()
    }


def _shared(column: str, values: Mapping[str, str] | None) -> str | None:
    """What all studies have, or what each was rated on; else what occurs in the table."""
    different = set((values or {}).values())
    if len(different) == 1:
        return different.pop()
    if not values or column not in _OF_EACH_STUDY:
        return None
    return " / ".join(f"{study}: {meaning}" for study, meaning in values.items())


def _values(column: pl.Series) -> str | None:
    known = column.drop_nulls()
    if known.is_empty() or column.name in _NAMES:
        return None
    if column.dtype.is_numeric():
        numbers = known.to_list()
        return f"{min(numbers):g} to {max(numbers):g}"
    if column.dtype == pl.Boolean:
        return "true; false"
    words = sorted(str(item) for item in known.unique().to_list())
    if len(words) > _MOST_VALUES or any(len(word) > _LONGEST_VALUE for word in words):
        return None
    return "; ".join(words)


def dictionary_files(entries: list[Entry]) -> dict[str, bytes]:
    """The dictionary as CSV, JSON and Markdown."""
    rows = [entry._asdict() for entry in entries]
    table = pl.DataFrame(rows, schema=dict.fromkeys(Entry._fields, pl.String))
    return {
        CSV: table_bytes(table, "csv"),
        JSON: f"{json.dumps(_nested(entries), ensure_ascii=False, indent=1)}\n".encode(),
        MARKDOWN: dictionary_page(entries, "# Data dictionary\n").encode(),
    }


def _nested(entries: list[Entry]) -> dict[str, object]:
    tables: dict[str, dict[str, object]] = {}
    for table, columns in _by_table(entries).items():
        tables[table] = {
            "meaning": TABLES[table].meaning,
            "columns": {
                column.column: {
                    "meaning": column.meaning,
                    "type": column.type,
                    "values": column.values,
                }
                for column in columns
            },
        }
    return {"tables": tables}


def dictionary_page(entries: list[Entry], head: str) -> str:
    """The dictionary as a page, a section for each table."""
    sections = [head]
    for table, columns in _by_table(entries).items():
        rows = [
            {name: cell or "" for name, cell in entry._asdict().items() if name != "table"}
            for entry in columns
        ]
        sections.append(f"\n## {table}\n\n{TABLES[table].meaning}.\n\n{markdown_table(rows)}")
    return "".join(sections)


def _by_table(entries: list[Entry]) -> dict[str, list[Entry]]:
    by_table: dict[str, list[Entry]] = {}
    for entry in entries:
        by_table.setdefault(entry.table, []).append(entry)
    return by_table
