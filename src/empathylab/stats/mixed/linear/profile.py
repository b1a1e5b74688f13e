"""The profiled criterion of a linear mixed model, its gradient, and where it is least.

With D = I + Λ'Z'ZΛ, V⁻¹ = I − ZΛD⁻¹Λ'Z' and E = V⁻¹W, an element of Λ changes W'V⁻¹W by minus
E'Z dΛ Λ'Z'E and its transpose, and log|D| by 2 tr(D⁻¹Λ'Z'Z dΛ).

Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical Software 67(1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.boundary import Limits, bounded
from empathylab.stats.mixed.effects.solvers import Method, Solved, solver_for
from empathylab.stats.mixed.effects.structure import Effects
from empathylab.stats.mixed.linear.criterion import Columns, Minimum, Point
from empathylab.stats.mixed.search import Place, Precision, descend, inverted, restricted, settle

_LIMITS = Limits(near=0.1, beside=0.02, alone=1e-9, jointly=1e-5)
_PRECISION: dict[Method, Precision] = {
    "exact": Precision(slack=1e-8, loose=1e-8, tight=1e-18, share=1e-3),
    "iterative": Precision(slack=0.02, loose=1e-8, tight=1e-6, share=0.05),
}
_FLAT = 1e-5
"""Curvature, relative to that of single elements, in a direction that the data say nothing of."""
_STEP = 1e-4
_MAX_VALUE = 1e5
"""Elements of Λ beyond which nothing is left for the residual."""


class _Freed(NamedTuple):
    """What is left at one θ once the random effects are integrated out."""

    solved: Solved
    """D, ready to solve with."""
    solution: Array
    """D⁻¹Λ'Z'W."""
    products: Array
    """W'V⁻¹W."""


class _Slopes(NamedTuple):
    """The model at one θ, and how its pieces change with each element."""

    point: Point
    determinants: Array
    """Slopes of what does not depend on the residual variance."""
    residual: Array
    products: Array
    """Of W'V⁻¹W."""

    def criterion(self, degrees: int) -> Array:
        return np.asarray(self.determinants + degrees * self.residual / self.point.residual)


class Profile:
    """The criterion as a function of the elements of Λ alone."""

    def __init__(
        self, columns: Columns, effects: Effects, *, reml: bool, method: Method | None = None
    ) -> None:
        self.columns, self.effects, self.reml = columns, effects, reml
        self.p = columns.p
        self.evaluations = 0
        self._solver = solver_for(effects, method)
        self.method: Method = self._solver.method
        self._precision = _PRECISION[self.method]
        self._ones = np.ones(effects.n)
        self._plain = columns.values.T @ columns.values
        self._sums = self._summed(columns.values.T)

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the residual variance."""
        return self.columns.n - self.p if self.reml else self.columns.n

    def _freed(self, factors: list[Array]) -> _Freed:
        solved = self._solver.factor(self._ones, factors)
        right = np.zeros((self.effects.length, self.p + 1))
        for span, sums, factor in zip(self.effects.spans, self._sums, factors, strict=True):
            right[span] = np.einsum("lkw,kj->ljw", sums, factor).reshape(-1, self.p + 1)
        solution = solved.solve(right)
        products = self._plain - right.T @ solution
        return _Freed(solved, solution, (products + products.T) / 2)

    def at(self, theta: Array) -> Point:
        """The model at θ."""
        self.evaluations += 1
        freed = self._freed(self.effects.factors(theta))
        return self.columns.point(freed.solved.log_determinant, freed.products, reml=self.reml)

    def slopes(self, theta: Array) -> _Slopes:
        """The model at θ with its derivatives."""
        self.evaluations += 1
        factors = self.effects.factors(theta)
        solved, solution, products = self._freed(factors)
        point = self.columns.point(solved.log_determinant, products, reml=self.reml)
        turned = self._turned(solution, factors)
        rows = solved.inverse_rows()
        determinants = 2 * self.effects.row_products(self._ones, rows)
        residual = self._residual_slopes(turned, products)
        if self.reml and self.p:
            inner = np.linalg.inv(products[: self.p, : self.p])
            determinants = determinants + np.einsum(
                "kij,ji->k", turned[:, : self.p, : self.p], inner
            )
        return _Slopes(point, determinants, residual, turned)

    def _turned(self, solution: Array, factors: list[Array]) -> Array:
        """Slopes of W'V⁻¹W in each element of θ."""
        size = self.p + 1
        if not factors:
            return np.zeros((0, size, size))
        outer = self._summed(
            column - self.effects.linear(one, factors)
            for column, one in zip(self.columns.values.T, solution.T, strict=True)
        )
        slopes = []
        for parameter in self.effects.parameters:
            own, factor = outer[parameter.group], factors[parameter.group]
            other = np.einsum("lkw,k->lw", own, factor[:, parameter.column])
            product = own[:, parameter.row, :].T @ other
            slopes.append(-(product + product.T))
        return np.array(slopes).reshape(len(self.effects.parameters), size, size)

    def _summed(self, columns: Iterable[Array]) -> list[Array]:
        """Z' times columns over rows, per grouping as levels × random columns × columns."""
        sums = [self.effects.sums(column) for column in columns]
        return [np.stack(own, axis=2) for own in zip(*sums, strict=True)]

    def _residual_slopes(self, turned: Array, products: Array) -> Array:
        p = self.p
        shift = np.linalg.solve(products[:p, :p], products[:p, p]) if p else np.empty(0)
        along = np.append(-shift, 1.0)
        return np.asarray(np.einsum("i,kij,j->k", along, turned, along) * self.columns.unit**2)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """The criterion and its gradient; 0 where θ is so large that the search may end."""
        try:
            slopes = self.slopes(theta)
        except np.linalg.LinAlgError:
            return math.inf, np.zeros(len(theta))
        searched = np.abs(theta).max(initial=0.0) < _MAX_VALUE
        return slopes.point.criterion, slopes.criterion(self.degrees) * searched

    def modes(self, theta: Array, beta: Array) -> list[Array]:
        """Conditional modes of each grouping's effects, levels × columns."""
        factors = self.effects.factors(theta)
        solution = self._freed(factors).solution
        return self.effects.effects(solution @ self.columns.combination(beta), factors)

    def minimised(self) -> Minimum:
        """The θ of least criterion, diagonals at 0 or above."""
        start = 0.5 * self.effects.on_diagonal
        place = descend(
            self,
            start,
            self._first_inverse(start),
            tolerance=self._precision.loose,
            max_iterations=400,
            slack=self._precision.slack,
        )
        theta, free = bounded(self, self.effects, place, _LIMITS, self._precision.slack)
        largest, converged = float(np.abs(theta).max(initial=0.0)), True
        if largest >= _MAX_VALUE:
            theta, converged = theta * (_MAX_VALUE / largest), False
        elif free:
            theta, converged = self._polished(theta, free, place)
        return self._minimum(theta * self.effects.signs(theta), free, converged)

    def _first_inverse(self, start: Array) -> Array:
        held = []
        for parameter in self.effects.parameters:
            group = self.effects.groups[parameter.group]
            share = []
            for column in (parameter.row, parameter.column):
                squares = group.times(column, group.times(column, self._ones))
                count = np.bincount(group.codes, squares, minlength=group.size)
                share.append(0.5 * count / (1 + 0.25 * count))
            held.append(max(4 * float(share[0] @ share[1]), 1e-3))
        return np.diag(1 / np.array(held).reshape(len(start)))

    def _polished(self, theta: Array, free: list[int], place: Place) -> tuple[Array, bool]:
        ended = settle(
            restricted(self, theta, free),
            theta[free],
            place.inverse[np.ix_(free, free)],
            self._precision,
            partial(inverted, flat=_FLAT),
        )
        theta = theta.copy()
        theta[free] = ended.at
        return theta, ended.converged

    def _minimum(self, theta: Array, free: list[int], converged: bool) -> Minimum:
        here = self.slopes(theta)
        k = len(theta)
        determinants, residual = np.zeros((k, k)), np.zeros((k, k))
        size = 0.05 if self.method == "iterative" else _STEP
        for number in free:
            step = size * max(abs(float(theta[number])), 0.1)
            moved = np.zeros(k)
            moved[number] = step
            ahead, behind = self.slopes(theta + moved), self.slopes(theta - moved)
            determinants[number] = (ahead.determinants - behind.determinants) / (2 * step)
            residual[number] = (ahead.residual - behind.residual) / (2 * step)
        return Minimum(
            theta=theta,
            point=here.point,
            beta=self.columns.beta(here.point),
            converged=converged,
            evaluations=self.evaluations,
            free=tuple(free),
            determinants_hessian=(determinants + determinants.T) / 2,
            residual_gradient=here.residual,
            residual_hessian=(residual + residual.T) / 2,
            information_slopes=here.products[:, :-1, :-1],
        )
