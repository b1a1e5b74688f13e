"""The Laplace approximation of a cumulative link mixed model's log-likelihood, and its gradient.

With u the random effects in units of their standard deviations σ, h(u) minus the log of the joint
density and D its second derivatives at the mode û, the approximation is −h(û) − ½ log |D|. Both û
and D move with the parameters, and the gradient here holds all of it.

Pinheiro, J. C., & Bates, D. M. (1995). Journal of Computational and Graphical Statistics 4, 12–35.
Christensen, R. H. B. (2022). ordinal: Regression models for ordinal data (the same approximation).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from empathylab.stats.mixed.blocks import Blocks, Factored
from empathylab.stats.mixed.coding import Array, Codes
from empathylab.stats.mixed.components import independent_batches
from empathylab.stats.mixed.design import Grouping
from empathylab.stats.mixed.ordinal.likelihood import Likelihood
from empathylab.stats.mixed.ordinal.links import Link

_STEPS = 50
_HALVINGS = 25
_SMALL = 1e-9
"""Newton decrement per thousand levels below which one more step leaves no error that matters."""


class Found(NamedTuple):
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
    """The approximation as a function of thresholds, coefficients and standard deviations.

    Ratings that share no level with others are evaluated apart from them, in batches.
    """

    def __init__(
        self, y: Codes, categories: int, x: Array, groups: Sequence[Grouping], link: Link
    ) -> None:
        self.cut = categories - 1
        self.fixed = self.cut + x.shape[1]
        codes = [group.codes for group in groups]
        sizes = [len(group.levels) for group in groups]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self._batches = [
            _Batch(Likelihood(y[rows], categories, link), x[rows], [one[rows] for one in codes])
            for rows in independent_batches(codes, sizes)
        ]

    def __call__(self, parameters: Array) -> Found:
        """Minus the log-likelihood and its gradient; infinite where thresholds cross."""
        value, gradient = 0.0, np.zeros(len(parameters))
        crossed = np.any(np.diff(parameters[: self.cut]) <= 0)
        if crossed or not np.all(np.isfinite(parameters)):
            value = math.inf
        for batch in self._batches if math.isfinite(value) else ():
            found = batch.evaluate(
                parameters[: self.cut],
                parameters[self.cut : self.fixed],
                parameters[self.fixed :],
            )
            if found is None:
                value = math.inf
                break
            value += found.value
            gradient += found.gradient
        return Found(value, gradient)

    def effects(self, sd: Array) -> Array:
        """The modes last found, on the latent scale, over all levels of all groupings."""
        total = np.zeros(int(self._offsets[-1]))
        for batch in self._batches:
            for number, (levels, span) in enumerate(zip(batch.levels, batch.spans, strict=True)):
                total[self._offsets[number] + levels] = sd[number] * batch.u[span]
        return total


class _Batch:
    """The share of ratings that have levels in common with no others."""

    def __init__(self, ratings: Likelihood, x: Array, codes: Sequence[Codes]) -> None:
        self._ratings = ratings
        self._x = np.asfortranarray(x[ratings.order])
        found = [np.unique(one[ratings.order], return_inverse=True) for one in codes]
        self.levels = [levels for levels, _ in found]
        """Per grouping, which of its levels are here."""
        self._codes = [local.astype(np.int64) for _, local in found]
        self._blocks = Blocks(self._codes, [len(levels) for levels in self.levels])
        offsets = self._blocks.offsets.tolist()
        self.spans = [slice(first, last) for first, last in itertools.pairwise(offsets)]
        self.u = np.zeros(offsets[-1])
        """The modes last found, from which the next search begins."""
        self._small = _SMALL * max(1.0, len(self.u) / 1000)

    def evaluate(self, thresholds: Array, slopes: Array, sd: Array) -> Found | None:
        """This batch's share of value and gradient; None where no mode is found."""
        try:
            mode = self._mode(thresholds, self._x @ slopes, sd)
            if mode is None:
                return None
            factored = self._blocks.factor(mode.weight, sd)
        except np.linalg.LinAlgError:
            # Standard deviations so large that rounding eats the identity in D.
            return None
        self.u = mode.u
        gradient = self._gradient(mode, thresholds, sd, factored)
        return Found(mode.penalised + 0.5 * factored.log_determinant, gradient)

    def _linear(self, u: Array, sd: Array) -> Array:
        """Z Λ u: what random effects add to each linear predictor."""
        total = np.zeros(self._ratings.n)
        for codes, span, size in zip(self._codes, self.spans, sd, strict=True):
            total += (size * u[span])[codes]
        return total

    def _summed(self, values: Array, sd: Array) -> Array:
        """Λ Zᵀ times values over ratings."""
        total = np.empty(len(self.u))
        for codes, span, size in zip(self._codes, self.spans, sd, strict=True):
            total[span] = size * np.bincount(codes, values, minlength=span.stop - span.start)
        return total

    def _mode(self, thresholds: Array, base: Array, sd: Array) -> _Mode | None:
        """The most likely random effects, by Newton's method; None where it does not end."""
        here = self._at(self.u, thresholds, base, sd)
        for _ in range(_STEPS):
            slope = self._summed(here.score, sd) + here.u
            step = self._blocks.factor(here.weight, sd).solve(slope)
            decrement = float(slope @ step)
            for _ in range(_HALVINGS):
                moved = self._at(here.u - step, thresholds, base, sd)
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

    def _at(self, u: Array, thresholds: Array, base: Array, sd: Array) -> _Mode:
        eta = base + self._linear(u, sd)
        value, score, weight = self._ratings.slopes(thresholds, eta)
        return _Mode(u, eta, 0.5 * float(u @ u) - value, score, weight)

    def _gradient(self, mode: _Mode, thresholds: Array, sd: Array, factored: Factored) -> Array:
        found = self._ratings.changes(thresholds, mode.eta)
        rows = factored.inverse_rows()
        spread = np.zeros(self._ratings.n)
        for size, row in zip(sd, rows, strict=True):
            spread += size * row
        # How log |D| answers to the modes, carried back through the equation that defines them.
        pull = -spread * (found.wa + found.wb)
        back = factored.solve(self._summed(pull, sd))
        along = self._linear(back, sd)
        by_eta = mode.score + 0.5 * (pull - along * mode.weight)
        by_threshold = found.sums.first - 0.5 * self._ratings.summed(
            spread * found.wa - along * found.sa, spread * found.wb - along * found.sb
        )
        by_sd = [
            float(np.bincount(codes, by_eta, minlength=span.stop - span.start) @ mode.u[span])
            + float(mode.weight @ row)
            - 0.5 * float(mode.score @ back[span][codes])
            for codes, span, row in zip(self._codes, self.spans, rows, strict=True)
        ]
        return np.concatenate([-by_threshold, by_eta @ self._x, by_sd])
