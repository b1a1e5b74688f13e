"""Critical values for looks at a study that is still running: alpha spending.

Each look may spend part of the error rate, as much as the spending function has released at the
proportion of the information that is there. The distribution of the statistic among studies that
were not stopped before is carried from look to look by numerical integration.

Lan, K. K. G., & DeMets, D. L. (1983). Biometrika 70, 659–663. Armitage, P., McPherson, C. K., &
Rowe, B. C. (1969). Journal of the Royal Statistical Society A 132, 235–244 (the recursion).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arrays import Array

Spending = Literal["obrien-fleming", "pocock"]
_STEP = 0.01
"""Of the grid, in standard deviations of the final statistic."""


class Boundary(NamedTuple):
    """The critical value of one look."""

    fraction: float
    z: float
    """A statistic beyond ±z ends the study."""
    p: float
    """The same as a two-sided p value."""
    spent: float
    """Of the two-sided error rate, up to and with this look."""


def spent_alpha(fraction: float, alpha: float, spending: Spending) -> float:
    """The one-sided error rate released at that proportion of the information."""
    from scipy.special import ndtr, ndtri

    if spending == "pocock":
        return float(alpha * math.log(1 + (math.e - 1) * fraction))
    return float(2 * ndtr(-ndtri(1 - alpha / 2) / math.sqrt(fraction)))


def spending_boundaries(
    fractions: Sequence[float], *, alpha: float = 0.05, spending: Spending = "obrien-fleming"
) -> tuple[Boundary, ...]:
    """The two-sided critical value at each look, given its proportion of the information.

    Each side spends half of alpha; that a study could cross both sides is neglected, as usual.
    """
    from scipy.special import ndtr, ndtri

    _check(fractions, alpha, spending)
    boundaries: list[Boundary] = []
    grid: Array = np.empty(0)
    density: Array = np.empty(0)
    done = before = 0.0
    for fraction in fractions:
        total = spent_alpha(fraction, alpha / 2, spending)
        if len(density) == 0:
            limit = -float(ndtri(total)) * math.sqrt(fraction)
        else:
            limit = _limit(grid, density, fraction - done, total - before)
        z = limit / math.sqrt(fraction)
        boundaries.append(Boundary(fraction, z, float(2 * ndtr(-z)), 2 * total))
        points = np.arange(-8 * math.sqrt(fraction), limit, _STEP)
        points = np.append(points, limit)
        if len(density) == 0:
            density = _normal(points, fraction)
        else:
            kernel = _normal(points[:, None] - grid[None, :], fraction - done)
            density = np.asarray(np.trapezoid(kernel * density[None, :], grid, axis=1))
        grid, done, before = points, fraction, total
    return tuple(boundaries)


def _limit(grid: Array, density: Array, variance: float, tail: float) -> float:
    """The value that studies still running exceed at this look with that probability."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def excess(limit: float) -> float:
        beyond = ndtr((grid - limit) / math.sqrt(variance))
        return float(np.trapezoid(beyond * density, grid)) - tail

    return float(brentq(excess, -10.0, 12.0, xtol=1e-10))


def _normal(values: Array, variance: float) -> Array:
    return np.asarray(np.exp(-(values**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance))


def _check(fractions: Sequence[float], alpha: float, spending: str) -> None:
    rising = all(a < b for a, b in itertools.pairwise(fractions))
    if not fractions or not rising or not (fractions[0] > 0 and fractions[-1] <= 1):
        raise InputError(
            "looks must be proportions of the planned ratings, rising, above 0 and at most 1",
            got=list(fractions),
            remedy="For example: 0.5, 1.",
        )
    if not 0 < alpha < 0.5:
        raise InputError(
            "`alpha` must be between 0 and 0.5", got=alpha, remedy="For example: 0.05."
        )
    if spending not in get_args(Spending):
        raise UnknownName("alpha-spending function", spending, get_args(Spending))
