"""The types of arrays that the statistics work on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Labels as numbers from 0: which rater, situation or category each row has."""
Numbers = NDArray[np.int64]
"""Whole numbers: counts, sizes and places."""
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Values = pl.Series | NDArray[np.floating] | NDArray[np.integer] | Sequence[float]


def vector(values: Values) -> Array:
    """The values as one array of floats; a missing one is NaN."""
    if isinstance(values, pl.Series):
        values = values.cast(pl.Float64).to_numpy()
    return np.asarray(values, dtype=np.float64).reshape(-1)


def ranks(values: Array) -> Array:
    """Ranks from 1; equal values share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])
