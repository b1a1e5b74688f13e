"""The criterion of a linear mixed model at one θ, and what is known of it at its minimum.

Given θ, the elements of the random effects' factors relative to the residual's standard deviation,
the fixed effects and the residual variance have closed forms (Bates et al. 2015, section 3.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import Array

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
class Minimum:
    """Where the criterion is least, and how the model's pieces change with θ there."""

    theta: Array
    point: Point
    beta: Array
    converged: bool
    evaluations: int
    free: tuple[int, ...]
    """Elements of θ that are not fixed at a boundary."""
    determinants_hessian: Array
    residual_gradient: Array
    residual_hessian: Array
    information_slopes: Array
    """Of Q'V⁻¹Q of the orthonormal fixed columns, one p × p slice per θ."""

    @property
    def information(self) -> Array:
        """Q'V⁻¹Q of the orthonormal fixed columns."""
        return self.point.products[:-1, :-1]


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
