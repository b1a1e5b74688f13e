"""Solving with the random effects' matrix: exactly, or by iteration where it is large.

The exact solver eliminates the grouping with most effects, whose block is diagonal, and decomposes
what is left densely. Where many levels are connected at random that rest fills in, so beyond a
size conjugate gradients solve the system, and fixed random probes estimate the determinant and the
elements of the inverse that the gradient needs. The first two terms of the Neumann series are
taken exactly, so that the probes estimate the remainder only. The scaled matrix of such designs is
well conditioned: iterations do not grow with the number of ratings.

Ubaru, S., Chen, J., & Saad, Y. (2017). SIAM Journal on Matrix Analysis and Applications 38, 1075.
Kündig, P., & Sigrist, F. (2024). Iterative methods for generalized linear mixed models with
crossed random effects. Statistics and Computing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np

from empathylab.stats.mixed.coding import Array
from empathylab.stats.mixed.effects.scaled import Pattern, Scaled
from empathylab.stats.mixed.effects.structure import Effects

Method = Literal["exact", "iterative"]

DENSE_CORE = 1_000
"""Effects outside the largest grouping up to which the matrix is decomposed exactly."""
PROBES = 24
_SEED = 20240501
_TOLERANCE = 1e-8
"""Relative residual at which conjugate gradients end."""
_MOST_STEPS = 1_000


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

    method: Method

    def factor(self, weight: Array, factors: Sequence[Array]) -> Solved: ...


def solver_for(effects: Effects, method: Method | None = None) -> Solver:
    """The exact solver up to a size, the iterative one beyond; `method` overrides."""
    if method is None:
        parts = [group.size * group.width for group in effects.groups]
        method = "exact" if sum(parts) - max(parts) <= DENSE_CORE else "iterative"
    pattern = Pattern(effects)
    return ExactSolver(pattern) if method == "exact" else IterativeSolver(pattern)


class ExactSolver:
    """Eliminates the largest grouping and decomposes the rest densely."""

    method: Method = "exact"

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

    def factor(self, weight: Array, factors: Sequence[Array]) -> ExactFactor:
        return ExactFactor(self, Scaled(self.pattern, weight, factors))


class ExactFactor:
    def __init__(self, solver: ExactSolver, scaled: Scaled) -> None:
        from scipy.linalg import cho_factor
        from scipy.sparse import coo_array, csr_array

        self._solver, self._scaled = solver, scaled
        size = len(solver.core)
        leaves = solver.leaf_span.stop - solver.leaf_span.start
        schur = np.eye(size)
        rows, columns, values = [], [], []
        for number, (first, second) in enumerate(solver.pattern.pairs):
            one, two = solver.places[number]
            block = scaled.blocks[number].reshape(-1)
            if solver.leaf in (first, second):
                rows.append(two if first == solver.leaf else one)
                columns.append(one if first == solver.leaf else two)
                values.append(block)
            else:
                schur[one, two] = block
                schur[two, one] = block
        self._across: Any = csr_array((size, leaves))
        if rows:
            places = (np.concatenate(rows), np.concatenate(columns))
            self._across = coo_array((np.concatenate(values), places), shape=(size, leaves)).tocsr()
            schur -= (self._across @ self._across.T).toarray()
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
        found = np.empty_like(scaled)
        found[solver.core] = core
        found[solver.leaf_span] = leaf - self._across.T @ core
        return self._scaled.unwhiten(found)

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
                found = -across[two, one]
            elif second == solver.leaf:
                found = -across[one, two]
            else:
                found = among[one, two]
            coupled.append(np.asarray(found).reshape(self._scaled.blocks[number].shape))
        return self._scaled.row_vectors(own, coupled)

    def _across_elements(self, among: Array) -> Array:
        """S⁻¹N, core × leaves."""
        return np.asarray((self._across.T @ among).T)

    def _leaf_blocks(self, across: Array) -> Array:
        """I + N'S⁻¹N within each level of the largest grouping."""
        group = self._solver.pattern.effects.groups[self._solver.leaf]
        block = np.broadcast_to(np.eye(group.width), (group.size, group.width, group.width)).copy()
        entries = self._across.tocoo()
        levels, column = np.divmod(entries.col, group.width)
        for other in range(group.width):
            values = entries.data * across[entries.row, levels * group.width + other]
            for own in range(group.width):
                these = column == own
                block[:, own, other] += np.bincount(
                    levels[these], values[these], minlength=group.size
                )
        return block


class IterativeSolver:
    """Conjugate gradients, with fixed probes for traces."""

    method: Method = "iterative"

    def __init__(self, pattern: Pattern, probes: int = PROBES) -> None:
        from scipy.sparse import coo_array

        self.pattern = pattern
        length = pattern.effects.length
        found = [pattern.places(number) for number in range(len(pattern.pairs))]
        rows = np.concatenate([one for one, _ in found] or [np.empty(0, np.intp)])
        columns = np.concatenate([two for _, two in found] or [np.empty(0, np.intp)])
        both = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
        numbered = coo_array((np.arange(1.0, len(both[0]) + 1), both), shape=(length, length))
        self._matrix: Any = numbered.tocsr()
        self._order = self._matrix.data.astype(np.intp) - 1
        generator = np.random.default_rng(_SEED)
        self.probes = generator.choice([-1.0, 1.0], size=(length, probes))

    def matrix(self, blocks: Sequence[Array]) -> Any:
        from scipy.sparse import csr_array

        values = np.concatenate([block.reshape(-1) for block in blocks] or [np.empty(0)])
        data = np.concatenate([values, values])[self._order]
        shape = self._matrix.shape
        return csr_array((data, self._matrix.indices, self._matrix.indptr), shape=shape)

    def factor(self, weight: Array, factors: Sequence[Array]) -> IterativeFactor:
        return IterativeFactor(self, Scaled(self.pattern, weight, factors))


class IterativeFactor:
    def __init__(self, solver: IterativeSolver, scaled: Scaled) -> None:
        self._solver, self._scaled = solver, scaled
        self._matrix = solver.matrix(scaled.blocks)
        self._probed: tuple[Array, float] | None = None

    def solve(self, right: Array) -> Array:
        whitened = self._scaled.whiten(right)
        columns = whitened.reshape(len(right), -1)
        found, _, _ = conjugate_gradients(self._matrix, columns)
        return self._scaled.unwhiten(found.reshape(right.shape))

    @property
    def log_determinant(self) -> float:
        return self._scaled.log_determinant + self._with_probes()[1]

    def _with_probes(self) -> tuple[Array, float]:
        """(I + E)⁻¹ times the probes, and log |I + E|."""
        if self._probed is None:
            probes = self._solver.probes
            found, alphas, betas = conjugate_gradients(self._matrix, probes)
            length, count = probes.shape
            moved = self._matrix @ probes
            logs = length * _log_quadrature(alphas, betas)
            first = np.einsum("ij,ij->j", probes, moved)
            second = np.einsum("ij,ij->j", moved, moved)
            exact = float(self._matrix.data @ self._matrix.data)
            estimate = float((logs - first + second / 2).sum()) / count - exact / 2
            self._probed = found, estimate
        return self._probed

    def inverse_rows(self) -> list[Array]:
        probes = self._solver.probes
        solved, _ = self._with_probes()
        rest, moved = probes - solved, self._matrix @ probes
        half = 0.5 / probes.shape[1]
        pattern = self._solver.pattern
        effects = pattern.effects
        own, coupled = [], []
        for group, span in zip(effects.groups, effects.spans, strict=True):
            shape = (group.size, group.width, probes.shape[1])
            one, two = rest[span].reshape(shape), moved[span].reshape(shape)
            product = one @ two.swapaxes(1, 2)
            own.append(np.eye(group.width) + half * (product + product.swapaxes(1, 2)))
        for number in range(len(pattern.pairs)):
            rows, columns = pattern.places(number)
            total = _paired(rest, moved, rows, columns) + _paired(moved, rest, rows, columns)
            block = self._scaled.blocks[number]
            coupled.append(half * total.reshape(block.shape) - block)
        return self._scaled.row_vectors(own, coupled)


def _paired(one: Array, two: Array, rows: Any, columns: Any) -> Array:
    """The products of given rows of two matrices, a piece at a time to stay in the cache."""
    found = np.empty(len(rows))
    for first in range(0, len(rows), 8192):
        here = slice(first, first + 8192)
        found[here] = np.einsum("ij,ij->i", one[rows[here]], two[columns[here]])
    return found


def conjugate_gradients(matrix: Any, right: Array) -> tuple[Array, Array, Array]:
    """(I + matrix)⁻¹ times each column, and the coefficients of the iteration.

    Golub, G. H., & Van Loan, C. F. (2013). Matrix Computations, 4th edition, section 11.3.
    """
    x = np.zeros_like(right)
    residual, direction = right.copy(), right.copy()
    size = np.einsum("ij,ij->j", residual, residual)
    enough = np.maximum(_TOLERANCE**2 * size, 1e-300)
    alphas, betas = [], []
    for _ in range(_MOST_STEPS):
        if np.all(size <= enough):
            break
        moved = matrix @ direction
        moved += direction
        bend = np.einsum("ij,ij->j", direction, moved)
        alpha = size / np.maximum(bend, 1e-300)
        x += alpha * direction
        moved *= alpha
        residual -= moved
        following = np.einsum("ij,ij->j", residual, residual)
        beta = following / np.maximum(size, 1e-300)
        direction *= beta
        direction += residual
        size = following
        alphas.append(alpha)
        betas.append(beta)
    return x, np.array(alphas), np.array(betas)


def _log_quadrature(alphas: Array, betas: Array) -> Array:
    """Per probe z: z' log(I + E) z / z'z, by Lanczos quadrature."""
    if not len(alphas):
        return np.zeros(alphas.shape[1] if alphas.ndim == 2 else 1)
    steps, count = alphas.shape
    tridiagonal = np.zeros((count, steps, steps))
    place = np.arange(steps)
    tridiagonal[:, place, place] = (1 / alphas).T
    tridiagonal[:, place[1:], place[1:]] += (betas[:-1] / alphas[:-1]).T
    beside = (np.sqrt(betas[:-1]) / alphas[:-1]).T
    tridiagonal[:, place[1:], place[:-1]] = beside
    tridiagonal[:, place[:-1], place[1:]] = beside
    values, vectors = np.linalg.eigh(tridiagonal)
    return np.asarray((vectors[:, 0, :] ** 2 * np.log(np.maximum(values, 1e-300))).sum(axis=1))
