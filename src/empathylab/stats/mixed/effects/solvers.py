"""Solving with the random effects' matrix: exactly, or by iteration where it is large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.effects.exact import ExactSolver
from empathylab.stats.mixed.effects.iterative import IterativeSolver
from empathylab.stats.mixed.effects.scaled import Pattern
from empathylab.stats.mixed.effects.structure import Effects

Method = Literal["exact", "iterative"]

DENSE_CORE = 1_000
"""Effects outside the largest grouping up to which the matrix is decomposed exactly."""


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
    """The exact solver up to a size, the iterative one beyond; `method` overrides."""
    if method is None:
        parts = [group.size * group.width for group in effects.groups]
        method = "exact" if sum(parts) - max(parts) <= DENSE_CORE else "iterative"
    pattern = Pattern(effects)
    return ExactSolver(pattern) if method == "exact" else IterativeSolver(pattern)
