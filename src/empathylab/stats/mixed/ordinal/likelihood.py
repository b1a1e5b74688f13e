"""Ratings sorted by category, and their likelihood given thresholds and linear predictors."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.ordinal.links import Link, Slopes

_PIECE = 8192
"""Ratings worked on at a time: few enough to stay in the processor's cache."""


class ThresholdSums(NamedTuple):
    """Derivatives of the log-likelihood in the thresholds, summed over ratings."""

    first: Array
    second: Array
    """With itself."""
    next: Array
    """With the threshold above."""


class Changes(NamedTuple):
    """How score and weight of each rating change with the threshold above (a) and below (b)."""

    sums: ThresholdSums
    sa: Array
    sb: Array
    wa: Array
    wb: Array


class Likelihood:
    """The likelihood of ratings that lie sorted by category.

    Sorted, the lowest and the highest category are stretches with one threshold each, which costs
    half; all others are one stretch, however many they are.
    """

    def __init__(self, y: Codes, categories: int, link: Link) -> None:
        self.order: NDArray[np.intp] = np.argsort(y, kind="stable")
        """Where each sorted rating was; predictors must be brought into this order."""
        self.link = link
        self.categories = categories
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(y, minlength=categories))])
        """Where each category ends among the sorted ratings, after a first 0."""
        self.n = len(y)
        self._y = y[self.order]
        inner = (0, int(self.ends[1]), int(self.ends[-2]), self.n)
        self._pieces = [
            slice(begin, min(begin + _PIECE, last))
            for first, last in itertools.pairwise(inner)
            for begin in range(first, last, _PIECE)
        ]

    def slopes(self, thresholds: Array, eta: Array) -> Slopes:
        """The log-likelihood, and the derivatives of minus it in each linear predictor."""
        score, weight, total = np.empty(self.n), np.empty(self.n), 0.0
        for piece in self._pieces:
            slopes = self.link.slopes(*self._beside(piece, thresholds), eta[piece])
            total += slopes.log_likelihood
            score[piece], weight[piece] = slopes.score, slopes.weight
        return Slopes(total, score, weight)

    def changes(self, thresholds: Array, eta: Array, *, second_order: bool = True) -> Changes:
        """How likelihood, scores and weights answer to the thresholds.

        Without `second_order` the sums of second derivatives stay 0.
        """
        first, second = np.zeros(self.categories - 1), np.zeros(self.categories - 1)
        beside = np.zeros(self.categories)
        arrays = [np.zeros(self.n) for _ in range(4)]
        for piece in self._pieces:
            derivatives = self.link.derivatives(*self._beside(piece, thresholds), eta[piece])
            y = self._y[piece]
            sums = [
                (first, derivatives.la, derivatives.lb),
                (second, derivatives.laa, derivatives.lbb),
            ]
            for total, above, below in sums if second_order else sums[:1]:
                if above is not None:
                    total += np.bincount(y, above, minlength=self.categories)[:-1]
                if below is not None:
                    total += np.bincount(y, below, minlength=self.categories)[1:]
            if second_order and derivatives.lab is not None:
                values = np.broadcast_to(derivatives.lab, y.shape)
                beside += np.bincount(y, values, minlength=self.categories)
            for array, known in zip(arrays, derivatives[5:], strict=True):
                if known is not None:
                    array[piece] = known
        return Changes(ThresholdSums(first, second, beside[1:-1]), *arrays)

    def summed(self, above: Array, below: Array) -> Array:
        """Per threshold: `above` over the ratings right below it, `below` over those above."""
        upper = np.bincount(self._y, above, minlength=self.categories)[:-1]
        lower = np.bincount(self._y, below, minlength=self.categories)[1:]
        return np.asarray(upper + lower, dtype=np.float64)

    def _beside(self, piece: slice, thresholds: Array) -> tuple[Array | None, Array | None]:
        """The thresholds below and above each rating of a piece."""
        first, last = int(self._y[piece.start]), int(self._y[piece.stop - 1])
        if first == last:
            lower, upper = thresholds[first - 1 : first], thresholds[first : first + 1]
        else:
            y = self._y[piece]
            lower, upper = thresholds[y - 1], thresholds[y]
        return (
            None if first == 0 else lower,
            None if last == self.categories - 1 else upper,
        )
