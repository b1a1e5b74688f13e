"""Lines from a judge's ratings to people's, which predict a respondent without human ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array


@dataclass(frozen=True, slots=True)
class Shares:
    """Which respondent each rating is of, and its weight, so that respondents weigh the same."""

    codes: NDArray[np.int64]
    weights: Array
    """Together 1."""
    respondents: int

    @classmethod
    def of(cls, who: NDArray[np.int64]) -> Shares:
        """From the respondents' numbers, of which some may be left out."""
        _, codes, sizes = np.unique(who, return_inverse=True, return_counts=True)
        return cls(codes, 1 / (sizes[codes] * len(sizes)), len(sizes))

    def means(self, values: Array) -> Array:
        """One for each respondent."""
        return np.asarray(np.bincount(self.codes, values * self.weights) * self.respondents)


@dataclass(frozen=True, slots=True)
class Reading:
    """A line, evaluated at the new respondent's mean."""

    estimate: float
    slope: float
    leverage: float
    pull: Array
    """By how much the estimate rises with people's mean of each of the others."""
    terms: Array
    """What each rating of the others adds to the error."""


def through_ratings(y: Array, f: Array, own: Array, shares: Shares) -> Reading:
    """Read off a line through single ratings, each respondent weighing the same."""
    weights = shares.weights
    mean_y, mean_f = float(weights @ y), float(weights @ f)
    centred = f - mean_f
    spread = float(weights @ centred**2)
    slope = float(weights @ (centred * (y - mean_y))) / spread if spread > 1e-12 else 0.0
    slope = max(slope, 0.0)
    shift = float(own.mean()) - mean_f
    lever = shift * centred / spread if slope > 0 else np.zeros_like(centred)
    pull = np.asarray(np.bincount(shares.codes, weights * (1 + lever)), dtype=np.float64)
    terms = weights * (1 + lever) * (y - mean_y - slope * centred)
    return Reading(mean_y + slope * shift, slope, 1 / shares.respondents, pull, terms)


def through_means(y: Array, f: Array, own: Array, shares: Shares) -> Reading:
    """Read off a line through the respondents' means."""
    number = shares.respondents
    people, judge = shares.means(y), shares.means(f)
    centred = judge - judge.mean()
    spread = float(centred @ centred)
    slope = max(float(centred @ people) / spread, 0.0) if spread > 1e-12 else 0.0
    shift = float(own.mean() - judge.mean())
    reach = shift / spread if slope > 0 else 0.0
    lever = 1 + number * reach * centred
    # The judge's own scatter moves the means it is held by, and with them the slope.
    rest = people - people.mean() - slope * centred
    bend = slope * lever - number * reach * rest
    apart_y, apart_f = y - people[shares.codes], f - judge[shares.codes]
    terms = shares.weights * (lever[shares.codes] * apart_y - bend[shares.codes] * apart_f)
    estimate = float(people.mean()) + slope * shift
    return Reading(estimate, slope, 1 / number + shift * reach, lever / number, terms)
