"""What a machine-readable description says of an export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import polars as pl

from empathylab.croissant import DescribedColumn, DescribedData, DescribedTable
from empathylab.export.dictionary import Entry
from empathylab.export.lab_tables import LabTables
from empathylab.export.psych_ds import NAME, data_file, listed_tables
from empathylab.export.tables import TABLES
from empathylab.export.tables.columns import MOMENT
from empathylab.tables import harmless_cell


def described_data(
    contents: LabTables,
    tables: Mapping[str, pl.DataFrame],
    entries: Sequence[Entry],
    counts: Mapping[str, int],
    sums: Mapping[str, str],
    *,
    way: str = "",
) -> DescribedData:
    """The description of the files that `counts` names; of logs, without their columns."""
    of_files = {PurePath(file).stem: file for file in counts}
    of_files |= {name: data_file(name) for name in tables if data_file(name) in counts}
    described = [
        DescribedTable(
            name, TABLES[name].meaning, of_files[name], _columns(name, of_files[name], entries)
        )
        for name in tables
        if name in of_files
    ]
    logs = [
        DescribedTable(PurePath(file).stem, "A run as a log of Inspect AI", file)
        for file in counts
        if file.endswith(".eval")
    ]
    whole = contents.tables
    return DescribedData(
        name=NAME,
        description=listed_tables(tables),
        tables=[*described, *logs],
        sums=sums,
        published=_last_day(whole),
        licences=whole["situation_sets"]["licence"].to_list(),
        raters=whole["raters"].height,
        models=sorted(set(whole["runs"]["respondent"].to_list())),
        way=way,
    )


def _columns(table: str, file: str, entries: Sequence[Entry]) -> list[DescribedColumn]:
    is_csv = file.endswith(".csv")
    return [
        DescribedColumn(
            harmless_cell(entry.column) if is_csv else entry.column,
            entry.meaning,
            "moment" if entry.values == MOMENT else entry.type,
        )
        for entry in entries
        if entry.table == table
    ]


def _last_day(tables: Mapping[str, pl.DataFrame]) -> str:
    """The last day on which something was collected: the same lab gives the same description."""
    days = [
        *tables["ratings"]["day"].drop_nulls(),
        *tables["responses"]["day"].drop_nulls(),
        *tables["administrations"]["day"].drop_nulls(),
        *(text[:10] for text in tables["runs"]["started_at"].drop_nulls()),
    ]
    return max(days, default="1970-01-01")
