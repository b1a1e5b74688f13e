"""The random effects' matrix, split into small dense blocks.

D = I + Λ Zᵀ W Z Λ couples two levels only where they share a rating. Levels fall into connected
components; within one, the grouping with most levels (the leaves) is diagonal and is eliminated,
which leaves a Schur complement among the others (the core). Components of one shape are worked on
together as a stack of matrices, so that neither ratings nor components are looped over; a large
component in which few pairs of levels meet is kept sparse.

Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical Software 67(1);
the elimination is the block Cholesky decomposition of Bates' MixedModels.jl.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.sparse_blocks import Elements, SparsePart, coupled
from empathylab.stats.mixed.stacks import Levels, Stack


class _Part(Protocol):
    @property
    def log_determinant(self) -> float: ...

    def solve(self, leaf: Array, core: Array) -> tuple[Array, Array]: ...

    def inverse(self) -> Elements: ...


class Blocks:
    """The pattern of D for random intercepts; `factor` gives its decomposition."""

    method: Literal["exact"] = "exact"

    def __init__(self, codes: Sequence[Codes], sizes: Sequence[int]) -> None:
        self._levels = Levels(codes, sizes)
        self.offsets = self._levels.offsets

    def factor(self, weight: Array, factors: Sequence[Array]) -> Factored:
        """D at these weights and standard deviations (one 1 × 1 factor each), decomposed."""
        sd = np.array([float(factor[0, 0]) for factor in factors])
        return Factored(self._levels, weight, sd)


class DensePart:
    """One stack's part of D: leaves d, cross block B and the core's Schur complement S."""

    def __init__(self, stack: Stack, weight: Array, sd_leaf: float, sd_core: list[float]) -> None:
        self._stack = stack
        count, core, leaves = stack.components, stack.core, stack.leaves
        d = 1 + sd_leaf**2 * np.bincount(stack.leaf, weight, minlength=count * leaves)
        self._d = d.reshape(count, leaves)
        sizes = count * core * leaves, count * core * core
        cross, within = coupled(stack.crossed, stack.cored, weight, sd_core, sizes)
        across = sd_leaf * cross.reshape(count, core, leaves)
        diagonal = np.arange(core)
        self._scaled = across / self._d[:, None, :]
        self._schur = within.reshape(count, core, core)
        self._schur[:, diagonal, diagonal] += 1
        self._schur -= self._scaled @ across.swapaxes(1, 2)

    @property
    def log_determinant(self) -> float:
        root = np.linalg.cholesky(self._schur)
        own = float(np.log(np.diagonal(root, axis1=1, axis2=2)).sum())
        return float(np.log(self._d).sum()) + 2 * own

    def solve(self, leaf: Array, core: Array) -> tuple[Array, Array]:
        """D⁻¹ times columns, given and returned as the leaves' and the core's part."""
        leaves = leaf.reshape(*self._d.shape, -1)
        right = core.reshape(len(leaves), -1, leaves.shape[2]) - self._scaled @ leaves
        among: Array = np.linalg.solve(self._schur, right).astype(np.float64, copy=False)
        back = (among.swapaxes(1, 2) @ self._scaled).swapaxes(1, 2)
        solved = leaves / self._d[..., None] - back
        return solved.reshape(leaf.shape), among.reshape(core.shape)

    def inverse(self) -> Elements:
        stack = self._stack
        among: Array = np.linalg.inv(self._schur).astype(np.float64, copy=False)
        across = among @ self._scaled
        own = 1 / self._d + np.einsum("ckl,ckl->cl", self._scaled, across)
        across, among = -across.reshape(-1), among.reshape(-1)
        return Elements(
            own.reshape(-1)[stack.leaf],
            [across[places] for places in stack.crossed],
            [[among[places] for places in row] for row in stack.cored],
        )


class LeafPart:
    """The part of a single grouping, whose levels are all leaves: D is diagonal."""

    def __init__(self, stack: Stack, weight: Array, sd: float) -> None:
        self._stack = stack
        size = stack.components * stack.leaves
        self._d = 1 + sd**2 * np.bincount(stack.leaf, weight, minlength=size)

    @property
    def log_determinant(self) -> float:
        return float(np.log(self._d).sum())

    def solve(self, leaf: Array, core: Array) -> tuple[Array, Array]:
        return (leaf.T / self._d).T, core

    def inverse(self) -> Elements:
        return Elements((1 / self._d)[self._stack.leaf], [], [])


class Factored:
    """D decomposed at given weights and standard deviations."""

    def __init__(self, levels: Levels, weight: Array, sd: Array) -> None:
        self._levels = levels
        self._sd_leaf = float(sd[levels.leaf])
        self._sd_core = [float(sd[number]) for number in levels.core]
        self._parts = [(stack, self._part(stack, weight)) for stack in levels.stacks]

    @property
    def log_determinant(self) -> float:
        """Only the value of the likelihood needs it; steps towards a mode do not."""
        return sum(part.log_determinant for _, part in self._parts)

    def _part(self, stack: Stack, weight: Array) -> _Part:
        own = weight[stack.ratings]
        if stack.core == 0:
            return LeafPart(stack, own, self._sd_leaf)
        if stack.sparse is not None:
            return SparsePart(stack.sparse, stack.leaf, own, self._sd_leaf, self._sd_core)
        return DensePart(stack, own, self._sd_leaf, self._sd_core)

    def solve(self, right: Array) -> Array:
        """D⁻¹ times a vector over all levels, or each column of a matrix."""
        solved, columns = np.empty_like(right), right.shape[1:]
        for stack, part in self._parts:
            leaf = np.zeros((stack.components * stack.leaves, *columns))
            core = np.zeros((stack.components * stack.core, *columns))
            leaf[stack.leaf_places] = right[stack.leaf_levels]
            core[stack.core_places] = right[stack.core_levels]
            leaf, core = part.solve(leaf, core)
            solved[stack.leaf_levels] = leaf[stack.leaf_places]
            solved[stack.core_levels] = core[stack.core_places]
        return solved

    def inverse_rows(self) -> list[Array]:
        """For each grouping and rating: its level's row of D⁻¹ times Λ z of that rating, n × 1."""
        levels = self._levels
        rows = [np.empty(levels.n) for _ in range(levels.groups)]
        for stack, part in self._parts:
            elements = part.inverse()
            leaf_row = self._sd_leaf * elements.leaf
            for one, number in enumerate(levels.core):
                leaf_row += self._sd_core[one] * elements.crossed[one]
                row = self._sd_leaf * elements.crossed[one]
                for sd, shared in zip(self._sd_core, elements.cored[one], strict=True):
                    row += sd * shared
                rows[number][stack.ratings] = row
            rows[levels.leaf][stack.ratings] = leaf_row
        return [row[:, None] for row in rows]
