"""Percentile intervals from resampled situations, for many coefficients at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Statistic = Callable[[Array], Array]
"""Given how often each situation is taken (resamples × situations), the coefficient of each
resample; NaN where it is not defined."""

_BLOCK = 2_000_000
"""Cells of the resamples × situations matrix that are held at once."""


def estimates(statistics: Mapping[str, Statistic], situations: int) -> dict[str, float]:
    """Each coefficient on the situations as they are."""
    once = np.ones((1, situations))
    return {name: float(statistic(once)[0]) for name, statistic in statistics.items()}


def percentile_intervals(
    statistics: Mapping[str, Statistic],
    situations: int,
    *,
    resamples: int,
    seed: int,
    confidence: float,
    clusters: NDArray[np.int64] | None = None,
) -> dict[str, tuple[float, float]]:
    """Each coefficient's interval: percentiles over samples of situations with replacement.

    With `clusters` (one number per situation) whole clusters are drawn: replies to one situation
    are rated alike, and drawing them one by one makes the interval too narrow.

    All coefficients see the same samples. Samples without an estimate are left out; NaN where
    more than half are, where `resamples` is 0, and with a single situation. Situations count as
    drawn at random and raters as fixed, so the interval says nothing about other raters.

    Efron, B., & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 13.
    """
    drawn = situations if clusters is None else int(clusters.max(initial=-1)) + 1
    if resamples <= 0 or drawn < 2:
        return dict.fromkeys(statistics, (math.nan, math.nan))
    generator = np.random.default_rng(seed)
    found: dict[str, list[Array]] = {name: [] for name in statistics}
    block = max(1, min(resamples, _BLOCK // situations))
    for start in range(0, resamples, block):
        weights = _samples(generator, min(block, resamples - start), drawn)
        if clusters is not None:
            weights = weights[:, clusters]
        for name, statistic in statistics.items():
            found[name].append(statistic(weights))
    return {name: percentiles(np.concatenate(parts), confidence) for name, parts in found.items()}


def percentiles(values: Array, confidence: float) -> tuple[float, float]:
    """The middle share of the values; NaN where more than half of them are."""
    kept = values[np.isfinite(values)]
    if 2 * len(kept) < len(values) or len(kept) < 2:
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    return float(low), float(high)


def remembered(statistic: Statistic) -> Statistic:
    """The same, but asked again about the same samples it does not reckon again."""
    last: list[Array] = []

    def asked(taken: Array) -> Array:
        if not last or last[0] is not taken:
            last[:] = [taken, statistic(taken)]
        return last[1]

    return asked


def _samples(generator: np.random.Generator, resamples: int, situations: int) -> Array:
    drawn = generator.integers(situations, size=(resamples, situations))
    drawn += np.arange(resamples)[:, None] * situations
    counts = np.bincount(drawn.ravel(), minlength=resamples * situations)
    return counts.reshape(resamples, situations).astype(np.float64)
