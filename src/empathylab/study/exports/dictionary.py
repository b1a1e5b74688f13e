"""What every column of an exported study means: its type, its values, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import polars as pl

from empathylab.situations.sources.released import Dimension
from empathylab.study.design.definition import Study
from empathylab.study.exports.specs import (
    FAILED_ATTENTION,
    FOLLOW_UP,
    LIVE,
    RATERS,
    SIGNALS,
    TABLES,
)
from empathylab.study.exports.tables import FIRST, StudyTables
from empathylab.table_specs import ColumnSpec, ColumnType, polars_type

_OF_RATERS = {item.name: item.meaning for item in (FAILED_ATTENTION, *SIGNALS, *LIVE, *FOLLOW_UP)}
MEANINGS: Mapping[str, Mapping[str, str]] = {
    spec.name: {column.name: column.meaning for column in spec.columns}
    | (_OF_RATERS if spec is RATERS else {})
    for spec in TABLES
}
_SPECS = {item.name: item for item in TABLES}
_TYPES = {polars_type(name): name for name in get_args(ColumnType)}
_MOST_VALUES = 20
_WHEN = {
    "default": "",
    "evoked": ", answered after a situation",
    "before": ", answered before being helped",
    "after": ", answered after being helped",
    "later": ", answered days after being helped",
}


def dictionary_rows(
    tables: StudyTables, dimensions: tuple[Dimension, ...]
) -> list[dict[str, str | None]]:
    """A row for each column of each table: what it means, its type, its values or range."""
    rows: list[dict[str, str | None]] = []
    for table, frame in tables.tables.items():
        spec = _SPECS[table]
        for name in frame.columns:
            column = spec.column(name)
            meaning, values = _own(tables, name) if table == "raters" else (None, None)
            rows.append(
                {
                    "table": table,
                    "column": name,
                    "meaning": MEANINGS[table].get(name) or meaning,
                    "type": _TYPES[type(frame[name].dtype)],
                    "values": values
                    or (column.values if column else None)
                    or (_questions(tables.study) if name == "question" else None)
                    or _points(name, dimensions)
                    or _values(frame[name]),
                }
            )
    return rows


def _own(tables: StudyTables, column: str) -> tuple[str | None, str | None]:
    """The columns of this study's raters: scores, answers about themselves, platform details."""
    if column in tables.scores:
        scale, part, phase = tables.scores[column]
        of = "Total" if part == "total" else f"Subscale {part}"
        when = _WHEN[phase]
        return f"{of} of the {scale.name} ({scale.id}){when}", _score_range(scale, part)
    if column not in tables.details:
        is_first = tables.study is not None and tables.study.follow_up and column.startswith(FIRST)
        return f"`{column.removeprefix(FIRST)}` in the first study" if is_first else None, None
    asked = _asked_column(tables.study, column)
    if asked is None:
        return "About the rater, from the platform or the imported file", None
    return asked.meaning, asked.values


def _asked_column(study: Study | None, name: str) -> ColumnSpec | None:
    """What a block of the study says of a column that it fills."""
    if study is None:
        return None
    columns = (column for block in study.blocks for column in block.columns(study.languages[0]))
    return next((column for column in columns if column.name == name), None)


def _score_range(scale: Any, part: str) -> str:
    items = scale.items
    if part != "total":
        items = len(next(subscale.items for subscale in scale.subscales if subscale.id == part))
    times = {"sum": items, "double-sum": 2 * items, "mean": 1}[scale.rule]
    return f"{times * scale.minimum:g} to {times * scale.maximum:g}"


def _questions(study: Study | None) -> str | None:
    """The further questions about items, with what was asked."""
    if study is None:
        return None
    language = study.languages[0]
    return "; ".join(
        f"{question.name} ({question.label.in_language(language)})"
        for block in study.blocks
        for question in block.item_questions
    )


def _points(column: str, dimensions: tuple[Dimension, ...]) -> str | None:
    if column == "rating":
        points = [
            f"{dimension.name}: "
            + (
                ", ".join(_point(dimension, place) for place in range(len(dimension.values)))
                or " to ".join(f"{end:g}" for end in dimension.ends or ())
            )
            for dimension in dimensions
            if dimension.values or dimension.ends
        ]
        return "; ".join(points) or None
    if column == "dimension":
        return "; ".join(
            f"{dimension.name} ({dimension.question})" if dimension.question else dimension.name
            for dimension in dimensions
        )
    return None


def _point(dimension: Dimension, place: int) -> str:
    label = dimension.labels[place] if dimension.labels else ""
    return f"{dimension.values[place]:g} = {label}" if label else f"{dimension.values[place]:g}"


def _values(column: pl.Series) -> str | None:
    """Those that occur where they are few words; the range of numbers."""
    known = column.drop_nulls()
    if known.is_empty():
        return None
    if column.dtype.is_numeric():
        numbers = known.to_list()
        return f"{min(numbers):g} to {max(numbers):g}"
    words = sorted(known.unique().to_list(), key=str)
    if len(words) > _MOST_VALUES or any(len(str(word)) > 60 for word in words):
        return None
    return "; ".join(str(word) for word in words)
