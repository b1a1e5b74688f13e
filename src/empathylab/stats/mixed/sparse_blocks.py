"""A large component of the random effects' matrix, in which few pairs of levels share a rating.

As in `blocks`, the leaves are eliminated; the cross block is sparse, the core's Schur complement
is decomposed densely.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Indices
from empathylab.stats.mixed.effects.exact import DENSE_WORK

_FULL = 0.25
"""Proportion of pairs that meet, above which a dense matrix is faster."""
_STRIP = 256
"""Rows of the inverse held at a time."""


class Elements(NamedTuple):
    """What the gradient needs of D⁻¹, for each rating of a part."""

    leaf: Array
    """Of its leaf with itself."""
    crossed: list[Array]
    """Of its level in each core grouping with its leaf."""
    cored: list[list[Array]]
    """Of its levels in each pair of core groupings."""


def coupled(
    crossed: list[Indices],
    cored: list[list[Indices]],
    weight: Array,
    sds: list[float],
    sizes: tuple[int, int],
) -> tuple[Array, Array]:
    """The ratings' weights by core level and leaf, and by pair of core levels, times their sds.

    `crossed` and `cored` say where each rating counts in the two arrays of these sizes.
    """
    across, within = np.zeros(sizes[0]), np.zeros(sizes[1])
    for sd, slots, pair_slots in zip(sds, crossed, cored, strict=True):
        across += sd * np.bincount(slots, weight, minlength=len(across))
        for other, pairs in zip(sds, pair_slots, strict=True):
            within += sd * other * np.bincount(pairs, weight, minlength=len(within))
    return across, within


class SparsePattern(NamedTuple):
    """Which levels of core and leaves, and which of the core, share a rating."""

    core: int
    leaves: int
    cells: Indices
    """Core × leaf, in order of rows."""
    slots: list[Indices]
    """Per core grouping and rating: its cell."""
    pairs: Indices
    """Core × core, in order of rows."""
    pair_slots: list[list[Indices]]


def sparse_pattern(
    crossed: list[Indices], cored: list[list[Indices]], core: int, leaves: int
) -> SparsePattern | None:
    """The pattern of one component; None where so many pairs meet that dense is better."""
    n = len(crossed[0])
    cells, slots = np.unique(np.concatenate(crossed), return_inverse=True)
    if core**2 * leaves <= DENSE_WORK or len(cells) > _FULL * core * leaves:
        return None
    flat = [places for row in cored for places in row]
    pairs, pair_slots = np.unique(np.concatenate(flat), return_inverse=True)
    split = list(pair_slots.reshape(-1, n))
    width = len(cored)
    return SparsePattern(
        core=core,
        leaves=leaves,
        cells=cells,
        slots=list(slots.reshape(-1, n)),
        pairs=pairs,
        pair_slots=[split[row * width : (row + 1) * width] for row in range(width)],
    )


class SparsePart:
    """One component's part of D: leaves d, sparse cross block and the core's Schur complement."""

    def __init__(
        self,
        pattern: SparsePattern,
        leaf: Indices,
        weight: Array,
        sd_leaf: float,
        sd_core: list[float],
    ) -> None:
        from scipy.linalg import cho_factor

        self._pattern, self._leaf = pattern, leaf
        self._d = 1 + sd_leaf**2 * np.bincount(leaf, weight, minlength=pattern.leaves)
        sizes = len(pattern.cells), len(pattern.pairs)
        crossed, within = coupled(pattern.slots, pattern.pair_slots, weight, sd_core, sizes)
        crossed *= sd_leaf
        self._rows, self._columns = np.divmod(pattern.cells, pattern.leaves)
        self._scaled = self._matrix(crossed / self._d[self._columns])
        core = self._core_matrix(within) - self._scaled @ self._matrix(crossed).T
        self._root = cho_factor(core.toarray(), lower=True, overwrite_a=True, check_finite=False)
        self.log_determinant = float(np.log(self._d).sum())
        self.log_determinant += 2 * float(np.log(np.diag(self._root[0])).sum())

    def _matrix(self, values: Array) -> Any:
        from scipy.sparse import csr_array

        starts = np.searchsorted(self._rows, np.arange(self._pattern.core + 1))
        shape = (self._pattern.core, self._pattern.leaves)
        return csr_array((values, self._columns, starts), shape=shape)

    def _core_matrix(self, values: Array) -> Any:
        from scipy.sparse import csr_array, eye_array

        size = self._pattern.core
        places = np.divmod(self._pattern.pairs, size)
        return csr_array((values, places), shape=(size, size)) + eye_array(size, format="csr")

    def solve(self, leaf: Array, core: Array) -> tuple[Array, Array]:
        """D⁻¹ times columns, given and returned as the leaves' and the core's part."""
        among = self._solved(core - self._scaled @ leaf)
        return (leaf.T / self._d).T - self._scaled.T @ among, among

    def inverse(self) -> Elements:
        pattern = self._pattern
        across, among = np.empty(len(pattern.cells)), np.empty(len(pattern.pairs))
        pair_rows, pair_columns = np.divmod(pattern.pairs, pattern.core)
        turned = self._scaled.T.tocsr()
        for first in range(0, pattern.core, _STRIP):
            last = min(first + _STRIP, pattern.core)
            strip = self._solved(np.eye(pattern.core, last - first, -first))
            here = slice(*np.searchsorted(pair_rows, [first, last]))
            among[here] = strip[pair_columns[here], pair_rows[here] - first]
            reached = turned @ strip
            here = slice(*np.searchsorted(self._rows, [first, last]))
            across[here] = reached[self._columns[here], self._rows[here] - first]
        more = np.bincount(self._columns, self._scaled.data * across, minlength=pattern.leaves)
        return Elements(
            (1 / self._d + more)[self._leaf],
            [-across[slot] for slot in pattern.slots],
            [[among[slot] for slot in row] for row in pattern.pair_slots],
        )

    def _solved(self, right: Array) -> Array:
        """The inverse of the core's complement times columns."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self._root, right, check_finite=False), dtype=np.float64)
