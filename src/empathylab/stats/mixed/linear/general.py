"""The profiled criterion of a linear mixed model with random slopes, or of very many levels.

Like `profile`, but with the criterion's gradient in closed form, since factors of covariance
matrices have many elements. With D = I + Λ'Z'ZΛ, V⁻¹ = I − ZΛD⁻¹Λ'Z' and E = V⁻¹W, an element of
Λ changes W'V⁻¹W by minus E'Z dΛ Λ'Z'E and its transpose, and log|D| by 2 tr(D⁻¹Λ'Z'Z dΛ).

Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical Software 67(1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.effects.solvers import Method, Solved, solver_for
from empathylab.stats.mixed.effects.structure import Effects, singular_trials
from empathylab.stats.mixed.linear.profile import Columns, Derivatives, Minimum, Point
from empathylab.stats.mixed.search import Place, Precision, descend, inverted, restricted, settle

_NEAR_ZERO = 0.1
"""Diagonal elements of Λ that may really be zero."""
_PRECISION: dict[Method, Precision] = {
    "exact": Precision(slack=0.0, loose=1e-8, tight=1e-12, share=1e-3),
    "iterative": Precision(slack=0.02, loose=1e-8, tight=1e-6, share=0.05),
}
_STEP = 1e-4
_NO_WORSE = 1e-5


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


class GeneralProfile:
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
        self._sums = [effects.sums(column) for column in columns.values.T]

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the residual variance."""
        return self.columns.n - self.p if self.reml else self.columns.n

    def _freed(self, theta: Array) -> tuple[Solved, list[Array], Array, Array]:
        """D, the factors, Λ'Z'W and D⁻¹Λ'Z'W."""
        factors = self.effects.factors(theta)
        solved = self._solver.factor(self._ones, factors)
        right = np.column_stack(
            [
                np.concatenate(
                    [(one @ factor).reshape(-1) for one, factor in zip(sums, factors, strict=True)]
                )
                for sums in self._sums
            ]
        )
        return solved, factors, right, solved.solve(right)

    def slopes(self, theta: Array) -> _Slopes:
        """The model at θ with its derivatives."""
        self.evaluations += 1
        solved, factors, right, solution = self._freed(theta)
        products = self._plain - right.T @ solution
        products = (products + products.T) / 2
        point = self.columns.point(solved.log_determinant, products, reml=self.reml)
        rest = np.column_stack(
            [
                column - self.effects.linear(one, factors)
                for column, one in zip(self.columns.values.T, solution.T, strict=True)
            ]
        )
        turned = self._turned(rest, factors)
        rows = solved.inverse_rows()
        determinants = 2 * self.effects.row_products(self._ones, rows)
        residual = self._residual_slopes(turned, products)
        if self.reml and self.p:
            inner = np.linalg.inv(products[: self.p, : self.p])
            determinants = determinants + np.einsum(
                "kij,ji->k", turned[:, : self.p, : self.p], inner
            )
        return _Slopes(point, determinants, residual, turned)

    def _turned(self, rest: Array, factors: list[Array]) -> Array:
        """Slopes of W'V⁻¹W in each element of θ."""
        sums = [self.effects.sums(column) for column in rest.T]
        outer = [
            np.stack([total[number] for total in sums], axis=2)  # levels × columns × W
            for number in range(len(factors))
        ]
        slopes = []
        for parameter in self.effects.parameters:
            own, factor = outer[parameter.group], factors[parameter.group]
            other = np.einsum("lkw,k->lw", own, factor[:, parameter.column])
            product = own[:, parameter.row, :].T @ other
            slopes.append(-(product + product.T))
        size = rest.shape[1]
        return np.array(slopes).reshape(len(self.effects.parameters), size, size)

    def _residual_slopes(self, turned: Array, products: Array) -> Array:
        p = self.p
        shift = np.linalg.solve(products[:p, :p], products[:p, p]) if p else np.empty(0)
        along = np.append(-shift, 1.0)
        return np.asarray(np.einsum("i,kij,j->k", along, turned, along) * self.columns.unit**2)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """The criterion and its gradient."""
        try:
            slopes = self.slopes(theta)
        except np.linalg.LinAlgError:
            return math.inf, np.zeros(len(theta))
        return slopes.point.criterion, slopes.criterion(self.degrees)

    def modes(self, theta: Array, beta: Array) -> list[Array]:
        """Conditional modes of each grouping's effects, levels × columns."""
        _, factors, _, solution = self._freed(theta)
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
        theta, free = self._bounded(place)
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
        if not free:
            return theta, True
        ended = settle(
            restricted(self, theta, free),
            theta[free],
            place.inverse[np.ix_(free, free)],
            self._precision,
            inverted,
        )
        theta = theta.copy()
        theta[free] = ended.at
        return theta, ended.converged

    def _bounded(self, place: Place) -> tuple[Array, list[int]]:
        """θ with singular factors where that costs nothing, and the elements that stay free."""
        theta, value = place.at.copy(), place.value
        free = list(range(len(theta)))
        for number, one in enumerate(self.effects.parameters):
            if one.row != one.column or abs(theta[number]) > _NEAR_ZERO:
                continue
            for trial, gone in singular_trials(self.effects, theta, number):
                at_trial = self(trial)[0]
                if at_trial <= value + _NO_WORSE + self._precision.slack:
                    theta, value = trial, min(at_trial, value)
                    free = [place for place in free if place not in gone]
                    break
        return theta, free

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
        derivatives = Derivatives(
            gradient=here.criterion(self.degrees),
            hessian=np.full((k, k), math.nan),
            determinants_hessian=(determinants + determinants.T) / 2,
            residual_gradient=here.residual,
            residual_hessian=(residual + residual.T) / 2,
            information=here.products[:, : self.p, : self.p],
        )
        return Minimum(
            theta=theta,
            point=here.point,
            beta=self.columns.beta(here.point),
            information=here.point.products[: self.p, : self.p],
            derivatives=derivatives,
            converged=converged,
            evaluations=self.evaluations,
            free=tuple(free),
        )
