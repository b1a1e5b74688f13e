"""Multinomial logistic regression with an L2 penalty, by Newton's method.

The same estimates as scikit-learn's `LogisticRegression`, whose import alone takes longer than
fitting some thousand texts here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers

Array = NDArray[np.floating[Any]]

TOLERANCE = 1e-6
_OFTEN = 0.2
"""The share of rows from which a column counts as frequent."""
_STEPS = 100
_INNER_STEPS = 200
_HALVINGS = 30
_INEXACT, _EXACT = 0.1, 1e-3
"""The most and the least that may be left of the squared error of a step: early ones need not be
exact. Eisenstat, S. C., & Walker, H. F. (1996). SIAM Journal on Scientific Computing 17, 16–32."""
_TIED = 1e-4
"""Scores so close are equal: their difference is rounding, which depends on the order of rows."""


class Logistic(NamedTuple):
    """A fitted classifier; the score of a class is `features @ weights + intercepts`."""

    weights: Array
    """A row per feature and a column per class."""
    intercepts: Array
    residuals: Array | None = None
    """How far from the truth the fit ended, by row of the features; a start for a similar fit."""

    def predict(self, features: Any) -> Numbers:
        """The number of the most likely class of each row, of equally likely ones the first."""
        scores = np.asarray(features @ self.weights + self.intercepts)
        likeliest: Numbers = np.argmax(scores >= scores.max(axis=1, keepdims=True) - _TIED, axis=1)
        return likeliest


def fit_logistic(
    features: Any,
    classes: Numbers,
    *,
    cost: float,
    tolerance: float = TOLERANCE,
    start: Logistic | None = None,
) -> Logistic:
    """The classifier with the smallest sum of log losses plus squared weights over 2 `cost`.

    `features` is an array or a sparse matrix, `classes` are numbers from 0, each of which occurs.
    Intercepts are not penalised. Two classes have one vector of weights between them, as is usual,
    which is returned with both signs. Ends where no derivative of the mean loss exceeds
    `tolerance`. Works in the precision of the features. `start` is the fit of other features of
    the same rows; with other rows it would bring what it knows of those that are now left out.
    """
    kinds = int(classes.max()) + 1
    truth = np.eye(kinds, dtype=features.dtype)[classes]
    truth = truth[:, 1:] if kinds == 2 else truth
    matrix = _Matrix(features, truth.shape[1])
    # The last row holds the intercepts.
    weights = np.zeros((features.shape[1] + 1, truth.shape[1]), dtype=features.dtype)
    penalty = np.full((len(weights), 1), 1 / cost, dtype=features.dtype)
    penalty[-1] = 0
    scores, before, inexact = np.zeros_like(truth), 0.0, _EXACT
    if start is not None and start.residuals is not None:
        # At the optimum, the weights are the features times these.
        weights = cost * matrix.back(start.residuals)
        weights[-1] = start.intercepts[-truth.shape[1] :]
        scores, inexact = matrix.scores(weights), _INEXACT
    for _ in range(_STEPS):
        likely = _probabilities(scores)
        slope = matrix.back(likely - truth) + penalty * weights
        if np.abs(slope).max() <= tolerance * len(truth):
            break

        steepness = float(np.vdot(slope, slope))
        if before:
            inexact = min(_INEXACT, max(_EXACT, 0.9 * steepness / before))
        before = steepness
        step, change = _solved(matrix, likely, penalty, -slope, inexact * steepness)
        loss = partial(_loss, scores, change, truth, weights, step, penalty)
        size = _step_size(loss, float((slope * step).sum()))
        weights += size * step
        scores += size * change
    residuals = truth - _probabilities(scores)
    if kinds == 2:
        weights = np.hstack([-weights, weights])
    return Logistic(matrix.in_order(weights[:-1]), weights[-1], residuals)


class _Matrix:
    """Features with a column of ones for the intercepts, the more frequent features first.

    Columns that many rows have make much of the work of a sparse product, and are multiplied as
    dense ones: several times faster, but only for several classes at once.
    """

    def __init__(self, features: Any, classes: int) -> None:
        rows, columns = features.shape
        self._order = np.arange(columns)
        self._dense, self._rare = features, None
        if isinstance(features, np.ndarray):
            return
        often = np.bincount(features.indices, minlength=columns) > _OFTEN * rows
        often &= classes > 1
        self._order = np.argsort(~often, kind="stable")
        self._dense = features[:, often].toarray()
        self._rare = features[:, ~often] if often.any() else features
        # Sums come in the same order by row and by column. By column they do not wait for each
        # other, as each goes to another row.
        self._rare_by_column = self._rare.tocsc() if classes > 1 else self._rare

    def scores(self, weights: Array) -> Array:
        """The sum of each row's features times their weights, and the intercept."""
        dense = self._dense.shape[1]
        scores = self._dense @ weights[:dense] + weights[-1]
        if self._rare is not None:
            scores += self._rare_by_column @ weights[dense:-1]
        return np.asarray(scores)

    def back(self, by_row: Array) -> Array:
        """The sum over rows of each feature times the row's values."""
        parts = [self._dense.T @ by_row]
        if self._rare is not None:
            parts.append(self._rare.T @ by_row)
        return np.vstack([*parts, by_row.sum(axis=0)])

    def in_order(self, weights: Array) -> Array:
        """The weights in the order of the features as they were given."""
        ordered = np.empty_like(weights)
        ordered[self._order] = weights
        return ordered


def _probabilities(scores: Array) -> Array:
    """Of each class; of two classes that of the second, whose score is over the first's."""
    if scores.shape[1] == 1:
        return np.asarray((1 + np.tanh(scores / 2)) / 2)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _loss(
    scores: Array,
    change: Array,
    truth: Array,
    weights: Array,
    step: Array,
    penalty: Array,
    size: float,
) -> float:
    """The log losses and the penalty after a step of this size."""
    scores = scores + size * change
    if scores.shape[1] == 1:
        total = np.logaddexp(0, scores[:, 0])
    else:
        highest = scores.max(axis=1)
        total = np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest
    losses = float((total - (scores * truth).sum(axis=1)).sum(dtype=np.float64))
    return losses + float((penalty * (weights + size * step) ** 2).sum()) / 2


def _solved(
    matrix: _Matrix, likely: Array, penalty: Array, target: Array, enough: float
) -> tuple[Array, Array]:
    """Newton's step, by conjugate gradients, and what it changes in the scores.

    Ends where no more than `enough` is left of the squared error.
    """
    step, change, left = np.zeros_like(target), np.zeros_like(likely), target.copy()
    direction, scratch = target.copy(), np.empty_like(target)
    size = float(np.vdot(target, target))
    for _ in range(_INNER_STEPS):
        moved = matrix.scores(direction)
        curved = likely * (moved - (likely * moved).sum(axis=1, keepdims=True))
        image = matrix.back(curved)
        image += np.multiply(penalty, direction, out=scratch)
        length = size / float(np.vdot(direction, image))
        step += np.multiply(length, direction, out=scratch)
        change += length * moved
        left -= np.multiply(length, image, out=scratch)
        size, before = float(np.vdot(left, left)), size
        if size <= enough:
            break
        direction *= size / before
        direction += left
    return step, change


def _step_size(loss: Callable[[float], float], slope: float) -> float:
    """1, or as often halved as the loss needs to fall."""
    size, now = 1.0, loss(0.0)
    for _ in range(_HALVINGS):
        if loss(size) <= now + 1e-4 * size * slope:
            break
        size /= 2
    return size
