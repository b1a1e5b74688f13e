"""Every pair of raters that share a situation, all pairs in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.agreement.coefficient import Coefficient
from empathylab.stats.agreement.cohen import rank_interval
from empathylab.stats.agreement.table import RatingTable, totals
from empathylab.stats.intervals import wilson
from empathylab.stats.notes import Note, note

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_BLOCK = 4_000_000
"""Pairs of ratings that are held at once."""
_DENSE = 20_000_000
"""Size of the table of pairs by categories up to which it is counted rather than sorted."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two raters agree on the situations that both rated."""

    dimension: str
    rater_a: str
    rater_b: str
    n: int
    """Situations that both rated."""
    weighted_kappa: Coefficient
    """Cohen's kappa with quadratic weights by the values' distances; large-sample interval."""
    weighted_kappa_ranks: Coefficient
    """The same with the values that occur in the pair one step apart, as most software has it and
    papers print it; it differs where a value is skipped or lies between two others."""
    kappa: Coefficient
    """Cohen's kappa, unweighted; large-sample interval."""
    spearman: Coefficient
    """Bonett and Wright's interval."""
    percent: Coefficient
    """How many in a hundred values are the same; Wilson's interval."""


@dataclass(frozen=True, slots=True)
class _Cells:
    """For each pair of raters and pair of categories that occurs: how often."""

    pair: Codes
    first: Codes
    second: Codes
    count: Array
    raters: Codes
    """Of each pair: rater × number of raters + other rater."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    n: Array
    unshared: Codes
    confidence: float

    def coefficients(
        self, found: tuple[Array, Array, Array], how: str, undefined: Note | None
    ) -> list[Coefficient]:
        columns = [*found, self.n, self.unshared]
        return [
            Coefficient(
                estimate=value,
                low=low,
                high=high,
                n=int(n),
                dropped=unshared,
                confidence=self.confidence,
                interval=how if low == low else "none",
                note=None if value == value else undefined,
            )
            for value, low, high, n, unshared in zip(*(c.tolist() for c in columns), strict=True)
        ]


def pair_agreements(
    table: RatingTable, *, dimension: str = "", confidence: float = 0.95, min_shared: int = 2
) -> list[PairAgreement]:
    """The agreement of each pair of raters with `min_shared` situations or more in common.

    The same figures as `cohen_kappa` (identity and quadratic) and `spearman`, made for all pairs
    at once from their tables of counts.
    """
    cells = _cells(table, min_shared)
    pairs = len(cells.raters)
    if pairs == 0:
        return []
    n = totals(cells.pair, cells.count, pairs)
    q = len(table.categories)
    rows, columns = np.divmod(cells.raters, len(table.rater_names))
    own = np.bincount(table.raters, minlength=len(table.rater_names))
    sizes = _Sizes(n, (own[rows] + own[columns] - 2 * n).astype(np.int64), confidence)
    values = table.scaled[cells.first], table.scaled[cells.second]
    ranked = _spearman(cells, n, q)
    same = totals(cells.pair, cells.count * (cells.first == cells.second), pairs)
    constant = note("constant_pair")
    flat = note("constant_or_few_pairs")
    columns_of = [
        sizes.coefficients(
            _normal(*_quadratic(cells, n, *values), confidence), "large sample", constant
        ),
        sizes.coefficients(
            _normal(*_quadratic(cells, n, *_steps(cells, q)), confidence), "large sample", constant
        ),
        sizes.coefficients(_normal(*_identity(cells, n, q), confidence), "large sample", constant),
        sizes.coefficients(
            (ranked, *rank_interval(ranked, n, confidence)), "Fisher's z (bonett-wright)", flat
        ),
        sizes.coefficients(_wilson(same, n, confidence), "Wilson", None),
    ]
    return [
        PairAgreement(dimension, table.rater_names[a], table.rater_names[b], int(size), *found)
        for a, b, size, *found in zip(
            rows.tolist(), columns.tolist(), n.tolist(), *columns_of, strict=True
        )
    ]


def _cells(table: RatingTable, min_shared: int) -> _Cells:
    order = np.lexsort((table.raters, table.situations))
    raters, codes = table.raters[order], table.codes[order]
    sizes = table.sizes.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    k, q = len(table.rater_names), len(table.categories)
    space = k * k * q * q
    dense = np.zeros(space, dtype=np.int64) if space <= _DENSE else None
    keys: list[Codes] = []
    counts: list[Codes] = []
    for size in np.unique(sizes[sizes >= 2]):
        left, right = np.triu_indices(int(size), 1)
        same = starts[sizes == size]
        step = max(1, _BLOCK // len(left))
        for begin in range(0, len(same), step):
            base = same[begin : begin + step, None]
            a, b = (base + left).ravel(), (base + right).ravel()
            key = ((raters[a] * k + raters[b]) * q + codes[a]) * q + codes[b]
            if dense is not None:
                dense += np.bincount(key, minlength=space)
                continue
            found, times = np.unique(key, return_counts=True)
            keys.append(found)
            counts.append(times)
    if dense is not None:
        key = np.flatnonzero(dense)
        count = dense[key].astype(np.float64)
    else:
        joined = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)
        times = np.concatenate(counts) if counts else joined
        key, where = np.unique(joined, return_inverse=True)
        count = np.bincount(where, times, minlength=len(key)).astype(np.float64)
    pair_key, cell = np.divmod(key, q * q if q else 1)
    names, pair = np.unique(pair_key, return_inverse=True)
    first, second = np.divmod(cell, q if q else 1)
    listed = totals(pair, count, len(names)) >= min_shared
    kept = listed[pair]
    renumbered = (np.cumsum(listed) - 1)[pair[kept]]
    return _Cells(renumbered, first[kept], second[kept], count[kept], names[listed])


def _steps(cells: _Cells, q: int) -> tuple[Array, Array]:
    """Each cell's two values as places among the values that occur in the pair."""
    first, second = cells.pair * q + cells.first, cells.pair * q + cells.second
    found, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    start = np.searchsorted(found, np.arange(len(cells.raters)) * q)
    steps = (place - np.tile(start[cells.pair], 2)).astype(np.float64)
    return steps[: len(first)], steps[len(first) :]


def _margin(cells: _Cells, codes: Codes, q: int) -> tuple[Array, Codes, Codes]:
    """Counts of one rater's categories: the counts, each one's pair, and each cell's place."""
    keys, where = np.unique(cells.pair * q + codes, return_inverse=True)
    return totals(where, cells.count, len(keys)), keys, where


def _identity(cells: _Cells, n: Array, q: int) -> tuple[Array, Array]:
    """Kappa and its standard error."""
    pairs = len(n)
    differ = (cells.first != cells.second).astype(np.float64)
    rows, row_keys, row_place = _margin(cells, cells.first, q)
    columns, column_keys, column_place = _margin(cells, cells.second, q)
    common, in_rows, in_columns = np.intersect1d(row_keys, column_keys, return_indices=True)
    both = totals(common // q, rows[in_rows] * columns[in_columns], pairs)
    expected = 1 - both / n**2
    # The chance that the other rater differs, given one rater's category.
    by_row = 1 - _looked_up(row_keys, column_keys, columns) / n[row_keys // q]
    by_column = 1 - _looked_up(column_keys, row_keys, rows) / n[column_keys // q]
    return _kappa(cells, n, differ, expected, by_row[row_place], by_column[column_place])


def _looked_up(wanted: Codes, keys: Codes, values: Array) -> Array:
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0.0)


def _quadratic(cells: _Cells, n: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Kappa with quadratic weights and its standard error, from moments."""
    pairs = len(n)

    def moments(values: Array) -> tuple[Array, Array]:
        mean = totals(cells.pair, cells.count * values, pairs) / n
        apart = (values - mean[cells.pair]) ** 2
        return mean, totals(cells.pair, cells.count * apart, pairs) / n

    (mean_x, var_x), (mean_y, var_y) = moments(x), moments(y)
    expected = var_x + var_y + (mean_x - mean_y) ** 2
    by_row = (x - mean_y[cells.pair]) ** 2 + var_y[cells.pair]
    by_column = (y - mean_x[cells.pair]) ** 2 + var_x[cells.pair]
    return _kappa(cells, n, (x - y) ** 2, expected, by_row, by_column)


def _kappa(
    cells: _Cells, n: Array, distance: Array, expected: Array, by_row: Array, by_column: Array
) -> tuple[Array, Array]:
    pairs = len(n)
    observed = totals(cells.pair, cells.count * distance, pairs) / n
    below = np.where(expected > 1e-12, expected, np.nan)
    ratio = observed / below
    parts = (distance - ratio[cells.pair] * (by_row + by_column)) ** 2
    spread = totals(cells.pair, cells.count * parts, pairs) / n
    variance = (spread - observed**2) / (n * below**2)
    return 1 - ratio, np.sqrt(np.maximum(variance, 0.0))


def _spearman(cells: _Cells, n: Array, q: int) -> Array:
    """Spearman's correlation of each pair."""

    def ranks(codes: Codes) -> Array:
        counts, keys, place = _margin(cells, codes, q)
        pair = keys // q
        before = np.concatenate([[0.0], np.cumsum(n)[:-1]])
        middle = np.cumsum(counts) - counts / 2 - before[pair] - n[pair] / 2
        return np.asarray(middle[place])

    a, b = ranks(cells.first), ranks(cells.second)
    pairs = len(n)
    product = totals(cells.pair, cells.count * a * b, pairs)
    squares = totals(cells.pair, cells.count * a**2, pairs)
    squares = squares * totals(cells.pair, cells.count * b**2, pairs)
    usable = (squares > 0) & (n >= 3)
    return np.clip(product / np.sqrt(np.where(usable, squares, np.nan)), -1, 1)


def _normal(estimate: Array, se: Array, confidence: float) -> tuple[Array, Array, Array]:
    from scipy.special import ndtri

    margin = float(ndtri((1 + confidence) / 2)) * np.where(se > 1e-9, se, np.nan)
    return estimate, np.maximum(estimate - margin, -1), np.minimum(estimate + margin, 1)


def _wilson(same: Array, n: Array, confidence: float) -> tuple[Array, Array, Array]:
    """Shares in percent with Wilson's interval."""
    share = same / n
    low, high = wilson(share, n, confidence=confidence)
    return 100 * share, 100 * low, 100 * high
