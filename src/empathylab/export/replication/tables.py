"""Results as files of tables: numbers as CSV, and what a paper prints as Markdown and LaTeX."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from empathylab.analysis.text.notes import note_text
from empathylab.report.table_formats import table as formatted
from empathylab.situations.sources.released import Dimension
from empathylab.stats.notes import Note

Rows = Sequence[Mapping[str, Any]]
Read = Callable[[str], pl.DataFrame | None]
"""Gives an exported table by its name; None where the export does not hold it."""
_ENDINGS = {"csv": "csv", "markdown": "md", "latex": "tex"}
_DIGITS, _NOTHING = 6, 1e-12


class ResultTable(NamedTuple):
    """One table: as numbers, and as a paper prints it."""

    name: str
    caption: str
    values: Rows
    shown: Rows


def plain_table(name: str, caption: str, rows: Rows) -> Iterator[ResultTable]:
    """A table whose cells are the same in CSV; none without rows."""
    if rows:
        yield ResultTable(name, caption, rows, rows)


def exported_dimensions(row: Mapping[str, Any]) -> tuple[Dimension, ...]:
    """The dimensions of a study, of its row in the exported table of studies."""
    return tuple(
        Dimension(load["name"], tuple(load["values"]), tuple(load["labels"]), load["question"])
        for load in json.loads(row["dimensions"])
    )


def write_result_tables(tables: Iterable[ResultTable], folder: Path) -> dict[str, bytes]:
    """The files by name, after they were written into the folder.

    In CSV numbers have six digits that count: the last bits differ from machine to machine.
    """
    files: dict[str, bytes] = {}
    for table in tables:
        name, count = table.name, 1
        while f"{name}.csv" in files:  # no table may take another's place
            count += 1
            name = f"{table.name}-{count}"
        for style, ending in _ENDINGS.items():
            rows = _rounded(table.values) if style == "csv" else table.shown
            text = formatted(rows, style, caption=table.caption, label=f"tab:{name}")
            files[f"{name}.{ending}"] = text.encode()
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return files


def file_name(text: str, used: set[str]) -> str:
    """The text as part of a file's name, different from those taken already."""
    base = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:60] or "unnamed"
    name, count = base, 1
    while name in used:
        count += 1
        name = f"{base}-{count}"
    used.add(name)
    return name


def flat(item: Any, *, nested: bool = False) -> dict[str, Any]:
    """A result's fields, an estimate with its interval as three of them.

    With `nested` also the fields of its parts, under the name of the part.
    """
    columns: dict[str, Any] = {}
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        if hasattr(value, "estimate") and hasattr(value, "low"):
            columns[field.name] = value.estimate
            columns[f"{field.name}_low"], columns[f"{field.name}_high"] = value.low, value.high
        elif isinstance(value, Note) or (field.name == "note" and value is None):
            columns[field.name] = note_text(value)
        elif nested and dataclasses.is_dataclass(value):
            parts = flat(value, nested=True)
            columns |= {f"{field.name}_{name}": part for name, part in parts.items()}
        elif isinstance(value, Mapping):
            columns |= {f"{field.name} {key}": part for key, part in value.items()}
        else:
            columns[field.name] = value
    return scalars(columns)


def scalars(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = (str, int, float)
    return {name: value for name, value in row.items() if value is None or isinstance(value, plain)}


def _rounded(rows: Rows) -> Rows:
    return [{name: _digits(name, value) for name, value in row.items()} for row in rows]


def _digits(name: str, value: Any) -> Any:
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    probability = name == "p" or name.startswith("p_") or name.endswith("_p")
    if abs(value) < _NOTHING and not probability:
        return 0.0  # what is left of a difference between equals
    return float(f"{value:.{_DIGITS}g}")
