"""The tables of recipients made from exported files."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from empathylab.analysis.recipients import from_table
from empathylab.analysis.recipients.rows import cell_rows, change_rows, effect_rows, test_rows
from empathylab.errors import UserError
from empathylab.export.replication.tables import Read, ResultTable, file_name, plain_table, scalars
from empathylab.store.recipients import BEFORE, CONDITIONS

_SHOWN = {
    "cells": cell_rows,
    "tests": test_rows,
    "effects": effect_rows,
    "changes": change_rows,
}


def recipient_tables(read: Read) -> Iterator[ResultTable]:
    """Means, tests and differences of every study with recipients."""
    rows = read("recipients")
    if rows is None or rows.is_empty():
        return
    names: set[str] = set()
    for (study,), part in rows.group_by("study", maintain_order=True):
        slug, title = file_name(str(study), names), f"Recipients: {study}"
        try:
            result = from_table(_wide(part))
        except UserError as error:
            problem = {"study": str(study), "not analysed": str(error)}
            yield from plain_table(f"recipients-{slug}", title, [problem])
            continue
        document = result.to_dict()
        for name, written in _SHOWN.items():
            values = [scalars(row) for row in document[name]]
            if values:
                yield ResultTable(
                    f"recipients-{slug}-{name}", f"{title}, {name}", values, written(result)
                )


def _wide(part: pl.DataFrame) -> pl.DataFrame:
    """One row per participant and reply, as a study of the lab is analysed."""
    known = [name for name in CONDITIONS if part[name].null_count() < part.height]
    keys = ["participant", "position"]
    wide = part.unique(keys, keep="first", maintain_order=True).select(*keys, *known)
    for outcome in part["outcome"].unique(maintain_order=True):
        own = part.filter(outcome=outcome).select(*keys, "before", "value")
        own = own.rename({"value": outcome, "before": f"{outcome}{BEFORE}"})
        if own[f"{outcome}{BEFORE}"].null_count() == own.height:
            own = own.drop(f"{outcome}{BEFORE}")
        wide = wide.join(own, on=keys, how="left", maintain_order="left")
    return wide.drop("position")
