"""Every pair of raters that share a situation, all pairs in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empathylab.stats.agreement.coefficient import Coefficient
from empathylab.stats.agreement.cohen import (
    effective_pairs,
    fisher_ends,
    rank_influence,
    rank_interval,
)
from empathylab.stats.agreement.table import RatingTable, totals
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.intervals import wilson
from empathylab.stats.notes import Note, note

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
    """For each pair of raters, cluster and pair of categories that occurs: how often."""

    pair: Codes
    first: Codes
    second: Codes
    count: Array
    raters: Codes
    """Of each pair: rater × number of raters + other rater."""
    clusters: _Clusters | None
    """None where situations are independent."""


@dataclass(frozen=True, slots=True)
class _Clusters:
    """The clusters of each pair of raters."""

    place: Codes
    """Of each cell: which cluster of which pair."""
    pair: Codes
    """Of each such cluster: its pair."""
    counts: Array
    """Of each pair: its clusters."""

    def squares(self, influence: Array) -> Array:
        """Of each pair: the sum of squares of its clusters' sums."""
        sums = totals(self.place, influence, len(self.pair))
        return totals(self.pair, sums**2, len(self.counts))


@dataclass(frozen=True, slots=True)
class _Sizes:
    n: Array
    unshared: Codes
    confidence: float

    def coefficients(
        self, ends: tuple[Array, Array, Array], how: str, undefined: Note | None
    ) -> list[Coefficient]:
        columns = [*ends, self.n, self.unshared]
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
    at once from their tables of counts; clustered where the table has clusters.
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
    ranked, worth = _spearman(cells, n, q, confidence)
    kappas = [
        _quadratic(cells, n, *values),
        _quadratic(cells, n, *_steps(cells, q)),
        _identity(cells, n, q),
    ]
    flat = note("constant_or_few_pairs")
    how = "" if cells.clusters is None else ", clustered"
    columns_of = [
        *(
            sizes.coefficients(
                _ends(*kappa, cells, confidence), f"large sample{how}", note("constant_pair")
            )
            for kappa in kappas
        ),
        sizes.coefficients(
            (ranked, *rank_interval(ranked, worth, confidence)),
            f"Fisher's z (bonett-wright){how}",
            flat,
        ),
        sizes.coefficients(_wilson(cells, n, confidence), f"Wilson{how}", None),
    ]
    return [
        PairAgreement(
            dimension, table.rater_names[a], table.rater_names[b], int(size), *coefficients
        )
        for a, b, size, *coefficients in zip(
            rows.tolist(), columns.tolist(), n.tolist(), *columns_of, strict=True
        )
    ]


def _cells(table: RatingTable, min_shared: int) -> _Cells:
    order = np.lexsort((table.raters, table.situations))
    raters, codes = table.raters[order], table.codes[order]
    sizes = table.sizes.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    k, q = len(table.rater_names), len(table.categories)
    cluster = np.zeros(len(sizes), np.int64) if table.clusters is None else table.clusters
    groups = int(cluster.max(initial=0)) + 1
    space = k * k * groups * q * q
    dense = np.zeros(space, dtype=np.int64) if space <= _DENSE else None
    keys: list[Codes] = []
    counts: list[Codes] = []
    for size in np.unique(sizes[sizes >= 2]):
        left, right = np.triu_indices(int(size), 1)
        same = np.flatnonzero(sizes == size)
        step = max(1, _BLOCK // len(left))
        for begin in range(0, len(same), step):
            units = same[begin : begin + step]
            base = starts[units, None]
            a, b = (base + left).ravel(), (base + right).ravel()
            key = (raters[a] * k + raters[b]) * groups + np.repeat(cluster[units], len(left))
            key = (key * q + codes[a]) * q + codes[b]
            if dense is not None:
                dense += np.bincount(key, minlength=space)
                continue
            cells, times = np.unique(key, return_counts=True)
            keys.append(cells)
            counts.append(times)
    if dense is not None:
        key = np.flatnonzero(dense)
        count = dense[key].astype(np.float64)
    else:
        joined = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)
        times = np.concatenate(counts) if counts else joined
        key, where = np.unique(joined, return_inverse=True)
        count = np.bincount(where, times, minlength=len(key)).astype(np.float64)
    cluster_key, cell = np.divmod(key, q * q if q else 1)
    pair_key, group = np.divmod(cluster_key, groups)
    names, pair = np.unique(pair_key, return_inverse=True)
    first, second = np.divmod(cell, q if q else 1)
    listed = totals(pair, count, len(names)) >= min_shared
    kept = listed[pair]
    renumbered = (np.cumsum(listed) - 1)[pair[kept]]
    clusters = None
    if table.clusters is not None:
        each, place = np.unique(renumbered * groups + group[kept], return_inverse=True)
        own = each // groups
        per_pair = np.bincount(own, minlength=int(listed.sum())).astype(np.float64)
        clusters = _Clusters(place, own, per_pair)
    return _Cells(renumbered, first[kept], second[kept], count[kept], names[listed], clusters)


def _steps(cells: _Cells, q: int) -> tuple[Array, Array]:
    """Each cell's two values as places among the values that occur in the pair."""
    first, second = cells.pair * q + cells.first, cells.pair * q + cells.second
    values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    start = np.searchsorted(values, np.arange(len(cells.raters)) * q)
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
        squares = (values - mean[cells.pair]) ** 2
        return mean, totals(cells.pair, cells.count * squares, pairs) / n

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
    influence = distance - ratio[cells.pair] * (by_row + by_column) + observed[cells.pair]
    if cells.clusters is None:
        squares = totals(cells.pair, cells.count * influence**2, pairs)
    else:
        few = cells.clusters.counts / np.maximum(cells.clusters.counts - 1, 1)
        squares = few * cells.clusters.squares(cells.count * influence)
    return 1 - ratio, np.sqrt(squares) / (n * below)


def _spearman(cells: _Cells, n: Array, q: int, confidence: float) -> tuple[Array, Array]:
    """Spearman's correlation of each pair, and how many independent situations it is worth."""

    def ranks(codes: Codes) -> Array:
        counts, keys, place = _margin(cells, codes, q)
        pair = keys // q
        before = np.concatenate([[0.0], np.cumsum(n)[:-1]])
        middle = np.cumsum(counts) - counts / 2 - before[pair] - n[pair] / 2
        return np.asarray(middle[place])

    a, b = ranks(cells.first), ranks(cells.second)
    pairs = len(n)
    product = totals(cells.pair, cells.count * a * b, pairs)
    squares = [totals(cells.pair, cells.count * side**2, pairs) for side in (a, b)]
    usable = (squares[0] * squares[1] > 0) & (n >= 3)
    x, y = (np.sqrt(np.where(usable, square, np.nan)) for square in squares)
    r = np.clip(product / (x * y), -1, 1)
    root = np.sqrt(n)
    influence = rank_influence(
        a * (root / x)[cells.pair], b * (root / y)[cells.pair], r[cells.pair]
    )
    return r, _worth(cells, n, influence, confidence)


def _worth(cells: _Cells, n: Array, influence: Array, confidence: float) -> Array:
    """How many independent situations those of each pair are worth."""
    if cells.clusters is None:
        return n
    single = totals(cells.pair, cells.count * influence**2, len(n))
    clustered = cells.clusters.squares(cells.count * influence)
    return effective_pairs(n, single, clustered, cells.clusters.counts, confidence)


def _ends(
    estimate: Array, se: Array, cells: _Cells, confidence: float
) -> tuple[Array, Array, Array]:
    from scipy.special import ndtri, stdtrit

    point = (1 + confidence) / 2
    known = np.where(se > 1e-9, se, np.nan)
    if cells.clusters is not None:
        # A single cluster has no degree of freedom, and no interval.
        margin = stdtrit(cells.clusters.counts - 1, point) * known
        return estimate, *fisher_ends(np.where(known > 0, estimate, np.nan), margin)
    margin = ndtri(point) * known
    return estimate, np.maximum(estimate - margin, -1), np.minimum(estimate + margin, 1)


def _wilson(cells: _Cells, n: Array, confidence: float) -> tuple[Array, Array, Array]:
    """Shares in percent with Wilson's interval."""
    same = (cells.first == cells.second).astype(np.float64)
    share = totals(cells.pair, cells.count * same, len(n)) / n
    worth = _worth(cells, n, same - share[cells.pair], confidence)
    low, high = wilson(share, worth, confidence=confidence)
    return 100 * share, 100 * low, 100 * high
