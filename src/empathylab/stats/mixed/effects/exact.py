"""The random effects' matrix, decomposed.

The largest grouping is eliminated, whose block is the identity once scaled, and what is left is
decomposed densely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.effects.scaled import Pattern, Scaled

DENSE_WORK = 3e7
"""Multiplications of the core's complement up to which a dense cross block is faster."""


class ExactSolver:
    """Eliminates the largest grouping and decomposes the rest densely."""

    method: Literal["exact"] = "exact"

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        effects = pattern.effects
        self.leaf = int(np.argmax([group.size * group.width for group in effects.groups]))
        self.leaf_span = effects.spans[self.leaf]
        inside = np.ones(effects.length, dtype=np.bool_)
        inside[self.leaf_span] = False
        self.core = np.flatnonzero(inside)
        self.place = np.full(effects.length, -1, dtype=np.intp)
        self.place[self.core] = np.arange(len(self.core))
        self.place[self.leaf_span] = np.arange(self.leaf_span.stop - self.leaf_span.start)
        self.places = [
            tuple(self.place[part] for part in pattern.places(number))
            for number in range(len(pattern.pairs))
        ]
        self.shape = (len(self.core), self.leaf_span.stop - self.leaf_span.start)
        self.beside_leaf = [n for n, pair in enumerate(pattern.pairs) if self.leaf in pair]
        """Pairs of the largest grouping with another."""
        nothing = np.empty(0, dtype=np.intp)
        turned = [pattern.pairs[n][0] == self.leaf for n in self.beside_leaf]
        ends = [self.places[n] for n in self.beside_leaf]
        self.rows = np.concatenate(
            [nothing, *(end[1 if turn else 0] for end, turn in zip(ends, turned, strict=True))]
        )
        """Row and column of each element of the cross block, core × leaves."""
        self.columns = np.concatenate(
            [nothing, *(end[0 if turn else 1] for end, turn in zip(ends, turned, strict=True))]
        )
        self.dense = self.shape[0] ** 2 * self.shape[1] <= DENSE_WORK

    def cross_block(self, values: Array) -> Any:
        """Core × leaves, sparse where that is less work."""
        if self.dense:
            block = np.zeros(self.shape)
            block[self.rows, self.columns] = values
            return block
        from scipy.sparse import csr_array

        return csr_array((values, (self.rows, self.columns)), shape=self.shape)

    def factor(self, weight: Array, factors: Sequence[Array]) -> ExactFactor:
        return ExactFactor(self, Scaled(self.pattern, weight, factors))


class ExactFactor:
    def __init__(self, solver: ExactSolver, scaled: Scaled) -> None:
        from scipy.linalg import cho_factor

        self._solver, self._scaled = solver, scaled
        schur = np.eye(len(solver.core))
        for number, block in enumerate(scaled.blocks):
            if number not in solver.beside_leaf:
                one, two = solver.places[number]
                schur[one, two] = schur[two, one] = block.reshape(-1)
        self._values = np.concatenate(
            [np.empty(0), *(scaled.blocks[number].reshape(-1) for number in solver.beside_leaf)]
        )
        self._across: Any = solver.cross_block(self._values)
        squared = self._across @ self._across.T
        schur -= squared if solver.dense else squared.toarray()
        self._root = cho_factor(schur, lower=True, overwrite_a=True, check_finite=False)
        self.log_determinant = scaled.log_determinant + 2 * float(
            np.log(np.diag(self._root[0])).sum()
        )

    def solve(self, right: Array) -> Array:
        from scipy.linalg import cho_solve

        solver = self._solver
        scaled = self._scaled.whiten(right)
        leaf = scaled[solver.leaf_span]
        core = scaled[solver.core] - self._across @ leaf
        core = cho_solve(self._root, core, check_finite=False)
        solution = np.empty_like(scaled)
        solution[solver.core] = core
        solution[solver.leaf_span] = leaf - self._across.T @ core
        return self._scaled.unwhiten(solution)

    def inverse_rows(self) -> list[Array]:
        from scipy.linalg.lapack import dpotri

        solver, pattern = self._solver, self._solver.pattern
        among = np.eye(len(solver.core))
        if len(among):
            among = np.asarray(dpotri(self._root[0], lower=1)[0])
        upper = np.triu_indices(len(among), 1)
        among[upper] = among.T[upper]
        across = self._across_elements(among)
        own, coupled = [], []
        for number, group in enumerate(pattern.effects.groups):
            if number == solver.leaf:
                own.append(self._leaf_blocks(across))
                continue
            first = int(solver.place[pattern.effects.offsets[number]])
            places = first + np.arange(group.size * group.width).reshape(group.size, group.width)
            own.append(among[places[:, :, None], places[:, None, :]])
        for number, (first, second) in enumerate(pattern.pairs):
            one, two = solver.places[number]
            if first == solver.leaf:
                elements = -across[two, one]
            elif second == solver.leaf:
                elements = -across[one, two]
            else:
                elements = among[one, two]
            coupled.append(np.asarray(elements).reshape(self._scaled.blocks[number].shape))
        return self._scaled.row_vectors(own, coupled)

    def _across_elements(self, among: Array) -> Array:
        """S⁻¹N, core × leaves."""
        return np.asarray((self._across.T @ among).T)

    def _leaf_blocks(self, across: Array) -> Array:
        """I + N'S⁻¹N within each level of the largest grouping."""
        group = self._solver.pattern.effects.groups[self._solver.leaf]
        block = np.broadcast_to(np.eye(group.width), (group.size, group.width, group.width)).copy()
        rows = self._solver.rows
        levels, column = np.divmod(self._solver.columns, group.width)
        for other in range(group.width):
            values = self._values * across[rows, levels * group.width + other]
            for own in range(group.width):
                these = column == own
                block[:, own, other] += np.bincount(
                    levels[these], values[these], minlength=group.size
                )
        return block
