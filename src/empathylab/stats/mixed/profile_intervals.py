"""Intervals of standard deviations from the profile of the likelihood.

A standard deviation's estimate is skewed, and Wald's interval may reach below 0. The profile
interval holds the values that the likelihood ratio does not reject, the other parameters at their
best.

Venzon, D. J., & Moolgavkar, S. H. (1988). Journal of the Royal Statistical Society C 37, 87–94.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from empathylab.compute import one_thread
from empathylab.errors import InputError
from empathylab.stats.arguments import require_confidence
from empathylab.stats.arrays import Array
from empathylab.stats.estimates import Estimate
from empathylab.stats.mixed.linear.model import Lmm
from empathylab.stats.mixed.linear.profile import Columns, Profile
from empathylab.stats.mixed.ordinal.clmm import Clmm
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.ordinal.links import find_link
from empathylab.stats.mixed.search import descend
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
    from scipy.optimize import minimize

    design = fit.design
    codes = [group.codes for group in design.groups]
    sizes = [len(group.levels) for group in design.groups]
    columns = Columns(np.asarray(design.y, dtype=np.float64), design.x)
    profile = Profile(columns, codes, sizes, reml=False)
    minimum = profile.minimised()
    sigma = math.sqrt(minimum.point.residual / design.n)
    best = np.append(minimum.theta * sigma, sigma)

    def deviance(sds: Array) -> float:
        point = profile.at(np.abs(sds[:-1] / sds[-1]))
        constant = design.n * math.log(2 * math.pi * sds[-1] ** 2)
        return point.log_determinants + constant + point.residual / float(sds[-1]) ** 2

    names = [*fit.random_effects, "residual"]
    intervals = {}
    for number, name in enumerate(names):
        others = [k for k in range(len(best)) if k != number]

        def profiled(value: float, number: int = number, others: list[int] = others) -> float:
            def rest(some: Array) -> float:
                sds = best.copy()
                sds[number], sds[others] = value, some
                return deviance(sds) if sds[-1] > 1e-8 * sigma else math.inf

            tight = {"xatol": 1e-6 * sigma, "fatol": 1e-7, "maxiter": 2000}
            return float(minimize(rest, best[others], method="Nelder-Mead", options=tight).fun)

        intervals[name] = _ends(profiled, float(best[number]), deviance(best), confidence)
    return intervals


def _ordinal(fit: Clmm, confidence: float) -> dict[str, Estimate]:
    design = fit.design
    y = np.asarray(design.y, dtype=np.int64)
    random = random_structure(design)
    laplace = Laplace(y, len(design.levels), design.x, random, find_link(fit.link))
    sds = np.array([random_effect.sd for random_effect in fit.random_effects.values()])
    fixed = [
        threshold.estimate for threshold in (*fit.thresholds.values(), *fit.coefficients.values())
    ]
    best = np.array([*fixed, *sds])
    free = [k for k in range(len(best)) if k < laplace.fixed or best[k] > 0]
    base = np.eye(len(best)) * 1e-2
    base[np.ix_(free, free)] = np.nan_to_num(fit.covariance)
    lowest = 2 * laplace(best).value
    intervals = {}
    for number, name in enumerate(fit.random_effects, start=laplace.fixed):
        others = [k for k in range(len(best)) if k != number]

        def profiled(value: float, number: int = number, others: list[int] = others) -> float:
            def rest(some: Array) -> tuple[float, Array]:
                whole = best.copy()
                whole[number], whole[others] = value, some
                at, gradient = laplace(whole)
                return at, gradient[others]

            start, inverse = best[others], base[np.ix_(others, others)]
            return 2 * descend(rest, start, inverse, tolerance=1e-7, max_iterations=100).value

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
    if best > 0 and above(1e-6 * best) > 0:
        low = float(brentq(above, 1e-6 * best, best, xtol=1e-5 * best))
    start = max(best, 1e-3)
    high = 1.5 * start
    for _ in range(_DOUBLINGS):
        if above(high) > 0:
            break
        high *= 1.5
    else:
        return Estimate(best, low, math.inf)
    return Estimate(best, low, float(brentq(above, start, high, xtol=1e-5 * start)))
