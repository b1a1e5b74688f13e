"""The whole lab as long-form tables: one row per thing, people only, nobody's identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from empathylab.export.source import LabSource, StudyPart, with_sorted_keys
from empathylab.export.tables import TABLES
from empathylab.store import Lab, runs_frame
from empathylab.store.judgements import lab_judgements, lab_preferences


@dataclass(frozen=True, slots=True)
class LabTables:
    """The lab's tables by name, and the studies in them."""

    tables: Mapping[str, pl.DataFrame] = field(hash=False)
    parts: tuple[StudyPart, ...]

    @property
    def blind(self) -> tuple[str, ...]:
        """The studies whose results are hidden."""
        return tuple(part.name for part in self.parts if part.blind)


def lab_tables(lab: Lab) -> LabTables:
    """Every table, also those without rows; simulated raters and test visits are in none.

    Of a study that is still open, ratings and arms are hidden, and so is what judges said about
    the responses that it shows.
    """
    runs = runs_frame(lab)
    judgements = with_sorted_keys(lab_judgements(lab).drop("text"), "probabilities")
    preferences = with_sorted_keys(lab_preferences(lab), "probabilities")
    # What is no number is missing: JSON has no sign for it.
    numbers = pl.col(pl.Float64).fill_nan(None)
    with lab.reading() as connection:
        source = LabSource(connection, runs, judgements, preferences)
        tables = {name: spec.read(source).with_columns(numbers) for name, spec in TABLES.items()}
        return LabTables(tables, source.studies)
