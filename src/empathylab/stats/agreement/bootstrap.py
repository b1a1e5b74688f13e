"""Intervals from resampled situations, for many coefficients at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.clusters.robust import t_margin

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
    are rated alike, and drawing them one by one makes the interval too narrow. The percentiles lie
    farther out than 2.5% and 97.5%, by as much as Student's t exceeds the normal quantile and the
    sample's variance falls short with so many draws: plain ones cover too little with few.

    All coefficients see the same samples. Samples without an estimate are left out; NaN where
    more than half are, where `resamples` is 0, and with a single situation. Situations count as
    drawn at random and raters as fixed, so the interval says nothing about other raters.

    Efron, B., & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 13.
    Hesterberg, T. C. (2015). The American Statistician 69, 371–386 (expanded percentiles).
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
    level = expanded(confidence, drawn)
    return {name: percentiles(np.concatenate(parts), level) for name, parts in found.items()}


def expanded(confidence: float, drawn: int) -> float:
    """The share of bootstrap values that covers at this confidence with so many things drawn."""
    from scipy.special import ndtr

    reach = t_margin(drawn - 1, confidence) * math.sqrt(drawn / (drawn - 1))
    return float(2 * ndtr(reach) - 1)


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
