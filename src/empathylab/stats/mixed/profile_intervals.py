"""Intervals of standard deviations from the profile of the likelihood.

A standard deviation's estimate is skewed, and Wald's interval may reach below 0. The profile
interval holds the values that the likelihood ratio does not reject, the other parameters at their
best.

Venzon, D. J., & Moolgavkar, S. H. (1988). Journal of the Royal Statistical Society C 37, 87–94.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from empathylab.compute import one_thread
from empathylab.errors import InputError
from empathylab.stats.arguments import require_confidence
from empathylab.stats.arrays import Array
from empathylab.stats.estimates import Estimate
from empathylab.stats.mixed.linear.criterion import Columns
from empathylab.stats.mixed.linear.model import Lmm
from empathylab.stats.mixed.linear.profile import Profile
from empathylab.stats.mixed.ordinal.clmm import Clmm
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.ordinal.links import find_link
from empathylab.stats.mixed.search import Function, descend, restricted
from empathylab.stats.mixed.spread import random_structure

_DOUBLINGS = 40


def sd_intervals(fit: Lmm | Clmm, *, confidence: float = 0.95) -> dict[str, Estimate]:
    """The profile interval of each random intercept's standard deviation, and the residual's.

    By maximum likelihood, also for a model fitted by REML, as R's `confint` of lme4 does. Random
    intercepts only; with slopes, `parametric_bootstrap` gives intervals. The upper end is infinite
    where no value is too large.
    """
    if any(group.columns.values is not None for group in fit.design.groups):
        raise InputError(
            "profile intervals are made for random intercepts only",
            where=f"formula {fit.formula!r}",
            remedy="Use the parametric bootstrap.",
        )
    if fit.method != "exact":
        raise InputError(
            "profile intervals need the exact method",
            got=f"{fit.n} ratings",
            remedy="Use the parametric bootstrap.",
        )
    require_confidence(confidence)
    with one_thread():
        return _linear(fit, confidence) if isinstance(fit, Lmm) else _ordinal(fit, confidence)


def _linear(fit: Lmm, confidence: float) -> dict[str, Estimate]:
    design = fit.design
    columns = Columns(np.asarray(design.y, dtype=np.float64), design.x)
    profile = Profile(columns, random_structure(design), reml=False)
    minimum = profile.minimised()
    sigma = math.sqrt(minimum.point.residual / design.n)
    best = np.append(minimum.theta * sigma, sigma)

    def deviance(sds: Array) -> tuple[float, Array]:
        residual_sd = float(sds[-1])
        if residual_sd <= 1e-8 * sigma:
            return math.inf, np.zeros(len(sds))
        theta = sds[:-1] / residual_sd
        here = profile.slopes(theta)
        squares = here.point.residual / residual_sd**2
        value = here.point.log_determinants + squares
        value += design.n * math.log(2 * math.pi * residual_sd**2)
        along = here.determinants + here.residual / residual_sd**2
        by_residual = 2 * (design.n - squares) - float(along @ theta)
        return value, np.append(along, by_residual) / residual_sd

    inverse = np.diag(best**2 / design.n + (1e-2 * sigma) ** 2)
    names = [*fit.random_effects, "residual"]
    return _intervals(deviance, best, inverse, dict(enumerate(names)), confidence)


def _ordinal(fit: Clmm, confidence: float) -> dict[str, Estimate]:
    design = fit.design
    y = np.asarray(design.y, dtype=np.int64)
    random = random_structure(design)
    laplace = Laplace(y, len(design.levels), design.x, random, find_link(fit.link))
    sds = [random_effect.sd for random_effect in fit.random_effects.values()]
    fixed = [
        threshold.estimate for threshold in (*fit.thresholds.values(), *fit.coefficients.values())
    ]
    best = np.array([*fixed, *sds])
    free = [k for k in range(len(best)) if k < laplace.fixed or best[k] > 0]
    inverse = np.eye(len(best)) * 1e-2
    inverse[np.ix_(free, free)] = np.nan_to_num(fit.covariance)

    def deviance(parameters: Array) -> tuple[float, Array]:
        value, gradient = laplace(parameters)
        return 2 * value, 2 * gradient

    names = dict(enumerate(fit.random_effects, start=laplace.fixed))
    return _intervals(deviance, best, inverse / 2, names, confidence)


def _intervals(
    deviance: Function, best: Array, inverse: Array, names: Mapping[int, str], confidence: float
) -> dict[str, Estimate]:
    """The interval of each parameter that has a name; `best` has the least deviance."""
    lowest = deviance(best)[0]
    intervals = {}
    for number, name in names.items():
        others = [k for k in range(len(best)) if k != number]

        def profiled(value: float, number: int = number, others: list[int] = others) -> float:
            whole = best.copy()
            whole[number] = value
            function = restricted(deviance, whole, others)
            start = inverse[np.ix_(others, others)]
            return descend(function, best[others], start, tolerance=2e-7, max_iterations=100).value

        intervals[name] = _ends(profiled, float(best[number]), lowest, confidence)
    return intervals


def _ends(
    profiled: Callable[[float], float], best: float, lowest: float, confidence: float
) -> Estimate:
    from scipy.optimize import brentq
    from scipy.special import chdtri

    limit = float(chdtri(1, 1 - confidence))

    def above(value: float) -> float:
        return profiled(value) - lowest - limit

    low = 0.0
    if best > 0 and above(1e-4 * best) > 0:
        low = float(brentq(above, 1e-4 * best, best, xtol=1e-5 * best))
    start = max(best, 1e-3)
    high = 1.5 * start
    for _ in range(_DOUBLINGS):
        if above(high) > 0:
            break
        high *= 1.5
    else:
        return Estimate(best, low, math.inf)
    return Estimate(best, low, float(brentq(above, start, high, xtol=1e-5 * start)))
