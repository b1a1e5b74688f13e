"""Solving with the random effects' matrix: exactly, or by iteration where it is large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.blocks import Blocks
from empathylab.stats.mixed.components import largest_core, level_components
from empathylab.stats.mixed.effects.exact import ExactSolver
from empathylab.stats.mixed.effects.iterative import IterativeSolver
from empathylab.stats.mixed.effects.scaled import Pattern
from empathylab.stats.mixed.effects.structure import Effects

Method = Literal["exact", "iterative"]

DENSE_CORE = 1_000
"""Connected effects outside the largest grouping up to which the matrix is decomposed exactly."""


class Solved(Protocol):
    """The random effects' matrix at given weights and factors."""

    @property
    def log_determinant(self) -> float: ...

    def solve(self, right: Array) -> Array:
        """D⁻¹ times a vector, or each column of a matrix."""
        ...

    def inverse_rows(self) -> list[Array]:
        """Per grouping and row: D⁻¹Λ'z of that row at its own level, rows × columns."""
        ...


class Solver(Protocol):
    """What prepares the pattern of a matrix once."""

    @property
    def method(self) -> Method: ...

    def factor(self, weight: Array, factors: Sequence[Array]) -> Solved: ...


def solver_for(effects: Effects, method: Method | None = None) -> Solver:
    """The exact solver up to a size, the iterative one beyond; `method` overrides.

    Intercepts of which few are connected are solved in blocks.
    """
    if not effects.groups:
        return NoEffects()
    parts = [group.size * group.width for group in effects.groups]
    if method is None:
        codes = [group.codes for group in effects.groups]
        if effects.is_scalar and largest_core(level_components(codes, parts), parts) <= DENSE_CORE:
            return Blocks(codes, parts)
        method = "exact" if sum(parts) - max(parts) <= DENSE_CORE else "iterative"
    pattern = Pattern(effects)
    return ExactSolver(pattern) if method == "exact" else IterativeSolver(pattern)


class NoEffects:
    """The matrix of a model without groupings, which has no rows."""

    method: Literal["exact"] = "exact"
    log_determinant = 0.0

    def factor(self, weight: Array, factors: Sequence[Array]) -> Solved:
        return self

    def solve(self, right: Array) -> Array:
        return right

    def inverse_rows(self) -> list[Array]:
        return []
