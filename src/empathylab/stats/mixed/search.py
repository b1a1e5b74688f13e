"""Finding the least value of a smooth function whose gradient is known, and its curvature there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array

Function = Callable[[Array], tuple[float, Array]]

_SHIFT = 1e-3
"""Standard errors by which a parameter is moved to see how the gradient changes."""
_HALVINGS = 40
_ARMIJO = 1e-4
_ROUNDS = 4
CLOSE = 1e-5
"""Squared distance from the end, in standard errors, below which a search has converged."""


class Place(NamedTuple):
    """Where a search stands."""

    at: Array
    value: float
    gradient: Array
    inverse: Array
    """An approximate inverse of the second derivatives."""
    iterations: int
    stuck: bool
    """Whether no smaller value was found along the last direction."""

    @property
    def decrement(self) -> float:
        """Twice what one more Newton step promises to gain."""
        return float(self.gradient @ self.inverse @ self.gradient)


def descend(
    function: Function,
    start: Array,
    inverse: Array,
    *,
    tolerance: float,
    max_iterations: int,
    slack: float = 0.0,
) -> Place:
    """Where the function is least, near enough, by the BFGS method with halved steps.

    Values may rise by `slack` in a step: they are estimates that do not agree exactly with the
    gradient, which is then what decides where the search ends.

    Nocedal, J., & Wright, S. J. (2006). Numerical Optimization, chapter 6.
    """
    value, gradient = function(start)
    place = Place(start, value, gradient, inverse, 0, False)
    if not math.isfinite(value):
        return place._replace(stuck=True)
    while place.decrement > tolerance and place.iterations < max_iterations and not place.stuck:
        place = _stepped(function, place, slack)
    return place


class Precision(NamedTuple):
    """How closely a function can be followed."""

    slack: float
    """How far a value may disagree with the gradient."""
    loose: float
    """Decrement at which the curvature is taken."""
    tight: float
    """Decrement at which the search ends."""
    share: float
    """Of a standard error, by which parameters are moved for the curvature."""


class Settled(NamedTuple):
    """The end of a search, with the curvature there."""

    at: Array
    inverse: Array | None
    """Of the second derivatives; None where they are singular."""
    converged: bool
    iterations: int


def settle(
    function: Function,
    at: Array,
    inverse: Array | None,
    precision: Precision,
    invert: Callable[[Array], Array | None],
) -> Settled:
    """The last steps of a search: the curvature taken, and steps by it, until they are short."""
    iterations = 0
    for _ in range(_ROUNDS):
        guess = np.eye(len(at)) * 1e-3 if inverse is None else inverse
        ended = descend(
            function,
            at,
            guess,
            tolerance=precision.loose,
            max_iterations=200,
            slack=precision.slack,
        )
        at, iterations = ended.at, iterations + ended.iterations
        scale = np.sqrt(np.maximum(np.diag(ended.inverse), 1e-12))
        inverse = invert(curvature(function, at, scale, share=precision.share))
        if inverse is None:
            continue
        distance = float(ended.gradient @ inverse @ ended.gradient)
        ended = descend(
            function,
            at,
            inverse,
            tolerance=precision.tight,
            max_iterations=10,
            slack=precision.slack,
        )
        at, iterations = ended.at, iterations + ended.iterations
        if distance < CLOSE:
            return Settled(at, inverse, True, iterations)
    return Settled(at, inverse, False, iterations)


def restricted(function: Function, whole: Array, free: list[int]) -> Function:
    """The same function of the free parameters only, the others as they are."""

    def of_free(some: Array) -> tuple[float, Array]:
        everything = whole.copy()
        everything[free] = some
        value, gradient = function(everything)
        return value, gradient[free]

    return of_free


def curvature(function: Function, at: Array, scale: Array, *, share: float = _SHIFT) -> Array:
    """The matrix of second derivatives, from central differences of the gradient.

    `scale` holds what a sizeable change of each parameter is: its standard error, roughly;
    parameters are moved by that `share` of it.
    """
    columns = []
    for number, size in enumerate(scale):
        shift = np.zeros(len(at))
        shift[number] = share * size
        ahead, behind = function(at + shift)[1], function(at - shift)[1]
        columns.append((ahead - behind) / (2 * shift[number]))
    matrix = np.array(columns).reshape(len(at), len(at))
    return np.asarray((matrix + matrix.T) / 2, dtype=np.float64)


def inverted(matrix: Array, flat: float = 1e-10) -> Array | None:
    """The inverse of a matrix, at any scale; None if it is not positive definite.

    `flat` is the least curvature of a direction, relative to those of single parameters.
    """
    diagonal = np.diag(matrix)
    if not np.all(np.isfinite(matrix)) or np.any(diagonal <= 0):
        return None
    size = 1 / np.sqrt(diagonal)
    scaled = matrix * np.outer(size, size)
    if len(scaled) and float(np.linalg.eigvalsh(scaled)[0]) < flat:
        return None
    return np.asarray(np.linalg.inv(scaled) * np.outer(size, size), dtype=np.float64)


def inverted_where_known(matrix: Array, known: int) -> Array | None:
    """The same where parameters after the first `known` ones may be undetermined.

    Directions without curvature get no variance; None where one of them holds a known parameter.
    """
    inverse = inverted(matrix)
    diagonal = np.diag(matrix)
    if inverse is not None or not np.all(np.isfinite(matrix)) or np.any(diagonal[:known] <= 0):
        return inverse
    size = 1 / np.sqrt(np.maximum(np.abs(diagonal), 1e-12))
    values, vectors = np.linalg.eigh(matrix * np.outer(size, size))
    flat = values < 1e-6
    if np.abs(vectors[:known, flat]).max(initial=0.0) > 1e-2:
        return None
    kept = vectors[:, ~flat]
    return np.asarray((kept / values[~flat]) @ kept.T * np.outer(size, size), dtype=np.float64)


def _stepped(function: Function, place: Place, slack: float) -> Place:
    step = -place.inverse @ place.gradient
    slope = float(step @ place.gradient)
    length = 1.0
    for _ in range(_HALVINGS):
        moved = place.at + length * step
        value, gradient = function(moved)
        if value <= place.value + _ARMIJO * length * slope + slack:
            break
        length *= _shortened(value - place.value, slope, length)
    else:
        return place._replace(stuck=True, iterations=place.iterations + 1)
    inverse = _updated(place.inverse, length * step, gradient - place.gradient)
    return Place(moved, value, gradient, inverse, place.iterations + 1, False)


def _shortened(rise: float, slope: float, length: float) -> float:
    """The part of a step to the lowest point of a parabola through what is known, 0.1 to 0.5."""
    if not math.isfinite(rise):
        return 0.5
    best = -slope * length / (2 * (rise - slope * length))
    return min(max(best, 0.1), 0.5)


def _updated(inverse: Array, step: Array, change: Array) -> Array:
    along = float(step @ change)
    if along <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    moved = inverse @ change
    bend = (1 + float(change @ moved) / along) / along
    return np.asarray(
        inverse
        + bend * np.outer(step, step)
        - (np.outer(moved, step) + np.outer(step, moved)) / along
    )
