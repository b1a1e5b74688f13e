"""Published tables that several tests use, in long form."""

from __future__ import annotations

import numpy as np
import polars as pl

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four observers, twelve units.
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

# Shrout & Fleiss (1979), table 2: six targets, four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=float,
)

# Two raters on a five-point scale, as in tests/reference/agreement.R.
FIRST = [1, 2, 3, 4, 5, 3, 2, 4, 4, 5, 1, 2, 3, 3, 4, 5, 5, 2, 1, 3]
SECOND = [1, 3, 3, 4, 4, 2, 2, 5, 4, 5, 2, 2, 4, 3, 3, 5, 4, 1, 1, 3]


def long(by_rater: list[list[float | None]]) -> pl.DataFrame:
    """One row per cell, gaps included, of a table with a row per rater."""
    return pl.DataFrame(
        [
            (f"s{unit:02}", f"r{number}", None if value is None else float(value))
            for number, values in enumerate(by_rater)
            for unit, value in enumerate(values)
        ],
        schema={"situation": pl.String, "rater": pl.String, "rating": pl.Float64},
        orient="row",
    )
