"""The random effects' matrix where it is large: conjugate gradients and fixed probes.

Levels that are connected at random make a matrix that fills in when it is decomposed, but whose
scaled form is well conditioned: iterations do not grow with the number of ratings. The largest
grouping is eliminated exactly, where it has an intercept only. The rest, S, is scaled to I + E.
Its determinant and the elements of its inverse that a gradient needs are the first terms of their
series in E, taken exactly, and a remainder that random probes estimate. The probes are fixed, so
that results repeat.

Ubaru, S., Chen, J., & Saad, Y. (2017). SIAM Journal on Matrix Analysis and Applications 38, 1075.
Kündig, P., & Sigrist, F. (2024). Iterative methods for generalized linear mixed models with
crossed random effects. Statistics and Computing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Indices
from empathylab.stats.mixed.effects.scaled import Pattern, Scaled

_PROBED = 600_000
"""Effects times probes that are worth their time."""
_MIN_PROBES, _MAX_PROBES = 24, 64
_SEED = 20240501
_TOLERANCE = 1e-8
"""Relative residual at which conjugate gradients end."""
_MAX_STEPS = 1_000
_MAX_PAIRS = 30_000_000
"""Pairs of levels that meet within a level of the eliminated grouping."""


class _Leaf(NamedTuple):
    """The eliminated grouping: which effects of the others each of its levels meets."""

    group: int
    size: int
    rows: Indices
    """Per entry of N, the place among the core."""
    levels: Indices
    """Per entry of N, the level, in order."""
    order: Indices
    """Where each entry lies among the elements of the pairs' blocks, one after another."""
    first: Indices
    """Per pair of entries of one level, the first entry."""
    second: Indices


class IterativeSolver:
    """The pattern of S, and probes."""

    method: Literal["iterative"] = "iterative"

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        effects = pattern.effects
        self.leaf = _leaf(pattern)
        inside = np.ones(effects.length, dtype=np.bool_)
        if self.leaf is not None:
            inside[effects.spans[self.leaf.group]] = False
        self.core = np.flatnonzero(inside)
        self.place = np.cumsum(inside) - 1
        size = len(self.core)
        self.within = [
            number
            for number, pair in enumerate(pattern.pairs)
            if self.leaf is None or self.leaf.group not in pair
        ]
        self.cells = [
            (self.place[one], self.place[two])
            for one, two in (pattern.places(number) for number in self.within)
        ]
        keys = [one * size + two for one, two in self.cells]
        keys += [two * size + one for one, two in self.cells]
        self.own = self._own_places()
        keys += [one * size + two for one, two in self.own]
        if self.leaf is not None:
            keys.append(self.leaf.rows[self.leaf.first] * size + self.leaf.rows[self.leaf.second])
        known, slots = np.unique(np.concatenate(keys), return_inverse=True)
        ends = np.cumsum([len(key) for key in keys])
        self.slots = np.split(slots.reshape(-1), ends[:-1])
        """Where the elements of each list of keys lie among those of S."""
        self.rows, self.columns = np.divmod(known, size)
        self.starts = np.searchsorted(self.rows, np.arange(size + 1))
        count = int(np.clip(_PROBED // max(size, 1), _MIN_PROBES, _MAX_PROBES))
        generator = np.random.default_rng(_SEED)
        self.probes = generator.choice([-1.0, 1.0], size=(size, count))

    def _own_places(self) -> list[tuple[Indices, Indices]]:
        """Rows and columns in S of the blocks within levels, per grouping of the core."""
        cells, effects = [], self.pattern.effects
        for number, group in enumerate(effects.groups):
            if self.leaf is not None and number == self.leaf.group:
                continue
            first = self.place[effects.offsets[number]]
            places = first + np.arange(group.size * group.width).reshape(group.size, group.width)
            shape = (group.size, group.width, group.width)
            rows = np.broadcast_to(places[:, :, None], shape).reshape(-1)
            columns = np.broadcast_to(places[:, None, :], shape).reshape(-1)
            cells.append((rows.astype(np.intp), columns.astype(np.intp)))
        return cells

    def factor(self, weight: Array, factors: Sequence[Array]) -> IterativeFactor:
        return IterativeFactor(self, Scaled(self.pattern, weight, factors))


def _leaf(pattern: Pattern) -> _Leaf | None:
    """The grouping to eliminate; None where none has an intercept only, or too many pairs meet."""
    effects = pattern.effects
    sizes = [group.size if group.width == 1 else 0 for group in effects.groups]
    group = int(np.argmax(sizes))
    if not sizes[group] or len(sizes) < 2:
        return None
    offset, length = effects.offsets[group], effects.length
    inside = np.ones(length, dtype=np.bool_)
    inside[effects.spans[group]] = False
    place = np.cumsum(inside) - 1
    rows, levels = [], []
    for number, pair in enumerate(pattern.pairs):
        if group not in pair:
            continue
        one, two = pattern.places(number)
        own, other = (one, two) if pair[0] == group else (two, one)
        rows.append(place[other])
        levels.append(own - offset)
    all_rows, all_levels = np.concatenate(rows), np.concatenate(levels)
    order = np.argsort(all_levels, kind="stable")
    sorted_levels = all_levels[order]
    counts = np.bincount(sorted_levels, minlength=sizes[group])
    if int((counts.astype(np.float64) ** 2).sum()) > _MAX_PAIRS:
        return None
    each = counts[sorted_levels]
    first = np.repeat(np.arange(len(order)), each)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])[sorted_levels]
    within = np.arange(len(first)) - np.repeat(np.cumsum(each) - each, each)
    second = begins[first] + within
    return _Leaf(
        group,
        sizes[group],
        all_rows[order].astype(np.intp),
        sorted_levels.astype(np.intp),
        order.astype(np.intp),
        first.astype(np.intp),
        second.astype(np.intp),
    )


class _Coupling:
    """E = TST − I, as a product: cheaper than its elements where these are many."""

    def __init__(self, scale: Array, among: Any, across: Any) -> None:
        self._scale, self._among, self._across = scale[:, None], among, across

    def __matmul__(self, right: Array) -> Array:
        scaled = self._scale * right
        moved = scaled.copy()
        if self._among is not None:
            moved += self._among @ scaled
        if self._across is not None:
            moved -= self._across @ (self._across.T @ scaled)
        return np.asarray(self._scale * moved - right)


class IterativeFactor:
    def __init__(self, solver: IterativeSolver, scaled: Scaled) -> None:
        from scipy.sparse import csr_array

        self._solver, self._scaled = solver, scaled
        size, count = len(solver.core), len(solver.rows)
        inner = [scaled.blocks[number].reshape(-1) for number in solver.within]
        matrix = np.zeros(count)
        for slots, values in zip(solver.slots, [*inner, *inner], strict=False):
            matrix[slots] = values
        among = matrix.copy() if inner else None
        on_diagonal = solver.rows == solver.columns
        matrix[on_diagonal] = 1.0
        self._entries, across = np.empty(0), None
        leaf = solver.leaf
        if leaf is not None:
            outer = [
                block.reshape(-1)
                for pair, block in zip(solver.pattern.pairs, scaled.blocks, strict=True)
                if leaf.group in pair
            ]
            self._entries = np.concatenate(outer)[leaf.order]
            products = self._entries[leaf.first] * self._entries[leaf.second]
            matrix -= np.bincount(solver.slots[-1], products, minlength=count)
            places = (leaf.rows, leaf.levels)
            across = csr_array((self._entries, places), shape=(size, leaf.size))
        self._across: Any = across
        diagonal = matrix[on_diagonal]
        self._scale = 1 / np.sqrt(diagonal)
        both = self._scale[solver.rows] * self._scale[solver.columns]
        elements = matrix * both
        elements[on_diagonal] = 0.0
        self._squares = float(elements @ elements)
        # The first two terms of the inverse, T(I − E)T, at the elements of S.
        self._near = (on_diagonal - elements) * both
        shape = (size, size)
        apart = count > 2 * len(self._entries) + sum(2 * len(values) for values in inner)
        self._coupling: Any
        if apart:
            sparse = None
            if among is not None:
                kept = among != 0
                places = (solver.rows[kept], solver.columns[kept])
                sparse = csr_array((among[kept], places), shape=shape)
            self._coupling = _Coupling(self._scale, sparse, across)
        else:
            self._coupling = csr_array((elements, solver.columns, solver.starts), shape=shape)
        self._own_determinant = scaled.log_determinant + float(np.log(diagonal).sum())
        self._probed: tuple[Array, Array, float] | None = None

    def solve(self, right: Array) -> Array:
        """D⁻¹ times a vector, or each column of a matrix."""
        whitened = self._scaled.whiten(right).reshape(len(right), -1)
        solver, scale = self._solver, self._scale[:, None]
        core = whitened[solver.core]
        solution = np.empty_like(whitened)
        span = slice(0)
        if solver.leaf is not None:
            span = solver.pattern.effects.spans[solver.leaf.group]
            core = core - self._across @ whitened[span]
        core = scale * conjugate_gradients(self._coupling, scale * core)[0]
        solution[solver.core] = core
        if solver.leaf is not None:
            solution[span] = whitened[span] - self._across.T @ core
        return self._scaled.unwhiten(solution.reshape(right.shape))

    @property
    def log_determinant(self) -> float:
        return self._own_determinant + self._with_probes()[2]

    def _with_probes(self) -> tuple[Array, Array, float]:
        """(I + E)⁻¹ and E times the probes, and log |I + E|."""
        if self._probed is None:
            probes = self._solver.probes
            solved, alphas, betas = conjugate_gradients(self._coupling, probes)
            length, count = probes.shape
            moved = self._coupling @ probes
            logs = length * _log_quadrature(alphas, betas)
            first = np.einsum("ij,ij->j", probes, moved)
            second = np.einsum("ij,ij->j", moved, moved)
            estimate = float((logs - first + second / 2).sum()) / count - self._squares / 2
            self._probed = solved, moved, estimate
        return self._probed

    def inverse_rows(self) -> list[Array]:
        """Per grouping and row: D⁻¹Λ'z of that row at its own level, rows × columns."""
        solver, pattern = self._solver, self._solver.pattern
        solved, moved, _ = self._with_probes()
        scale, count = self._scale[:, None], solver.probes.shape[1]
        one, two = scale * (solver.probes - solved), scale * moved / (2 * count)
        near = self._near
        inside = len(solver.within)
        coupled: list[Array] = [np.empty(0)] * len(pattern.pairs)
        for number, (rows, columns), slots in zip(
            solver.within, solver.cells, solver.slots[:inside], strict=True
        ):
            elements = near[slots] + _paired(one, two, rows, columns)
            coupled[number] = elements.reshape(self._scaled.blocks[number].shape)
        own: list[Array] = []
        slots_of_own = iter(solver.slots[2 * inside : 2 * inside + len(solver.own)])
        places = iter(solver.own)
        for number, group in enumerate(pattern.effects.groups):
            if solver.leaf is not None and number == solver.leaf.group:
                own.append(self._eliminated(one, two, coupled))
                continue
            elements = near[next(slots_of_own)] + _paired(one, two, *next(places))
            own.append(elements.reshape(group.size, group.width, group.width))
        return self._scaled.row_vectors(own, coupled)

    def _eliminated(self, array: Array, two: Array, coupled: list[Array]) -> Array:
        """The eliminated grouping's own elements; those with others are put in their places."""
        leaf = self._solver.leaf
        if leaf is None:
            raise ValueError("no grouping was eliminated")
        pattern = self._solver.pattern
        lifted, other = self._across.T @ array, self._across.T @ two
        near = self._near[self._solver.slots[-1]] * self._entries[leaf.second]
        exact = np.bincount(leaf.first, near, minlength=len(leaf.rows))
        own = 1.0 + np.bincount(leaf.levels, self._entries * exact, minlength=leaf.size)
        own += 2 * np.einsum("ij,ij->i", lifted, other)
        estimate = _rows_times(array, other, leaf.rows, leaf.levels)
        estimate += _rows_times(two, lifted, leaf.rows, leaf.levels)
        entries = np.empty(len(leaf.order))
        entries[leaf.order] = -(exact + estimate)
        first = 0
        for number, pair in enumerate(pattern.pairs):
            if leaf.group in pair:
                shape = self._scaled.blocks[number].shape
                last = first + int(np.prod(shape))
                coupled[number] = entries[first:last].reshape(shape)
                first = last
        return np.asarray(own[:, None, None], dtype=np.float64)


def _paired(array: Array, two: Array, rows: Indices, columns: Indices) -> Array:
    """The symmetric products of given rows of two matrices."""
    return _rows_times(array, two, rows, columns) + _rows_times(two, array, rows, columns)


def _rows_times(array: Array, two: Array, rows: Indices, columns: Indices) -> Array:
    """The products of given rows of two matrices, a piece at a time to stay in the cache."""
    products = np.empty(len(rows))
    for first in range(0, len(rows), 4096):
        here = slice(first, first + 4096)
        products[here] = np.einsum("ij,ij->i", array[rows[here]], two[columns[here]])
    return products


def conjugate_gradients(matrix: Any, right: Array) -> tuple[Array, Array, Array]:
    """(I + matrix)⁻¹ times each column, and the coefficients of the iteration.

    Golub, G. H., & Van Loan, C. F. (2013). Matrix Computations, 4th edition, section 11.3.
    """
    x = np.zeros_like(right)
    residual, direction = right.copy(), right.copy()
    size = np.einsum("ij,ij->j", residual, residual)
    enough = np.maximum(_TOLERANCE**2 * size, 1e-300)
    alphas, betas = [], []
    for _ in range(_MAX_STEPS):
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
