"""A table of the user's own, to be analysed without a lab."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from empathylab.frames import to_polars
from empathylab.tables import read_table, renamed

if TYPE_CHECKING:
    import polars as pl

    from empathylab.api.analyses import TableAnalyses


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose columns have the names that the analyses read."""

    frame: pl.DataFrame

    @property
    def analyze(self) -> TableAnalyses:
        """The analyses, one for each topic: `table.analyze.ratings()` …"""
        from empathylab.api.analyses import TableAnalyses

        return TableAnalyses(self.frame)


def from_table(data: Any, **columns: str) -> Table:
    """A table to analyse: a Polars or pandas frame, columns, rows, or the path of a file.

    Keywords name the columns that have other names than their roles.

    >>> ratings = {
    ...     "annotator": ["a", "a", "b", "b", "c", "c", "d", "d"],
    ...     "arm": ["model", "people"] * 4,
    ...     "situation": ["1", "2", "2", "1", "1", "2", "2", "1"],
    ...     "rating": [3, 1, 3, 2, 2, 2, 3, 1],
    ... }
    >>> result = from_table(ratings, rater="annotator").analyze.ratings(reference="people")
    >>> result.arms
    ('people', 'model')
    """
    import polars as pl

    path = isinstance(data, str | Path)
    where = Path(data).name if path else "table"
    frame = read_table(Path(data)) if path else to_polars(data)
    named = renamed(frame, columns, where=where)
    rating = columns.get("rating")
    if rating is not None and "dimension" not in named.columns:
        # What was rated keeps its name in every sentence.
        named = named.with_columns(dimension=pl.lit(rating))
    return Table(named)
