"""What the exported tables are read from: a lab at one moment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
from sqlalchemy import Connection, select

from empathylab.analysis.appraisal.self_reports import last_used_runs
from empathylab.analysis.run_selection import selected_runs
from empathylab.scales import Scale
from empathylab.situations.sources.released import Dimension
from empathylab.store.administrations import administration_table, item_answer_table
from empathylab.store.export_tables import response_table
from empathylab.store.queries import scale_table, scales_by_row
from empathylab.store.ratings import study_from_row
from empathylab.store.schema import studies
from empathylab.study.admin.embargo import RUNNING
from empathylab.study.exports.folders import dimensions_of
from empathylab.study.exports.tables import StudyTables, study_tables


@dataclass(frozen=True, slots=True)
class StudyPart:
    """What one study brings to the tables."""

    name: str
    row: Any
    """Its row in the lab."""
    design: str
    blind: bool
    """Whether its results are hidden, because it is still open."""
    tables: StudyTables
    dimensions: tuple[Dimension, ...]
    """As its own dictionary describes them."""
    rated: tuple[Dimension, ...]
    """In the first of its languages."""

    @property
    def number(self) -> int:
        return int(self.row.id)

    @property
    def launched(self) -> bool:
        return self.row.launched_at is not None


@dataclass(frozen=True)
class LabSource:
    """A lab in one transaction; what several tables need is read once."""

    connection: Connection
    runs: pl.DataFrame
    judgements: pl.DataFrame
    preferences: pl.DataFrame

    @cached_property
    def responses(self) -> pl.DataFrame:
        """Every response, with `counted`: whether analyses count it."""
        shown = selected_runs(self.runs)["run"].to_list()
        frame = _with_day(response_table(self.connection))
        of_last_run = pl.col("run").is_null() | pl.col("run").is_in(shown)
        return frame.with_columns(counted=of_last_run & (pl.col("outcome") == "valid"))

    @cached_property
    def administrations(self) -> pl.DataFrame:
        """Every administration, with `used` and `counted`."""
        frame = _with_day(administration_table(self.connection)).rename({"order_index": "order"})
        last = last_used_runs(frame).select("administration", used=True)
        joined = frame.join(last, on="administration", how="left", maintain_order="left")
        used = pl.col("used").fill_null(False)
        return joined.with_columns(used=used, counted=used & (pl.col("outcome") == "valid"))

    @cached_property
    def item_answers(self) -> pl.DataFrame:
        return item_answer_table(self.connection)

    @cached_property
    def definitions(self) -> pl.DataFrame:
        """The scales with their definitions as JSON."""
        return scale_table(self.connection)

    @cached_property
    def scales(self) -> dict[int, Scale]:
        return scales_by_row(self.definitions)

    @cached_property
    def studies(self) -> tuple[StudyPart, ...]:
        rows = self.connection.execute(select(studies).order_by(studies.c.id)).all()
        newest = {row.name: row.version for row in sorted(rows, key=lambda row: int(row.version))}
        return tuple(self._part(row, newest[row.name]) for row in rows)

    def _part(self, row: Any, newest: int) -> StudyPart:
        study = study_from_row(row, newest)
        blind = row.status in RUNNING
        tables = study_tables(self.connection, row, blind=blind)
        return StudyPart(
            study.name, row, study.design, blind, tables, dimensions_of(row), study.dimensions
        )


def _with_day(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(day=pl.col("answered_at").dt.strftime("%Y-%m-%d"))


def with_sorted_keys(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """The column's JSON objects with their keys sorted: databases keep them in different orders."""
    texts = [
        None if text is None else json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        for text in frame[column]
    ]
    return frame.with_columns(pl.Series(column, texts, pl.String))
