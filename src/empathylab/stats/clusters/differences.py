"""The difference of two arms' means, where raters, replies or situations gave several values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.regression import clustered_regression
from empathylab.stats.t_tests import TTest


def clustered_mean_difference(
    values: Array,
    second: NDArray[np.bool_],
    clusters: Sequence[Codes],
    *,
    weights: Array | None = None,
    confidence: float = 0.95,
) -> TTest:
    """The mean of the rows marked `second` minus that of the others, with CR2 and its df.

    One way of clustering, or two (raters and replies). An InputError where an arm has no rows or
    where every way leaves an arm with one cluster only: nothing then says how clusters vary.
    """
    for arm, rows in (("first", ~second), ("second", second)):
        if not rows.any():
            raise InputError(f"the {arm} arm has no values", remedy="Check the column of arms.")
        for codes in clusters:
            if len(np.unique(codes[rows])) < 2:
                raise InputError(
                    f"the {arm} arm has one cluster only, so clusters cannot be compared",
                    got=f"{int(rows.sum())} values",
                    remedy="Collect values from more raters, or cluster by something else.",
                )
    design = np.column_stack([np.ones(len(values)), second.astype(np.float64)])
    fit = clustered_regression(design, values, clusters, weights=weights)
    return fit.test(np.array([0.0, 1.0]), confidence)
