"""Krippendorff's alpha: any number of raters, any gaps, three levels of measurement."""

from __future__ import annotations

from typing import Literal

import numpy as np

from empathylab.stats.agreement.bootstrap import Statistic
from empathylab.stats.agreement.distances import Weights, chance, pair_sums
from empathylab.stats.agreement.table import RatingTable
from empathylab.stats.arrays import Array

Level = Literal["nominal", "ordinal", "interval"]


def alpha_statistic(table: RatingTable, level: Level) -> Statistic:
    """Alpha of resampled situations. Situations with a single rating are not used.

    Alpha is 1 − D_o/D_e: the disagreement within situations over that of all pairable values. At
    the ordinal level two categories are as far apart as the values between them, which is the
    difference of their mid-ranks: alpha is then the interval one on mid-ranks, computed again
    in each resample.

    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
    Pennsylvania. Krippendorff, K. (2004). Content Analysis (2nd ed.), chapter 11.
    """
    pairable = table.sizes >= 2
    sizes = np.where(pairable, table.sizes, 0.0)
    others = np.maximum(table.sizes - 1, 1.0)
    if level == "ordinal":
        return _ordinal(table, sizes, others)
    weights: Weights = "identity" if level == "nominal" else "quadratic"
    within = np.where(pairable, pair_sums(table, weights) / others, 0.0)

    def statistic(draws: Array) -> Array:
        n = draws @ sizes
        counts = table.pairable_counts(draws)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = chance(counts / n[:, None], table.scaled, weights)
            return _one_minus((n - 1) * (draws @ within), n**2 * expected)

    return statistic


def _ordinal(table: RatingTable, sizes: Array, others: Array) -> Statistic:
    per_pair = np.where(sizes > 0, 2 / others, 0.0)

    def statistic(draws: Array) -> Array:
        n = draws @ sizes
        counts = table.pairable_counts(draws)
        ranks = np.cumsum(counts, axis=1) - counts / 2 - n[:, None] / 2
        sums, squares = table.by_situation(ranks), table.by_situation(ranks**2)
        within = per_pair[:, None] * (sizes[:, None] * squares - sums**2)
        observed = np.einsum("bu,ub->b", draws, within)
        # Mid-ranks have the mean n/2, subtracted above.
        expected = 2 * n * (counts * ranks**2).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _one_minus((n - 1) * observed, expected)

    return statistic


def _one_minus(observed: Array, expected: Array) -> Array:
    ratio = observed / np.where(expected > 1e-12, expected, np.nan)
    return np.asarray(1 - ratio)
