"""Permutation tests of many features at once, with situations as the units."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from empathylab.compute.threads import ahead
from empathylab.stats.arrays import Array

_EXACT_UP_TO = 12
_CELLS_AT_ONCE = 1_000_000
_MOST_SITUATIONS = 20_000
"""Above this the permutation distribution is normal to the last printed digit, and slow to draw."""
_MOST_SIGNS, _FEW = 5_000_000, 999
"""Rows times permutations above which no more than this many permutations are drawn: with as many
situations the p from t is exact to the digits that are printed, and permuting takes seconds."""


def sign_flip_p(differences: Array, permutations: int, rng: np.random.Generator) -> Array:
    """Per column: how often flipping the rows' signs moves the sum as far from 0 as it lies.

    All flips up to 12 rows, random ones above, counting the observed one among them (Phipson, B.,
    & Smyth, G. K. (2010). Statistical Applications in Genetics and Molecular Biology 9, 39). NaN
    without rows, and above 20,000.
    """
    rows, columns = differences.shape
    if not 0 < rows <= _MOST_SITUATIONS:
        return np.full(columns, np.nan)
    observed = _almost(np.abs(differences.sum(axis=0)))
    if rows <= _EXACT_UP_TO:
        every = np.array(list(itertools.product((1.0, -1.0), repeat=rows)))
        share: Array = (np.abs(every @ differences) >= observed).mean(axis=0)
        return share
    as_far = np.zeros(columns)
    permutations = _affordable(permutations, rows)
    for signs in ahead(_signs(rng, (count, rows)) for count in _portions(permutations, rows)):
        as_far += (np.abs(signs @ differences) >= observed).sum(axis=0)
    p_values: Array = (as_far + 1) / (permutations + 1)
    return p_values


def reassignment_p(
    array: Array, other: Array, permutations: int, rng: np.random.Generator
) -> Array:
    """Per column: how often shuffling the rows separates the two means at least as far.

    NaN values are left out. NaN where a side has no rows, and above 20,000 rows together.
    """
    both = np.vstack([array, other])
    known, values = (~np.isnan(both)).astype(float), np.nan_to_num(both)
    size, n = len(both), len(array)
    if not 0 < n < size or size > _MOST_SITUATIONS:
        return np.full(both.shape[1], np.nan)
    total, number = values.sum(axis=0), known.sum(axis=0)

    def distance_of_means(summed: Array, counted: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            distance: Array = np.abs(summed / counted - (total - summed) / (number - counted))
        return distance

    observed = _almost(distance_of_means(values[:n].sum(axis=0), known[:n].sum(axis=0)))
    as_far = np.zeros(both.shape[1])
    permutations = _affordable(permutations, size)
    for count in _portions(permutations, size):
        dealt = rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)
        mine = (dealt < n).astype(float)
        as_far += (distance_of_means(mine @ values, mine @ known) >= observed).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (as_far + 1) / (permutations + 1))


def _signs(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """1 and -1 at random: the highest bit of a random number, kept as a sign."""
    drawn = rng.integers(0, 2**32, size=shape, dtype=np.uint32).view(np.int32)
    drawn >>= 31
    drawn |= 1
    return drawn.astype(float)


def _affordable(permutations: int, rows: int) -> int:
    return min(permutations, max(_FEW, _MOST_SIGNS // rows))


def _almost(observed: Array) -> Array:
    """A hair less, so that an equal sum in another order of adding still counts as equal."""
    return observed * (1 - 1e-9)


def _portions(permutations: int, rows: int) -> Iterator[int]:
    at_once = max(1, _CELLS_AT_ONCE // rows)
    while permutations > 0:
        yield min(at_once, permutations)
        permutations -= at_once
