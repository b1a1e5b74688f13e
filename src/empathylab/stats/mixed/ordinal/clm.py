"""Cumulative link models without random effects, and where a mixed model's search begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.ordinal.likelihood import Changes, Likelihood

_STEPS = 60
_HALVINGS = 30
_SMALL = 1e-16
"""Newton decrement, as a proportion of the log-likelihood, below which nothing more is gained."""
_ROUNDING = 1e-12
_ENDLESS = 25
"""Width of the linear predictors, in units of the latent error, that only separation reaches."""


class FixedFit(NamedTuple):
    """Thresholds and coefficients in one array, thresholds first."""

    parameters: Array
    log_likelihood: float
    gradient: Array
    information: Array
    """Observed: minus the second derivatives of the log-likelihood."""
    weight: Array
    """Information of each rating about its linear predictor, in sorted order."""
    converged: bool
    iterations: int


class _Place(NamedTuple):
    log_likelihood: float
    gradient: Array
    information: Array
    weight: Array


def fit_fixed(ratings: Likelihood, x: Array) -> FixedFit:
    """Maximum likelihood by Newton's method, from the proportions of the categories.

    The rows of `x` are in the ratings' sorted order.
    """
    shares = ratings.ends[1:-1] / ratings.n
    parameters = np.concatenate([ratings.link.quantile(shares), np.zeros(x.shape[1])])
    here = _evaluated(parameters, ratings, x)
    for number in range(_STEPS):
        step = _solved(here.information, here.gradient)
        if float(here.gradient @ step) < _SMALL * max(1.0, abs(here.log_likelihood)):
            return FixedFit(parameters, *here, True, number)
        for _ in range(_HALVINGS):
            moved = parameters + step
            if np.all(np.diff(moved[: ratings.categories - 1]) > 0):
                there = _evaluated(moved, ratings, x)
                # The last steps gain less than the sum's own rounding.
                if there.log_likelihood >= here.log_likelihood * (1 + _ROUNDING):
                    break
            step = step / 2
        else:
            return FixedFit(parameters, *here, False, number)
        parameters, here = moved, there
        if np.ptp(x @ parameters[ratings.categories - 1 :]) > _ENDLESS * ratings.link.latent_sd:
            return FixedFit(parameters, *here, False, number)
    return FixedFit(parameters, *here, False, _STEPS)


def _solved(information: Array, gradient: Array) -> Array:
    # Separated ratings leave directions without information; least squares stays put there.
    try:
        return np.asarray(np.linalg.solve(information, gradient), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(information, gradient)[0], dtype=np.float64)


def _evaluated(parameters: Array, ratings: Likelihood, x: Array) -> _Place:
    cut = ratings.categories - 1
    thresholds, eta = parameters[:cut], x @ parameters[cut:]
    slopes = ratings.slopes(thresholds, eta)
    changes = ratings.changes(thresholds, eta)
    gradient = np.concatenate([changes.sums.first, -(slopes.score @ x)])
    information = _information(changes, slopes.weight, ratings, x)
    return _Place(slopes.log_likelihood, gradient, information, slopes.weight)


def _information(changes: Changes, weight: Array, ratings: Likelihood, x: Array) -> Array:
    cut = ratings.categories - 1
    information = np.zeros((cut + x.shape[1],) * 2)
    among = np.diag(changes.sums.second)
    among += np.diag(changes.sums.next, 1) + np.diag(changes.sums.next, -1)
    information[:cut, :cut] = -among
    for category in range(ratings.categories):
        those = slice(int(ratings.ends[category]), int(ratings.ends[category + 1]))
        if category < cut:
            information[category, cut:] += changes.sa[those] @ x[those]
        if category > 0:
            information[category - 1, cut:] += changes.sb[those] @ x[those]
    information[cut:, :cut] = information[:cut, cut:].T
    information[cut:, cut:] = x.T @ (weight[:, None] * x)
    return information
