"""The profiled criterion of a linear mixed model, and where it is least.

Given θ, the groups' standard deviations relative to the residual one, the fixed effects and the
residual variance have closed forms, so only θ is searched (Bates et al. 2015, section 3.4). The
criterion is even in each θ: on the boundary its slope is 0 whether or not it is a minimum, so a θ
that ends at 0 is tried again from beyond.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.effects.solvers import Method
from empathylab.stats.mixed.linear.crossed import CrossedIntercepts

_NIL = 1e-4
"""θ below which 0 is tried in its place; lme4 calls a fit singular below the same bound."""
_MAX_VALUE = 1e5
"""θ beyond which nothing is left for the residual."""
_SHORT_STEP = 3e-4
_RELATIVE_STEP = 0.01
_MIN_STEP = 5e-4
_MAX_STEPS = 100
_ENOUGH = 1e-7
"""Fall of the criterion below which Newton's next step would change nothing that is seen."""
_DECREMENT = 1e-6
"""How much the criterion could still fall, by its own curvature, at a minimum."""
_NEGLIGIBLE = 2e-6
"""Relative length of a last step after which derivatives need not be taken again."""
_FLAT = 1e-6
"""Curvature, relative to that of each θ alone, in a direction that the data say nothing of."""
_ROUNDING = 1e-13
"""Relative error of a sum in floating point."""
_NO_RESIDUAL = 1e-12
"""Proportion of the response's variance below which nothing is left to the residual."""


@dataclass(frozen=True, slots=True)
class Point:
    """The model at one θ, the rest at its best."""

    criterion: float
    """−2 log-likelihood (restricted or not), constants included."""
    log_determinants: float
    """What of it does not depend on the residual variance."""
    residual: float
    """Penalised residual sum of squares."""
    products: Array
    """W'V⁻¹W of the orthonormal fixed columns and what they leave of the response."""


@dataclass(frozen=True, slots=True)
class Derivatives:
    """How the model's pieces change with θ, at one θ."""

    gradient: Array
    """Of the criterion."""
    hessian: Array
    determinants_hessian: Array
    residual_gradient: Array
    residual_hessian: Array
    information: Array
    """Of Q'V⁻¹Q of the orthonormal fixed columns, one p × p slice per θ."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where the criterion is least."""

    theta: Array
    point: Point
    beta: Array
    information: Array
    """Q'V⁻¹Q of the orthonormal fixed columns."""
    derivatives: Derivatives
    converged: bool
    evaluations: int
    free: tuple[int, ...] | None = None
    """Elements of θ that are not fixed at a boundary; None: those above 0."""


class Columns:
    """Fixed columns made orthonormal and what they leave of the response, made of unit size.

    That keeps cross-products from cancelling.
    """

    def __init__(self, y: Array, x: Array) -> None:
        self.n, self.p = int(x.shape[0]), int(x.shape[1])
        orthonormal, self._triangle = np.linalg.qr(x)
        self._stretch = 2 * float(np.log(np.abs(np.diagonal(self._triangle))).sum())
        self._plain = orthonormal.T @ y
        self.rest = y - orthonormal @ self._plain
        self.unit = math.sqrt(float(self.rest @ self.rest) / self.n) or 1.0
        rounding = self.n * (_ROUNDING * float(np.abs(y).max())) ** 2
        total = float(((y - y.mean()) ** 2).sum())
        left = float(self.rest @ self.rest)
        self.nothing_left = left <= _NO_RESIDUAL * total + rounding
        self.values = np.column_stack([orthonormal, self.rest / self.unit])

    def point(self, determinant: float, products: Array, *, reml: bool) -> Point:
        """The model where log|D| and W'V⁻¹W are these."""
        degrees = self.n - self.p if reml else self.n
        try:
            roots = np.diagonal(np.linalg.cholesky(products))
        except np.linalg.LinAlgError:  # nothing is left but the error of floating point
            roots = np.full(self.p + 1, _NO_RESIDUAL)
        residual = float(roots[-1]) ** 2 * self.unit**2
        if reml:
            determinant += 2 * float(np.log(roots[:-1]).sum()) + self._stretch
        criterion = determinant + degrees * (1 + math.log(2 * math.pi * residual / degrees))
        return Point(criterion, determinant, residual, products)

    def beta(self, point: Point) -> Array:
        """The fixed effects there."""
        p = self.p
        shift = np.linalg.solve(point.products[:p, :p], point.products[:p, p])
        return np.linalg.solve(self._triangle, self._plain + self.unit * shift)

    @property
    def back(self) -> Array:
        """What turns effects of the orthonormal columns into those of the columns as given."""
        return np.asarray(np.linalg.inv(self._triangle), dtype=np.float64)

    def combination(self, beta: Array) -> Array:
        """The combination of the columns that is the response minus the fixed effects."""
        return np.append(-(self._triangle @ beta - self._plain), self.unit)


class Profile:
    """The criterion as a function of θ alone."""

    method: Method = "exact"

    def __init__(
        self,
        columns: Columns,
        codes: Sequence[Codes],
        sizes: Sequence[int],
        *,
        reml: bool,
    ) -> None:
        self.columns = columns
        self.n, self.p = columns.n, columns.p
        self.reml = reml
        self.evaluations = 0
        self._sums = CrossedIntercepts(columns.values, codes, sizes)
        self._start = _start(columns.rest / columns.unit, codes, sizes)

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the residual variance."""
        return self.n - self.p if self.reml else self.n

    def at(self, theta: Array) -> Point:
        """The model at this θ."""
        self.evaluations += 1
        return self.columns.point(*self._sums.freed(theta), reml=self.reml)

    def modes(self, theta: Array, beta: Array) -> list[Array]:
        """Conditional modes of each group's intercepts, levels × 1."""
        by_group = self._sums.modes(theta, self.columns.combination(beta))
        return [modes[:, None] for modes in by_group]

    def minimised(self) -> Minimum:
        """The θ of least criterion, each at 0 or above."""
        theta = self._start
        if len(theta):
            theta = self._descended(theta)
            for _ in range(3):
                risen = self._risen(theta)
                if risen is None:
                    break
                theta = self._descended(risen)
        return self._polished(theta)

    def derivatives(self, theta: Array) -> Derivatives:
        """First and second derivatives, by central differences of fourth order."""
        k = len(theta)
        steps = np.maximum(_RELATIVE_STEP * np.abs(theta), _MIN_STEP)
        centre = self.at(theta)
        first, second, information = np.zeros((k, 3)), np.zeros((k, k, 3)), []
        for i in range(k):
            points = [self._moved(theta, steps, {i: by}) for by in (-2, -1, 1, 2)]
            values = np.array([_pieces(point) for point in points])
            first[i] = np.array([1, -8, 8, -1]) @ values / (12 * steps[i])
            second[i, i] = (
                np.array([-1, 16, 16, -1]) @ values - 30 * np.array(_pieces(centre))
            ) / (12 * steps[i] ** 2)
            slope = points[0].products - 8 * points[1].products
            slope = slope + 8 * points[2].products - points[3].products
            information.append(slope[: self.p, : self.p] / (12 * steps[i]))
            for j in range(i):
                second[i, j] = second[j, i] = self._mixed(theta, steps, i, j)
        return Derivatives(
            gradient=first[:, 0],
            hessian=second[:, :, 0],
            determinants_hessian=second[:, :, 1],
            residual_gradient=first[:, 2],
            residual_hessian=second[:, :, 2],
            information=np.array(information).reshape(k, self.p, self.p),
        )

    def _moved(self, theta: Array, steps: Array, by: dict[int, int]) -> Point:
        there = theta.copy()
        for i, times in by.items():
            there[i] += times * steps[i]
        return self.at(there)

    def _mixed(self, theta: Array, steps: Array, i: int, j: int) -> Array:
        """Mixed second derivatives, extrapolated from two step lengths."""
        estimates = []
        for length in (1, 2):
            corners = [
                sign * other * np.array(_pieces(self._moved(theta, steps, {i: a, j: b})))
                for sign, a in ((1, length), (-1, -length))
                for other, b in ((1, length), (-1, -length))
            ]
            estimates.append(sum(corners) / (4 * length**2 * steps[i] * steps[j]))
        return np.asarray((4 * estimates[0] - estimates[1]) / 3)

    def _quadratic(self, theta: Array) -> tuple[float, Array, Array]:
        """The criterion, its slope and its curvature, good enough to descend by."""
        k = len(theta)
        steps = _SHORT_STEP * np.maximum(theta, 0.1)
        here = self.at(theta).criterion
        ahead = np.array([self._moved(theta, steps, {i: 1}).criterion for i in range(k)])
        behind = np.array([self._moved(theta, steps, {i: -1}).criterion for i in range(k)])
        slope = (ahead - behind) / (2 * steps)
        curve = np.diag((ahead - 2 * here + behind) / steps**2)
        for i, j in itertools.combinations(range(k), 2):
            corner = self._moved(theta, steps, {i: 1, j: 1}).criterion
            curve[i, j] = curve[j, i] = (corner - ahead[i] - ahead[j] + here) / (
                steps[i] * steps[j]
            )
        return here, slope, curve

    def _descended(self, theta: Array) -> Array:
        """The nearest minimum below by Newton's method, with θ too small to matter set to 0."""
        for _ in range(_MAX_STEPS):
            here, slope, curve = self._quadratic(theta)
            values, vectors = np.linalg.eigh(curve)
            bent = np.maximum(np.abs(values), 1e-6 * np.abs(values).max() + 1e-300)
            step = -vectors @ ((vectors.T @ slope) / bent)
            step *= min(1.0, max(1.0, float(theta.max())) / max(float(np.abs(step).max()), 1e-300))
            below = self._line(theta, step, here)
            if below is None:
                break
            theta = below
            if float(-slope @ step) / 2 < _ENOUGH or theta.max() >= _MAX_VALUE:
                break
        return self._without_trifles(np.minimum(theta, _MAX_VALUE))

    def _line(self, theta: Array, step: Array, here: float) -> Array | None:
        """A lower point along the step; the criterion is even, so beyond 0 is the way back."""
        for halvings in range(12):
            there: Array = np.abs(theta + step / 2**halvings)
            if self.at(there).criterion <= here:
                return there
        return None

    def _without_trifles(self, theta: Array) -> Array:
        best = self.at(theta).criterion
        for i in np.flatnonzero(theta < 10 * _NIL):
            without = theta.copy()
            without[i] = 0.0
            value = self.at(without).criterion
            if value <= best + 1e-9:
                theta, best = without, value
        return theta

    def _risen(self, theta: Array) -> Array | None:
        """A θ off the boundary with a lower criterion; None if there is no such θ."""
        here = self.at(theta).criterion
        for i in np.flatnonzero(theta == 0):
            for height in (0.01, 0.05, 0.2):
                there = theta.copy()
                there[i] = height
                if self.at(there).criterion < here - 1e-8:
                    return there
        return None

    def _polished(self, theta: Array) -> Minimum:
        """Newton's steps to the end, over the θ that are not 0."""
        inside = np.flatnonzero(theta > 0)
        derivatives, converged = self.derivatives(theta), True
        for _ in range(8 if len(inside) else 0):
            slope, curve = derivatives.gradient[inside], derivatives.hessian[np.ix_(inside, inside)]
            if _is_flat(curve):
                converged = False
                break
            step = -np.linalg.solve(curve, slope)
            decrement = float(-slope @ step) / 2
            converged = decrement < _DECREMENT
            there = theta.copy()
            there[inside] += step
            lower = self.at(there).criterion <= self.at(theta).criterion + 1e-9
            if (there[inside] <= 0).any() or not lower:
                break
            theta = there
            if (np.abs(step) < _NEGLIGIBLE * theta[inside]).all():
                break
            derivatives = self.derivatives(theta)
        point = self.at(theta)
        return Minimum(
            theta=theta,
            point=point,
            beta=self.columns.beta(point),
            information=point.products[: self.p, : self.p],
            derivatives=derivatives,
            converged=converged,
            evaluations=self.evaluations,
        )


def _is_flat(curve: Array) -> bool:
    alone = np.diagonal(curve)
    if (alone <= 0).any():
        return True
    unit = 1 / np.sqrt(alone)
    return bool(np.linalg.eigvalsh(curve * unit[:, None] * unit)[0] < _FLAT)


def _pieces(point: Point) -> tuple[float, float, float]:
    return point.criterion, point.log_determinants, point.residual


def _start(rest: Array, codes: Sequence[Codes], sizes: Sequence[int]) -> Array:
    """Relative standard deviations by the method of moments, one group at a time."""
    variances = []
    for group, size in zip(codes, sizes, strict=True):
        counts = np.bincount(group, minlength=size)
        sums = np.bincount(group, rest, minlength=size)
        between = float((sums**2 / np.maximum(counts, 1)).sum())
        variances.append(max((between - size) / max(len(rest) - size, 1), 0.0))
    residual = max(1 - sum(variances), 0.1)
    theta: NDArray[np.float64] = np.sqrt(np.clip(np.array(variances) / residual, 0.01, 10.0))
    return theta
