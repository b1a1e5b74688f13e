"""Maximum likelihood of a cumulative link mixed model: the numbers, before they get names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.boundary import Limits, bounded
from empathylab.stats.mixed.design import MixedDesign
from empathylab.stats.mixed.effects.solvers import Method
from empathylab.stats.mixed.effects.structure import Effects
from empathylab.stats.mixed.ordinal.clm import FixedFit, fit_fixed
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.ordinal.likelihood import Likelihood
from empathylab.stats.mixed.ordinal.links import Link
from empathylab.stats.mixed.search import (
    CLOSE,
    Place,
    Precision,
    descend,
    inverted,
    inverted_where_known,
    restricted,
    settle,
)
from empathylab.stats.mixed.spread import random_structure

_START = 0.28
"""Where standard deviations begin, in units of the latent error's."""
_LOOSE = 1e-6
"""Squared distance from the maximum, in standard errors, at which the curvature is taken."""
_LARGE = 1e3
"""Size of a number from which on columns are made orthogonal."""
_PRECISION: dict[Method, Precision] = {
    "exact": Precision(slack=0.0, loose=_LOOSE, tight=1e-10, share=1e-3),
    "iterative": Precision(slack=0.02, loose=_LOOSE, tight=_LOOSE, share=0.05),
}


@dataclass(frozen=True, slots=True)
class Estimates:
    """Thresholds, coefficients and elements of the random effects' factors, in that order."""

    parameters: Array
    free: tuple[int, ...]
    """The parameters that are not fixed at a boundary."""
    covariance: Array
    """Of the free parameters; NaN where the curvature is singular."""
    log_likelihood: float
    gradient: Array
    """Of the log-likelihood, for the free parameters."""
    converged: bool
    singular: bool
    iterations: int
    modes: list[Array]
    """Per grouping, effects of the columns as given on the latent scale, levels × columns."""
    fixed: FixedFit
    """The fit without random effects."""
    effects: Effects
    method: Method


class _Turned(NamedTuple):
    """Fixed columns as they are searched, and the way back.

    Very large or small numbers are made orthogonal to each other and to the intercept, so that
    timestamps and their products are as easy to search as indicators. Others are left alone: what
    separates ratings in one column would otherwise spoil the precision of all.
    """

    x: Array
    back: Array
    """What turns thresholds and coefficients of the columns searched into those as given."""


def _turned(x: Array, cut: int) -> _Turned:
    size = x.shape[1]
    back = np.eye(cut + size)
    largest = np.abs(x).max(axis=0)
    if not np.any((largest > _LARGE) | (largest < 1 / _LARGE)):
        return _Turned(x, back)
    means = x.mean(axis=0)
    orthonormal, triangle = np.linalg.qr(x - means)
    root = float(np.sqrt(len(x)))
    inverse = np.linalg.inv(triangle / root)
    back[cut:, cut:] = inverse
    back[:cut, cut:] = means @ inverse
    return _Turned(np.asfortranarray(orthonormal * root), back)


def estimate(design: MixedDesign, link: Link, method: Method | None = None) -> Estimates:
    """The maximum of the Laplace approximation; of the likelihood itself without groupings."""
    y, categories = np.asarray(design.y, dtype=np.int64), len(design.levels)
    ratings = Likelihood(y, categories, link)
    x, back = _turned(design.x, categories - 1)
    fixed = fit_fixed(ratings, np.asfortranarray(x[ratings.order]))
    effects = random_structure(design)
    if not design.groups:
        covariance = inverted(fixed.information)
        size = len(fixed.parameters)
        if covariance is None:
            covariance = np.full((size, size), np.nan)
        estimates = Estimates(
            parameters=fixed.parameters,
            free=tuple(range(size)),
            covariance=covariance,
            log_likelihood=fixed.log_likelihood,
            gradient=fixed.gradient,
            converged=fixed.converged,
            singular=bool(np.isnan(covariance).any()),
            iterations=fixed.iterations,
            modes=[],
            fixed=fixed,
            effects=effects,
            method="exact",
        )
        return _as_given(estimates, back, design)
    laplace = Laplace(y, categories, x, effects, link, method)
    start = _START * link.latent_sd * effects.on_diagonal
    inverse = _first_inverse(fixed, effects, ratings, start)
    place = descend(
        laplace,
        np.concatenate([fixed.parameters, start]),
        inverse,
        tolerance=_LOOSE,
        max_iterations=500,
        slack=_PRECISION[laplace.method].slack,
    )
    return _as_given(_settled(laplace, place, link, fixed), back, design)


def _as_given(estimates: Estimates, back: Array, design: MixedDesign) -> Estimates:
    """The same in terms of the columns as given."""
    cut, size = len(back), len(estimates.parameters)
    whole = np.eye(size)
    whole[:cut, :cut] = back
    free = list(estimates.free)
    among = whole[np.ix_(free, free)]
    # The gradient is a row of derivatives, so it turns the other way.
    gradient: Array = np.linalg.solve(among.T, estimates.gradient).astype(np.float64)
    modes = [
        effects @ group.columns.back.T
        for effects, group in zip(estimates.modes, design.groups, strict=True)
    ]
    return replace(
        estimates,
        parameters=whole @ estimates.parameters,
        covariance=among @ estimates.covariance @ among.T,
        gradient=gradient,
        modes=modes,
        fixed=estimates.fixed._replace(parameters=back @ estimates.fixed.parameters),
    )


def _first_inverse(fixed: FixedFit, effects: Effects, ratings: Likelihood, start: Array) -> Array:
    """A guess at the parameters' covariance: the fixed fit's, and the sds' as if normal."""
    size = len(fixed.parameters)
    inverse = np.zeros((size + len(start),) * 2)
    among = inverted(fixed.information)
    if among is None:
        among = np.diag(1 / np.maximum(np.diag(fixed.information), 1e-3))
    inverse[:size, :size] = among
    sd = float(start.max())
    weight = np.empty(ratings.n)
    weight[ratings.order] = fixed.weight
    for number, parameter in enumerate(effects.parameters, start=size):
        group = effects.groups[parameter.group]
        held = [
            np.bincount(group.codes, group.times(column, group.times(column, weight)))
            for column in (parameter.row, parameter.column)
        ]
        shares = [sd * item / (1 + sd**2 * item) for item in held]
        inverse[number, number] = 1 / max(2 * float(shares[0] @ shares[1]), 1e-3)
    return inverse


def _settled(laplace: Laplace, place: Place, link: Link, fixed: FixedFit) -> Estimates:
    """The end of the search: boundaries fixed, the curvature taken, the last steps made."""
    precision = _PRECISION[laplace.method]
    unit = link.latent_sd
    limits = Limits(near=0.15 * unit, beside=0.02 * unit, alone=1e-6, jointly=1e-4)
    whole, free = bounded(laplace, laplace.effects, place, limits, precision.slack)
    function = restricted(laplace, whole, free)
    inverse = place.inverse[np.ix_(free, free)]
    invert = partial(inverted_where_known, known=laplace.fixed)
    ended = settle(function, whole[free], inverse, precision, invert)
    whole[free] = ended.at
    value, gradient = laplace(whole)
    signs = np.ones(len(whole))
    signs[laplace.fixed :] = laplace.effects.signs(whole[laplace.fixed :])
    modes = laplace.modes(whole[laplace.fixed :])
    covariance = np.full((len(free),) * 2, np.nan) if ended.inverse is None else ended.inverse
    distance = float(gradient[free] @ covariance @ gradient[free])
    whole, gradient = whole * signs, gradient * signs
    covariance = covariance * np.outer(signs[free], signs[free])
    return Estimates(
        parameters=whole,
        free=tuple(free),
        covariance=covariance,
        log_likelihood=-value,
        gradient=-gradient[free],
        converged=distance < CLOSE,
        singular=ended.inverse is None,
        iterations=place.iterations + ended.iterations,
        modes=modes,
        fixed=fixed,
        effects=laplace.effects,
        method=laplace.method,
    )
