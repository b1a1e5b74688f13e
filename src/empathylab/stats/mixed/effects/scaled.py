"""The random effects' matrix D = I + Λ'Z'WZΛ, scaled so that each level's own block is I.

D = L(I + E)L', where L holds the Cholesky factors of the levels' own blocks. E couples two levels
of different groupings where they share a row, so it is as sparse as the design.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array, Indices
from empathylab.stats.mixed.effects.structure import Effects


class Pattern:
    """Which levels of different groupings share a row."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.pairs = list(itertools.combinations(range(len(effects.groups)), 2))
        self.slots: list[Indices] = []
        """Per pair of groupings and row: its cell."""
        self.cells: list[tuple[Indices, Indices]] = []
        """Per pair of groupings: the two levels of each cell."""
        for first, second in self.pairs:
            one, two = effects.groups[first], effects.groups[second]
            cells, slots = np.unique(one.codes * two.size + two.codes, return_inverse=True)
            self.slots.append(slots.astype(np.intp))
            levels = np.divmod(cells, two.size)
            self.cells.append((levels[0].astype(np.intp), levels[1].astype(np.intp)))

    def places(self, pair: int) -> tuple[Indices, Indices]:
        """Row and column in D of every element of a pair's blocks, in the blocks' order."""
        first, second = self.pairs[pair]
        widths = self.effects.groups[first].width, self.effects.groups[second].width
        levels = self.cells[pair]
        row = self.effects.offsets[first] + levels[0][:, None] * widths[0] + np.arange(widths[0])
        column = (
            self.effects.offsets[second] + levels[1][:, None] * widths[1] + np.arange(widths[1])
        )
        shape = (len(levels[0]), *widths)
        rows = np.broadcast_to(row[:, :, None], shape).reshape(-1)
        columns = np.broadcast_to(column[:, None, :], shape).reshape(-1)
        return rows.astype(np.intp), columns.astype(np.intp)


class Scaled:
    """D at given row weights and factors, factored into L and E."""

    def __init__(self, pattern: Pattern, weight: Array, factors: Sequence[Array]) -> None:
        self.pattern = pattern
        effects = pattern.effects
        self.log_determinant = 0.0
        """Of LL'."""
        self._inverse: list[Array] = []
        self.rows: list[Array] = []
        """Per grouping, L⁻¹Λ'r of each row: rows × columns."""
        for group, factor in zip(effects.groups, factors, strict=True):
            own = np.empty((group.size, group.width, group.width))
            for a, b in itertools.combinations_with_replacement(range(group.width), 2):
                values = group.times(a, group.times(b, weight))
                own[:, a, b] = own[:, b, a] = np.bincount(group.codes, values, minlength=group.size)
            block = factor.T @ own @ factor + np.eye(group.width)
            root = np.linalg.cholesky(block)
            self.log_determinant += 2 * float(np.log(np.diagonal(root, axis1=1, axis2=2)).sum())
            inverse = 1 / root if group.width == 1 else np.linalg.inv(root)
            self._inverse.append(inverse)
            scaled = inverse @ factor.T
            self.rows.append(_row_vectors(group.columns, scaled, group.codes))
        self.blocks = [
            self._coupled(number, weight, *pair) for number, pair in enumerate(pattern.pairs)
        ]
        """Per pair of groupings, the elements of E in each cell."""

    def _coupled(self, number: int, weight: Array, first: int, second: int) -> Array:
        one, two = self.rows[first], self.rows[second]
        slots, count = self.pattern.slots[number], len(self.pattern.cells[number][0])
        block = np.empty((count, one.shape[1], two.shape[1]))
        for a in range(one.shape[1]):
            weighted = weight * one[:, a]
            for b in range(two.shape[1]):
                block[:, a, b] = np.bincount(slots, weighted * two[:, b], minlength=count)
        return block

    def whiten(self, vector: Array) -> Array:
        """L⁻¹ times a vector or a matrix of columns."""
        return self._each_level(vector, transposed=False)

    def unwhiten(self, vector: Array) -> Array:
        """L⁻ᵀ times a vector or a matrix of columns."""
        return self._each_level(vector, transposed=True)

    def _each_level(self, vector: Array, *, transposed: bool) -> Array:
        product = np.empty_like(vector)
        effects = self.pattern.effects
        for group, span, inverse in zip(effects.groups, effects.spans, self._inverse, strict=True):
            matrix = inverse.swapaxes(1, 2) if transposed else inverse
            part = vector[span].reshape(group.size, group.width, -1)
            product[span] = (matrix @ part).reshape(vector[span].shape)
        return product

    def row_vectors(self, own: Sequence[Array], coupled: Sequence[Array]) -> list[Array]:
        """Per grouping and row: D⁻¹Λ'z of that row at its own level.

        `own` and `coupled` are the elements of (I + E)⁻¹ within levels and in each cell.
        """
        effects = self.pattern.effects
        vectors = [
            np.einsum("nab,nb->na", block[group.codes], row)
            if group.width > 1
            else block[group.codes, 0, :] * row
            for group, block, row in zip(effects.groups, own, self.rows, strict=True)
        ]
        for number, (first, second) in enumerate(self.pattern.pairs):
            at = coupled[number][self.pattern.slots[number]]
            vectors[first] += np.einsum("nab,nb->na", at, self.rows[second])
            vectors[second] += np.einsum("nab,na->nb", at, self.rows[first])
        return [
            np.einsum("nba,nb->na", inverse[group.codes], values)
            for group, inverse, values in zip(effects.groups, self._inverse, vectors, strict=True)
        ]


def _row_vectors(columns: Array | None, scaled: Array, codes: NDArray[np.int64]) -> Array:
    if columns is None:
        return np.ascontiguousarray(scaled[codes, :, 0])
    return np.asarray(np.einsum("nab,nb->na", scaled[codes], columns))
