"""The tables of an exported study."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy import Connection

from empathylab.scales import Scale
from empathylab.study.design.definition import Study
from empathylab.study.exports.source import StudySource
from empathylab.study.exports.specs import ALWAYS, RATERS, TABLES

TELLING = ("arm", "respondent", "response")
"""The columns of what raters did that say which arm it belongs to."""
RESULTS = ("rating", "label")
"""The columns of ratings that say how a response was rated."""


@dataclass(frozen=True, slots=True)
class StudyTables:
    """A study's tables by name, and what its raters' columns are."""

    tables: Mapping[str, pl.DataFrame] = field(hash=False)
    told: tuple[str, ...]
    """Columns of `raters` that hold what raters or their platform told about them."""
    scores: Mapping[str, tuple[Scale, str, str]] = field(hash=False)
    """Columns of `raters` that hold scores: the scale, the subscale, the phase."""
    study: Study | None
    """Its definition; None where the lab holds ratings only."""


def study_tables(connection: Connection, row: Any, *, blind: bool) -> StudyTables:
    """The tables of the study in that row; `blind` ones tell nothing of its results.

    To leave out arms alone would not do: where one arm takes people, everybody knows theirs.
    """
    source = StudySource(connection, row, blind=blind)
    tables = {one.name: one.read(source) for one in TABLES}
    tables["raters"], told, scores = _with_details(tables["raters"], source)
    if blind:
        tables |= _blinded(tables, scores)
    shown = {name: one for name, one in tables.items() if one.height or name in ALWAYS}
    return StudyTables(shown, told, scores, source.study)


def _with_details(
    raters: pl.DataFrame, source: StudySource
) -> tuple[pl.DataFrame, tuple[str, ...], dict[str, tuple[Scale, str, str]]]:
    """The raters with columns for what is known about them, and for their scores."""
    names = raters["rater"].to_list()
    told = source.told()
    scores, columns = source.scores()
    keys = dict.fromkeys(key for one in told.values() for key in one)
    fresh = tuple(one for one in keys if one not in RATERS.names)
    frame = raters.with_columns(
        *(_told(key, [told.get(name, {}).get(key) for name in names]) for key in fresh),
        *(
            pl.Series(key, [scores.get((name, key)) for name in names], pl.Float64)
            for key in columns
            if key not in fresh
        ),
    )
    return frame, fresh, columns


def _blinded(
    tables: Mapping[str, pl.DataFrame], scores: Mapping[str, tuple[Scale, str, str]]
) -> dict[str, pl.DataFrame]:
    """The tables that hold results, without them."""
    evoked = [column for column, (_, _, phase) in scores.items() if phase == "evoked"]
    hidden = (*TELLING, *RESULTS, *evoked)
    names = ("ratings", "ratings_of_excluded", "raters", "partial_answers")
    blind = {name: tables[name].drop(hidden, strict=False) for name in names}
    return {**blind, "scale_answers": tables["scale_answers"].filter(phase="default")}


def _told(name: str, values: list[Any]) -> pl.Series:
    """Numbers where all that is told are numbers, else words."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return pl.Series(name, [None if one is None else float(one) for one in values], pl.Float64)
    return pl.Series(name, [None if one is None else _written(one) for one in values], pl.String)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
