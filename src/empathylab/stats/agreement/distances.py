"""How far ratings differ, within situations and by chance; no matrix of category pairs.

A disagreement is 1 for two different categories (`identity`), their distance (`linear`) or its
square (`quadratic`), the scale's ends being 1 apart. Sums over pairs come from sorted values and
moments, so their cost grows with the number of ratings, not with its square nor with the square
of the number of categories.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from empathylab.stats.agreement.table import RatingTable, totals
from empathylab.stats.arrays import Array

Weights = Literal["identity", "linear", "quadratic"]


def pair_sums(table: RatingTable, weights: Weights) -> Array:
    """Of each situation: the disagreements of its ordered pairs of ratings, summed."""
    if weights == "identity":
        return np.asarray(table.sizes**2 - table.same_pairs)
    values = table.scaled[table.codes]
    centred = values - values.mean() if table.n_ratings else values
    n = table.n_situations
    if weights == "quadratic":
        sums = totals(table.situations, centred, n)
        squares = totals(table.situations, centred**2, n)
        return np.maximum(2 * (table.sizes * squares - sums**2), 0.0)
    order = np.lexsort((centred, table.situations))
    sorted_situations = table.situations[order]
    first = np.concatenate([[0.0], np.cumsum(table.sizes)[:-1]])
    place = np.arange(table.n_ratings) - first[sorted_situations]
    share = 2 * place - table.sizes[sorted_situations] + 1
    return 2 * totals(sorted_situations, share * centred[order], n)


def chance(shares: Array, scaled: Array, weights: Weights) -> Array:
    """The disagreement of two ratings drawn independently from each row of shares."""
    if weights == "identity":
        return np.asarray(1 - (shares**2).sum(axis=-1))
    if weights == "linear":
        below = np.cumsum(shares, axis=-1)[..., :-1]
        return np.asarray(2 * (below * (1 - below) * np.diff(scaled)).sum(axis=-1))
    centred = scaled - 0.5
    return np.asarray(2 * (shares @ centred**2 - (shares @ centred) ** 2))
