"""The Laplace approximation of a cumulative link mixed model's log-likelihood, and its gradient.

With Λu the random effects and u standard normal, h(u) minus the log of the joint
density and D its second derivatives at the mode û, the approximation is −h(û) − ½ log |D|. Both û
and D move with the parameters, and the gradient here holds all of it.

Pinheiro, J. C., & Bates, D. M. (1995). Journal of Computational and Graphical Statistics 4, 12–35.
Christensen, R. H. B. (2022). ordinal: Regression models for ordinal data (the same approximation).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Codes, Indices
from empathylab.stats.mixed.components import (
    independent_batches,
    largest_core,
    level_components,
)
from empathylab.stats.mixed.effects.solvers import DENSE_CORE, Method, Solved, solver_for
from empathylab.stats.mixed.effects.structure import Effects
from empathylab.stats.mixed.ordinal.likelihood import Likelihood
from empathylab.stats.mixed.ordinal.links import Link

_STEPS = 50
_HALVINGS = 25
_SMALL = 1e-9
"""Newton decrement per thousand levels below which one more step leaves no error that matters."""


class ValueAndGradient(NamedTuple):
    """Minus the approximate log-likelihood, and its gradient."""

    value: float
    gradient: Array


class _Mode(NamedTuple):
    u: Array
    eta: Array
    penalised: float
    """h at the mode."""
    score: Array
    weight: Array


class Laplace:
    """The approximation as a function of thresholds, coefficients and the factors' elements.

    Random intercepts of ratings that share no level with others are evaluated separately, in
    batches. Random slopes, and intercepts of which very many are connected, are evaluated at once.
    """

    def __init__(
        self,
        y: Codes,
        categories: int,
        x: Array,
        effects: Effects,
        link: Link,
        method: Method | None = None,
    ) -> None:
        self.cut = categories - 1
        self.fixed = self.cut + x.shape[1]
        self.effects = effects
        codes = [group.codes for group in effects.groups]
        sizes = [group.size for group in effects.groups]
        batches = [np.arange(len(y), dtype=np.intp)]
        if method is None and effects.is_scalar:
            components = level_components(codes, sizes)
            if largest_core(components, sizes) <= DENSE_CORE:
                batches = independent_batches(components, codes[0])
        self._batches = [
            _Batch(Likelihood(y[rows], categories, link), x[rows], effects, rows, method)
            for rows in batches
        ]
        self.method: Method = self._batches[0].method

    def __call__(self, parameters: Array) -> ValueAndGradient:
        """Minus the log-likelihood and its gradient; infinite where thresholds cross."""
        value, gradient = 0.0, np.zeros(len(parameters))
        crossed = np.any(np.diff(parameters[: self.cut]) <= 0)
        if crossed or not np.all(np.isfinite(parameters)):
            value = math.inf
        for batch in self._batches if math.isfinite(value) else ():
            part = batch.evaluate(
                parameters[: self.cut],
                parameters[self.cut : self.fixed],
                parameters[self.fixed :],
            )
            if part is None:
                value = math.inf
                break
            value += part.value
            gradient += part.gradient
        return ValueAndGradient(value, gradient)

    def modes(self, theta: Array) -> list[Array]:
        """The modes last found, on the latent scale, per grouping as levels × columns."""
        total = [np.zeros((group.size, group.width)) for group in self.effects.groups]
        factors = self.effects.factors(theta)
        for batch in self._batches:
            by_group = batch.effects.effects(batch.u, factors)
            for modes, levels, own in zip(total, batch.levels, by_group, strict=True):
                modes[levels] = own
        return total


class _Batch:
    """Ratings that have no level in common with others."""

    def __init__(
        self,
        ratings: Likelihood,
        x: Array,
        effects: Effects,
        rows: Indices,
        method: Method | None,
    ) -> None:
        self._ratings = ratings
        self._x = np.asfortranarray(x[ratings.order])
        rows = rows[ratings.order]
        local_levels = [
            np.unique(group.codes[rows], return_inverse=True) for group in effects.groups
        ]
        self.levels = [levels for levels, _ in local_levels]
        """Per grouping, which of its levels are here."""
        self.effects = Effects(
            [
                group.only(rows, local.astype(np.int64), len(levels))
                for group, (levels, local) in zip(effects.groups, local_levels, strict=True)
            ]
        )
        self._solver = solver_for(self.effects, method)
        self.method = self._solver.method
        self.u = np.zeros(self.effects.length)
        """The modes last found, from which the next search begins."""
        self._small = _SMALL * max(1.0, len(self.u) / 1000)

    def evaluate(self, thresholds: Array, slopes: Array, theta: Array) -> ValueAndGradient | None:
        """This batch's part of value and gradient; None where no mode is found."""
        factors = self.effects.factors(theta)
        try:
            mode = self._mode(thresholds, self._x @ slopes, factors)
            if mode is None:
                return None
            factored = self._solver.factor(mode.weight, factors)
            value = mode.penalised + 0.5 * factored.log_determinant
        except np.linalg.LinAlgError:
            # Standard deviations so large that rounding eats the identity in D.
            return None
        self.u = mode.u
        return ValueAndGradient(value, self._gradient(mode, thresholds, factors, factored))

    def _mode(self, thresholds: Array, base: Array, factors: list[Array]) -> _Mode | None:
        """The most likely random effects, by Newton's method; None where it does not end."""
        here = self._at(self.u, thresholds, base, factors)
        for _ in range(_STEPS):
            slope = self.effects.summed(here.score, factors) + here.u
            step = self._solver.factor(here.weight, factors).solve(slope)
            decrement = float(slope @ step)
            for _ in range(_HALVINGS):
                moved = self._at(here.u - step, thresholds, base, factors)
                # The last steps change h by less than its own rounding.
                if moved.penalised <= here.penalised + 1e-9 * abs(here.penalised):
                    break
                step = step / 2
            else:
                return None
            here = moved
            if decrement < self._small:
                return here
        return None

    def _at(self, u: Array, thresholds: Array, base: Array, factors: list[Array]) -> _Mode:
        eta = base + self.effects.linear(u, factors)
        value, score, weight = self._ratings.slopes(thresholds, eta)
        return _Mode(u, eta, 0.5 * float(u @ u) - value, score, weight)

    def _gradient(
        self, mode: _Mode, thresholds: Array, factors: list[Array], factored: Solved
    ) -> Array:
        effects = self.effects
        changes = self._ratings.changes(thresholds, mode.eta, second_order=False)
        rows = factored.inverse_rows()
        spread = np.zeros(self._ratings.n)
        for group, factor, row in zip(effects.groups, factors, rows, strict=True):
            if group.columns is None:
                spread += float(factor[0, 0]) * row[:, 0]
                continue
            turned = row @ factor.T
            for column in range(group.width):
                spread += group.times(column, turned[:, column])
        # How log |D| answers to the modes, carried back through the equation that defines them.
        pull = -spread * (changes.wa + changes.wb)
        back = factored.solve(effects.summed(pull, factors))
        along = effects.linear(back, factors)
        by_eta = mode.score + 0.5 * (pull - along * mode.weight)
        by_threshold = changes.sums.first - 0.5 * self._ratings.summed(
            spread * changes.wa - along * changes.sa, spread * changes.wb - along * changes.sb
        )
        by_theta = (
            effects.products(by_eta, mode.u)
            + effects.row_products(mode.weight, rows)
            - 0.5 * effects.products(mode.score, back)
        )
        return np.concatenate([-by_threshold, by_eta @ self._x, by_theta])
