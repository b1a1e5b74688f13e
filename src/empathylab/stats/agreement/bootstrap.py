"""Intervals from resampled situations, for many coefficients at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array
from empathylab.stats.t_tests import t_margin

Statistic = Callable[[Array], Array]
"""Given how often each situation is drawn (resamples × situations), the coefficient of each
resample; NaN where it is not defined."""

_INSIDE = 0.9995
"""Of the way to a limit: where a coefficient of a sample reaches it, Fisher's z is infinite."""
_LEFT_OUT = 200
"""Situations up to which each is left out once; with more the bootstrap's error is as good."""
_BLOCK = 2_000_000
"""Cells of the resamples × situations matrix that are held at once."""


def estimates(statistics: Mapping[str, Statistic], situations: int) -> dict[str, float]:
    """Each coefficient on the situations as they are."""
    once = np.ones((1, situations))
    return {name: float(statistic(once)[0]) for name, statistic in statistics.items()}


def resampled_intervals(
    statistics: Mapping[str, Statistic],
    situations: int,
    *,
    resamples: int,
    seed: int,
    confidence: float,
    clusters: NDArray[np.int64] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, tuple[float, float]]:
    """Each coefficient's interval, from samples of situations with replacement.

    With `clusters` (one number per situation) whole clusters are drawn: replies to one situation
    are rated similarly, and drawing them one by one makes the interval too narrow. See `interval`
    for how it is made; `limits` are the ends of coefficients that do not lie between −1 and 1. With
    few situations the coefficients without each of them give the standard error.

    All coefficients see the same samples. Samples without an estimate are left out; NaN where
    more than half are, where `resamples` is 0, and with a single situation. Situations count as
    drawn at random and raters as fixed, so the interval says nothing about other raters.
    """
    drawn = situations if clusters is None else int(clusters.max(initial=-1)) + 1
    if resamples <= 0 or drawn < 2:
        return dict.fromkeys(statistics, (math.nan, math.nan))
    generator = np.random.default_rng(seed)
    resampled: dict[str, list[Array]] = {name: [] for name in statistics}
    block = max(1, min(resamples, _BLOCK // situations))
    for start in range(0, resamples, block):
        weights = _samples(generator, min(block, resamples - start), drawn)
        if clusters is not None:
            weights = weights[:, clusters]
        for name, statistic in statistics.items():
            resampled[name].append(statistic(weights))
    values = estimates(statistics, situations)
    without = None
    if drawn <= _LEFT_OUT:
        without = (1 - np.eye(drawn))[:, slice(None) if clusters is None else clusters]
    return {
        name: interval(
            np.concatenate(parts),
            values[name],
            drawn,
            confidence,
            (limits or {}).get(name, (-1.0, 1.0)),
            without=None if without is None else statistics[name](without),
        )
        for name, parts in resampled.items()
    }


def interval(
    values: Array,
    estimate: float,
    drawn: int,
    confidence: float,
    limits: tuple[float, float] = (-1.0, 1.0),
    *,
    without: Array | None = None,
) -> tuple[float, float]:
    """Student's interval around the estimate, with the bias of the bootstrap undone.

    On Fisher's z scale, where coefficients are nearer to normal and stay within their limits. With
    few situations percentiles cover too little: they follow the bias of the coefficient twice, and
    take the variance of so few for known. `without` are the coefficients without each situation:
    then the standard error is the jackknife's, as that of the bootstrap is too small with few
    situations. NaN where more than half of the values are missing, and where all are the same.

    Efron, B., & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapters 10 to 12.
    Hesterberg, T. C. (2015). The American Statistician 69, 371–386 (few draws).
    """
    kept = values[np.isfinite(values)]
    if 2 * len(kept) < len(values) or len(kept) < 2 or np.ptp(kept) == 0:
        return math.nan, math.nan
    middle, half = sum(limits) / 2, (limits[1] - limits[0]) / 2

    def fisher_z(item: Array | float) -> Array:
        return np.arctanh(np.clip((np.asarray(item) - middle) / half, -_INSIDE, _INSIDE))

    z, centre = fisher_z(kept), float(fisher_z(estimate))
    variance = drawn / (drawn - 1) * float(z.var(ddof=1))
    if without is not None and np.isfinite(without).all():
        variance = (drawn - 1) * float(fisher_z(without).var())
    reach = t_margin(drawn - 1, confidence) * math.sqrt(variance)
    ends = [math.tanh(2 * centre - float(z.mean()) + side * reach) for side in (-1, 1)]
    return middle + half * ends[0], middle + half * ends[1]


def cached(statistic: Statistic) -> Statistic:
    """The same statistic, which keeps its last result and returns it for the same samples."""
    last: list[Array] = []

    def asked(draws: Array) -> Array:
        if not last or last[0] is not draws:
            last[:] = [draws, statistic(draws)]
        return last[1]

    return asked


def _samples(generator: np.random.Generator, resamples: int, situations: int) -> Array:
    drawn = generator.integers(situations, size=(resamples, situations))
    drawn += np.arange(resamples)[:, None] * situations
    counts = np.bincount(drawn.ravel(), minlength=resamples * situations)
    return counts.reshape(resamples, situations).astype(np.float64)
