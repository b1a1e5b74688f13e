"""Sums of squares freed of crossed random intercepts, without ever looking at a row again.

With columns W, incidence matrices Z and relative standard deviations θ, everything that a linear
mixed model needs is log|A| and W'V⁻¹W, where A = ΛZ'ZΛ + I, Λ repeats θ over the levels and
V = I + ZΛ²Z'. The largest factor's part of A is diagonal and is eliminated first; the rest splits
into connected blocks (a rater and the raters who share a situation with them), which are
eliminated together, many at a time. Levels of the largest factor that occur equally often enter
through one common weight, so in a balanced study its size costs nothing.

Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical Software 67(1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.linear.elimination import Blocks, WholeMatrix, connected_rows

_DENSE_SHARE = 0.2
"""Proportion of pairs of levels that meet, above which dense products are faster."""
_DENSE_CELLS = 100_000_000
"""Cells of the largest dense table of pairs."""


class Freed(NamedTuple):
    """What is left once the random intercepts are integrated out."""

    log_determinant: float
    """log|A|."""
    products: Array
    """W'V⁻¹W."""


class CrossedIntercepts:
    """The sums over levels and pairs of levels that stand for the rows of a study."""

    def __init__(self, columns: Array, codes: Sequence[Codes], sizes: Sequence[int]) -> None:
        self.groups = len(sizes)
        self.sizes = tuple(sizes)
        self._products = columns.T @ columns
        if not self.groups:
            return
        self._first = int(np.argmax(sizes))
        self._others = [k for k in range(self.groups) if k != self._first]
        self._offsets = np.cumsum([0, *(sizes[k] for k in self._others)])
        self._of_other = np.repeat(
            np.arange(len(self._others)), [sizes[k] for k in self._others]
        ).astype(np.int64)
        self._sums = _level_sums(columns, codes[self._first], sizes[self._first])
        counts = np.bincount(codes[self._first], minlength=sizes[self._first])
        self._counts, self._kind = np.unique(counts, return_inverse=True)
        self._occurring = np.bincount(self._kind)
        self._kind_products = np.stack(
            [self._sums[self._kind == d].T @ self._sums[self._kind == d] for d in self._kinds()]
        )
        if self._others:
            self._meet(columns, codes, sizes)

    def _kinds(self) -> range:
        return range(len(self._counts))

    def _meet(self, columns: Array, codes: Sequence[Codes], sizes: Sequence[int]) -> None:
        """Counts how often the levels of all factors but the largest meet, and meet its levels."""
        from scipy.sparse import csr_array, hstack

        first = _incidence(codes[self._first], sizes[self._first])
        rest: Any = csr_array(hstack([_incidence(codes[k], sizes[k]) for k in self._others]))
        pairs: Any = csr_array(rest.T @ first)
        among: Any = csr_array(rest.T @ rest)
        self._rest_sums = np.concatenate(
            [_level_sums(columns, codes[k], sizes[k]) for k in self._others]
        )
        cells = pairs.shape[0] * pairs.shape[1]
        dense = cells <= _DENSE_CELLS and pairs.nnz > _DENSE_SHARE * cells
        self._pairs = pairs.toarray() if dense else pairs
        self._kind_sums = np.stack(
            [pairs[:, self._kind == d] @ self._sums[self._kind == d] for d in self._kinds()]
        )
        connected = connected_rows(among, pairs)
        self._solver: Blocks | WholeMatrix
        if Blocks.fit_in_memory(connected, len(self._counts)):
            by_kind = [self._pairs[:, self._kind == d] for d in self._kinds()]
            self._solver = Blocks(connected, among, [part @ part.T for part in by_kind])
        else:
            self._solver = WholeMatrix(among, self._pairs, self._kind)

    def freed(self, theta: Array) -> Freed:
        """log|A| and W'V⁻¹W at these relative standard deviations."""
        if not self.groups:
            return Freed(0.0, self._products)
        weights, determinant = self._first_part(theta)
        products = self._products - _weighted(weights, self._kind_products)
        if self._others:
            scale = theta[self._others][self._of_other]
            sums = scale[:, None] * (self._rest_sums - _weighted(weights, self._kind_sums))
            more, explained = self._solver.eliminated(weights, scale, sums)
            determinant += more
            products = products - explained
        return Freed(determinant, products)

    def modes(self, theta: Array, combination: Array) -> list[Array]:
        """Conditional modes of every group's intercepts for the column W · combination."""
        modes: list[Array] = [np.zeros(size) for size in self.sizes]
        if not self.groups:
            return modes
        first = theta[self._first]
        weights, _ = self._first_part(theta)
        own = self._sums @ combination
        if self._others:
            scale = theta[self._others][self._of_other]
            sums = (self._rest_sums - _weighted(weights, self._kind_sums)) @ combination
            rest = scale * self._solver.solved(weights, scale, (scale * sums)[:, None])[:, 0]
            for i, k in enumerate(self._others):
                modes[k] = rest[self._offsets[i] : self._offsets[i + 1]]
            own = own - self._pairs.T @ rest
        modes[self._first] = (first**2 / (first**2 * self._counts + 1))[self._kind] * own
        return modes

    def _first_part(self, theta: Array) -> tuple[Array, float]:
        """The weight of each kind of level of the largest factor, and its part of log|A|."""
        ratio = theta[self._first] ** 2
        below = ratio * self._counts + 1
        return ratio / below, float(self._occurring @ np.log(below))


def _weighted(weights: Array, tables: Array) -> Array:
    return np.asarray((weights @ tables.reshape(len(weights), -1)).reshape(tables.shape[1:]))


def _level_sums(columns: Array, codes: Codes, size: int) -> Array:
    return np.column_stack([np.bincount(codes, column, minlength=size) for column in columns.T])


def _incidence(codes: Codes, size: int) -> Any:
    from scipy.sparse import csr_array

    n = len(codes)
    return csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, size))
