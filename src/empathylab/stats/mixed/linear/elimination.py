"""Solving with S = I + Λ(N − Σ w G)Λ, a matrix of many small connected blocks or one large one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Codes

_STACK_CELLS = 20_000_000
"""Cells of all dense blocks and their weighted parts together, above which they are not kept."""
_DENSE_ROWS = 4_000
"""Rows of a connected matrix up to which dense elimination is worth its memory."""


class Connected(NamedTuple):
    """Which rows of a matrix touch each other, directly or through others."""

    block: Codes
    """The block each row is in."""
    place: Codes
    """The row's place in its block."""
    sizes: Codes
    """Rows in each block."""

    @property
    def padded(self) -> Codes:
        """Sizes rounded up to a few, so that blocks of nearly one size are solved together."""
        steps = np.unique([1, 2, 3, *(step * 2**k for k in range(30) for step in (4, 6))])
        return steps[np.searchsorted(steps, self.sizes)].astype(np.int64)


class _Batch(NamedTuple):
    """Blocks of one padded size; padding stands alone and changes nothing."""

    rows: Codes
    """The matrix's row at each place of each block, size × blocks; one past the end for padding."""
    base: Array
    """N, size × size × blocks."""
    parts: Array
    """G for each weight, weights × (size · size · blocks)."""


def connected_rows(among: Any, pairs: Any) -> Connected:
    """The blocks of rows that touch each other in `among` or through a column of `pairs`."""
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    rows = among.shape[0]
    graph = block_array([[among, pairs], [pairs.T, None]], format="csr")
    label = connected_components(graph, directed=False)[1][:rows]
    _, block, sizes = np.unique(label, return_inverse=True, return_counts=True)
    order = np.argsort(block, kind="stable")
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Connected(block.astype(np.int64), place, sizes.astype(np.int64))


class Blocks:
    """The matrix as dense blocks, those of one size side by side."""

    def __init__(self, connected: Connected, among: Any, parts: Sequence[Any]) -> None:
        self._rows = among.shape[0]
        padded = connected.padded
        self._batches = [
            self._batch(connected, padded, int(size), among, parts) for size in np.unique(padded)
        ]

    @staticmethod
    def fit_in_memory(connected: Connected, weights: int) -> bool:
        """Whether the blocks, kept once for every weight, stay small."""
        return int((connected.padded**2).sum()) * (weights + 1) <= _STACK_CELLS

    def _batch(
        self, connected: Connected, padded: Codes, size: int, among: Any, parts: Sequence[Any]
    ) -> _Batch:
        chosen = padded == size
        count, size = int(chosen.sum()), int(connected.sizes[chosen].max())
        column = np.full(len(padded), -1, dtype=np.int64)
        column[chosen] = np.arange(count)
        where = column[connected.block]
        rows = np.full((size, count), self._rows, dtype=np.int64)
        mine = np.flatnonzero(where >= 0)
        rows[connected.place[mine], where[mine]] = mine

        def spread(matrix: Any) -> Array:
            out = np.zeros((size, size, count))
            if isinstance(matrix, np.ndarray):
                framed = np.pad(matrix, (0, 1))
                return np.asarray(framed[rows[:, None, :], rows[None, :, :]])
            entries = matrix.tocoo()
            inside = where[entries.row] >= 0
            i, j = entries.row[inside], entries.col[inside]
            out[connected.place[i], connected.place[j], where[i]] = entries.data[inside]
            return out

        stacked = np.stack([spread(part).reshape(-1) for part in parts])
        return _Batch(rows, spread(among), stacked)

    def eliminated(self, weights: Array, scale: Array, sums: Array) -> tuple[float, Array]:
        """log|S| and sums' S⁻¹ sums."""
        determinant, explained = 0.0, np.zeros((sums.shape[1], sums.shape[1]))
        for matrix, right in self._systems(weights, scale, sums):
            blocks = matrix.shape[2]
            many = blocks >= len(matrix)
            eliminate = _eliminated_together if many else _eliminated_by_cholesky
            more, part = eliminate(matrix, right)
            determinant += more
            explained += part
        return determinant, explained

    def solved(self, weights: Array, scale: Array, sums: Array) -> Array:
        """S⁻¹ sums."""
        out = np.zeros((self._rows + 1, sums.shape[1]))
        systems = self._systems(weights, scale, sums)
        for batch, (matrix, right) in zip(self._batches, systems, strict=True):
            solution = np.linalg.solve(matrix.transpose(2, 0, 1), right.transpose(2, 0, 1))
            out[batch.rows] = solution.transpose(1, 0, 2)
        return out[:-1]

    def _systems(self, weights: Array, scale: Array, sums: Array) -> list[tuple[Array, Array]]:
        """Each batch's S (size × size × blocks) and right-hand sides (size × columns × blocks)."""
        framed_scale = np.append(scale, 0.0)
        framed_sums = np.concatenate([sums, np.zeros((1, sums.shape[1]))])
        systems = []
        for batch in self._batches:
            size = len(batch.rows)
            matrix = batch.base - (weights @ batch.parts).reshape(batch.base.shape)
            own = framed_scale[batch.rows]
            matrix *= own[:, None, :] * own[None, :, :]
            matrix[np.arange(size), np.arange(size)] += 1
            right = np.ascontiguousarray(framed_sums[batch.rows].transpose(0, 2, 1))
            systems.append((matrix, right))
        return systems


class WholeMatrix:
    """The matrix as one piece, for studies whose blocks are too large to keep for every weight."""

    def __init__(self, among: Any, pairs: Any, kind: Codes) -> None:
        self._among, self._pairs, self._kind = among, pairs, kind
        self._dense = isinstance(pairs, np.ndarray) or among.shape[0] <= _DENSE_ROWS

    def eliminated(self, weights: Array, scale: Array, sums: Array) -> tuple[float, Array]:
        """log|S| and sums' S⁻¹ sums."""
        matrix = self._matrix(weights, scale)
        if self._dense:
            return _eliminated_by_cholesky(matrix[:, :, None], sums[:, :, None])
        factor = self._factor(matrix)
        determinant = float(np.log(np.abs(factor.U.diagonal())).sum())
        return determinant, np.asarray(sums.T @ factor.solve(sums))

    def solved(self, weights: Array, scale: Array, sums: Array) -> Array:
        """S⁻¹ sums."""
        matrix = self._matrix(weights, scale)
        if self._dense:
            return np.linalg.solve(matrix, sums)
        return np.asarray(self._factor(matrix).solve(sums))

    def _matrix(self, weights: Array, scale: Array) -> Any:
        from scipy.sparse import csc_array, diags_array

        explained = (self._pairs * weights[self._kind]) @ self._pairs.T
        if self._dense:
            inner = self._among - explained
            inner = inner if isinstance(inner, np.ndarray) else inner.toarray()
            return np.asarray(inner * scale[:, None] * scale + np.eye(len(scale)))
        own = diags_array(scale)
        return csc_array(own @ (self._among - explained) @ own + diags_array(np.ones(len(scale))))

    @staticmethod
    def _factor(matrix: Any) -> Any:
        from scipy.sparse.linalg import splu

        return splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )


def _eliminated_together(matrix: Array, right: Array) -> tuple[float, Array]:
    """Gauss's elimination of all blocks at once: one step a column, each step over every block."""
    size = len(matrix)
    determinant, explained = 0.0, np.zeros((right.shape[1], right.shape[1]))
    for j in range(size):
        pivot, row, sums = matrix[j, j], matrix[j, j + 1 :], right[j]
        determinant += float(np.log(pivot).sum())
        explained += (sums / pivot) @ sums.T
        factor = row / pivot
        matrix[j + 1 :, j + 1 :] -= factor[:, None, :] * row[None, :, :]
        right[j + 1 :] -= factor[:, None, :] * sums[None, :, :]
    return determinant, explained


def _eliminated_by_cholesky(matrix: Array, right: Array) -> tuple[float, Array]:
    """The same by one Cholesky factor per block of S with the sums below it.

    S is at least I, so sums' S⁻¹ sums is at most sums' sums: with that and I in the corner, the
    whole is positive definite, and its factor holds S's and L⁻¹ sums.
    """
    size, columns, blocks = right.shape
    whole = np.empty((blocks, size + columns, size + columns))
    whole[:, :size, :size] = matrix.transpose(2, 0, 1)
    below = right.transpose(2, 1, 0)
    whole[:, size:, :size] = below
    whole[:, size:, size:] = below @ below.transpose(0, 2, 1) + np.eye(columns)
    factor = np.linalg.cholesky(whole)  # reads the lower half only
    diagonal = np.diagonal(factor[:, :size, :size], axis1=1, axis2=2)
    left = factor[:, size:, :size]
    explained = (left @ left.transpose(0, 2, 1)).sum(axis=0)
    return 2 * float(np.log(diagonal).sum()), explained
