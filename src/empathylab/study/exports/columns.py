"""The columns of an exported study's tables, with their Polars types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from empathylab.study.exports import specs
from empathylab.study.exports.source import StudySource
from empathylab.table_specs import TableSpec, polars_type

Types = Mapping[str, Any]
TEXT, WHOLE, NUMBER, FLAG = pl.String, pl.Int64, pl.Float64, pl.Boolean


def types_of(spec: TableSpec[StudySource]) -> Types:
    """The Polars types of a table's columns."""
    return {one.name: polars_type(one.type) for one in spec.columns}


RATINGS, RATERS = types_of(specs.RATINGS), types_of(specs.RATERS)
SCALE_ANSWERS, WRITTEN = types_of(specs.SCALE_ANSWERS), types_of(specs.WRITTEN)
PAGES, ATTENTION = types_of(specs.PAGES), types_of(specs.ATTENTION)
COMMENTS, PARTIAL = types_of(specs.COMMENTS), types_of(specs.PARTIAL)
ARMS, RESPONSES = types_of(specs.ARMS), types_of(specs.RESPONSES)
SITUATIONS = types_of(specs.SITUATIONS)


def framed(rows: Sequence[Mapping[str, Any]], types: Types) -> pl.DataFrame:
    """The rows as a table with these columns; what a row does not hold is null."""
    return pl.DataFrame(
        [pl.Series(name, [row.get(name) for row in rows], kind) for name, kind in types.items()]
    )
