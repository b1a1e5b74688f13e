"""Percent agreement, Fleiss' kappa and Gwet's AC of any number of raters, with gaps."""

from __future__ import annotations

import numpy as np

from empathylab.stats.agreement.bootstrap import Statistic
from empathylab.stats.agreement.distances import Weights, chance, pair_sums
from empathylab.stats.agreement.table import RatingTable
from empathylab.stats.arrays import Array


def percent_statistic(table: RatingTable) -> Statistic:
    """How many in a hundred pairs of raters agree, averaged over situations."""
    observed = _observed(table, "identity")

    def statistic(draws: Array) -> Array:
        return np.asarray(100 * (1 - observed(draws)))

    return statistic


def fleiss_statistic(table: RatingTable, weights: Weights = "identity") -> Statistic:
    """Fleiss' kappa of resampled situations, weighted if wanted.

    Agreement beyond that of raters who answer at random with the same shares. Each situation
    counts once, however many raters it has: agreement comes from those with two or more ratings,
    the proportions of the categories from all. With equally many ratings per situation and identity
    weights it is Fleiss' kappa as first published. Not for raters who differ in how they use the
    scale: chance is then misjudged; and low where one category prevails, whatever the agreement.

    Fleiss, J. L. (1971). Psychological Bulletin 76, 378–382. Gwet, K. L. (2014). Handbook of
    Inter-Rater Reliability (4th ed.), chapters 2 and 3 (gaps, weights).
    """
    observed = _observed(table, weights)
    shares = table.mean_shares

    def statistic(draws: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = chance(shares(draws), table.scaled, weights)
            ratio = observed(draws) / np.where(expected > 1e-12, expected, np.nan)
        return np.asarray(1 - ratio)

    return statistic


def gwet_statistic(table: RatingTable, weights: Weights = "identity") -> Statistic:
    """Gwet's AC1, or AC2 with other weights, of resampled situations.

    Agreement beyond chance, where chance agreement only arises on situations that are hard to
    rate: it stays high where one category prevails and raters agree, unlike kappa. Depends on the
    number of categories: name the scale's `levels` if some were never used.

    Gwet, K. L. (2008). British Journal of Mathematical and Statistical Psychology 61, 29–48.
    Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.), chapters 2 and 3.
    """
    observed, shares = _observed(table, weights), table.mean_shares
    q = len(table.categories)
    if q < 2:
        return lambda draws: np.full(len(draws), np.nan)
    uniform = np.full((1, q), 1 / q)
    total = q**2 * (1 - float(chance(uniform, table.scaled, weights)[0]))

    def statistic(draws: Array) -> Array:
        spread = shares(draws)
        expected = total / (q * (q - 1)) * (spread * (1 - spread)).sum(axis=1)
        return np.asarray((1 - observed(draws) - expected) / (1 - expected))

    return statistic


def _observed(table: RatingTable, weights: Weights) -> Statistic:
    """The mean disagreement of pairs within situations that have at least two ratings."""
    paired = (table.sizes >= 2).astype(np.float64)
    pairs = np.maximum(table.sizes * (table.sizes - 1), 1.0)
    columns = np.column_stack([paired * pair_sums(table, weights) / pairs, paired])

    def statistic(draws: Array) -> Array:
        disagreement, situations = (draws @ columns).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(disagreement / situations)

    return statistic
