"""Maximum likelihood of a cumulative link mixed model: the numbers, before they get names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from empathylab.stats.mixed.coding import Array, Codes
from empathylab.stats.mixed.design import MixedDesign
from empathylab.stats.mixed.ordinal.clm import FixedFit, fit_fixed
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.ordinal.likelihood import Likelihood
from empathylab.stats.mixed.ordinal.links import Link
from empathylab.stats.mixed.search import Function, Place, curvature, descend, inverted

_START = 0.28
"""Where standard deviations begin, in units of the latent error's."""
_LOOSE = 1e-6
"""Squared distance from the maximum, in standard errors, at which the curvature is taken."""
_TIGHT = 1e-10
_CLOSE = 1e-5
"""The same, below which a search counts as converged."""
_ROUNDS = 4
_NEAR_ZERO = 0.15
"""Standard deviations, in units of the latent error's, that may really be zero."""
_BESIDE = 0.02
_NO_WORSE = 1e-6
"""Log-likelihood that a standard deviation of zero may cost and still be the maximum."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Thresholds, coefficients and standard deviations in one array, in that order."""

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
    modes: Array
    """Random effects in units of the latent scale, over all levels of all groupings."""
    fixed: FixedFit
    """The fit without random effects."""


def estimate(design: MixedDesign, link: Link) -> Estimates:
    """The maximum of the Laplace approximation; of the likelihood itself without groupings."""
    y, categories = np.asarray(design.y, dtype=np.int64), len(design.levels)
    ratings = Likelihood(y, categories, link)
    fixed = fit_fixed(ratings, np.asfortranarray(design.x[ratings.order]))
    if not design.groups:
        covariance = inverted(fixed.information)
        size = len(fixed.parameters)
        return Estimates(
            parameters=fixed.parameters,
            free=tuple(range(size)),
            covariance=np.full((size, size), np.nan) if covariance is None else covariance,
            log_likelihood=fixed.log_likelihood,
            gradient=fixed.gradient,
            converged=fixed.converged,
            singular=covariance is None,
            iterations=fixed.iterations,
            modes=np.empty(0),
            fixed=fixed,
        )
    laplace = Laplace(y, categories, design.x, design.groups, link)
    codes = [group.codes[ratings.order] for group in design.groups]
    start = np.full(len(codes), _START * link.latent_sd)
    inverse = _first_inverse(fixed, codes, start)
    place = descend(
        laplace, np.concatenate([fixed.parameters, start]), inverse, enough=_LOOSE, most=500
    )
    return _settled(laplace, place, link, fixed)


def _first_inverse(fixed: FixedFit, codes: Sequence[Codes], sd: Array) -> Array:
    """A guess at the parameters' covariance: the fixed fit's, and the sds' as if normal."""
    size = len(fixed.parameters)
    inverse = np.zeros((size + len(sd),) * 2)
    among = inverted(fixed.information)
    if among is None:
        among = np.diag(1 / np.maximum(np.diag(fixed.information), 1e-3))
    inverse[:size, :size] = among
    for number, levels in enumerate(codes):
        held = np.bincount(levels, fixed.weight)
        information = 2 * float(((sd[number] * held / (1 + sd[number] ** 2 * held)) ** 2).sum())
        inverse[size + number, size + number] = 1 / max(information, 1e-3)
    return inverse


def _settled(laplace: Laplace, place: Place, link: Link, fixed: FixedFit) -> Estimates:
    """The end of the search: boundaries fixed, the curvature taken, the last steps made."""
    whole, free = _bounded(laplace, place, link.latent_sd)
    function = _restricted(laplace, whole, free)
    at, iterations = whole[free], place.iterations
    inverse: Array | None = place.inverse[np.ix_(free, free)]
    for _ in range(_ROUNDS):
        guess = np.eye(len(free)) * 1e-3 if inverse is None else inverse
        ended = descend(function, at, guess, enough=_LOOSE, most=200)
        at, iterations = ended.at, iterations + ended.iterations
        scale = np.sqrt(np.maximum(np.diag(ended.inverse), 1e-12))
        inverse = inverted(curvature(function, at, scale))
        if inverse is None:
            continue
        distance = float(ended.gradient @ inverse @ ended.gradient)
        ended = descend(function, at, inverse, enough=_TIGHT, most=10)
        at, iterations = ended.at, iterations + ended.iterations
        if distance < _CLOSE:
            break
    whole[free] = at
    value, gradient = laplace(whole)
    modes = laplace.effects(whole[laplace.fixed :])
    covariance = np.full((len(free),) * 2, np.nan) if inverse is None else inverse
    distance = float(gradient[free] @ covariance @ gradient[free])
    # The likelihood is the same on either side of zero, where a search may have ended.
    signs = np.ones(len(whole))
    signs[laplace.fixed :][whole[laplace.fixed :] < 0] = -1
    whole, gradient = whole * signs, gradient * signs
    covariance = covariance * np.outer(signs[free], signs[free])
    return Estimates(
        parameters=whole,
        free=tuple(free),
        covariance=covariance,
        log_likelihood=-value,
        gradient=-gradient[free],
        converged=distance < _CLOSE,
        singular=inverse is None,
        iterations=iterations,
        modes=modes,
        fixed=fixed,
    )


def _restricted(laplace: Laplace, whole: Array, free: list[int]) -> Function:
    """The same function of the free parameters only, the others as they are."""

    def function(some: Array) -> tuple[float, Array]:
        everything = whole.copy()
        everything[free] = some
        value, gradient = laplace(everything)
        return value, gradient[free]

    return function


def _bounded(laplace: Laplace, place: Place, latent_sd: float) -> tuple[Array, list[int]]:
    """The parameters with standard deviations of zero where that is the maximum, and the rest.

    The likelihood is flat at zero whichever way it bends there, so it is tried on the spot.
    """
    whole, value = place.at.copy(), place.value
    free = list(range(len(whole)))
    for number in range(laplace.fixed, len(whole)):
        if abs(whole[number]) > _NEAR_ZERO * latent_sd:
            continue
        trial, beside = whole.copy(), whole.copy()
        trial[number], beside[number] = 0.0, _BESIDE * latent_sd
        at_zero = laplace(trial).value
        if at_zero > value + _NO_WORSE:
            continue
        if laplace(beside).value < at_zero:
            whole[number] = beside[number]
        else:
            whole, value = trial, at_zero
            free.remove(number)
    return whole, free
