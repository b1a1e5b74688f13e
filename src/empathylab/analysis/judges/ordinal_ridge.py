"""An ordinal regression that takes thousands of sparse predictors, with a penalty on their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empathylab.compute import one_thread
from empathylab.errors import InputError
from empathylab.stats.arrays import Array

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OrdinalRidge:
    """A fitted cumulative logit model: P(rating ≤ k) = logistic(threshold k − score)."""

    categories: tuple[float, ...]
    thresholds: tuple[float, ...]
    weights: Array = field(repr=False, compare=False)
    n: int

    def scores(self, matrix: Any) -> Array:
        """Where each row lies on the scale that one does not see."""
        return np.asarray(matrix @ self.weights, dtype=np.float64).reshape(-1)

    def shares(self, matrix: Any) -> Array:
        """How likely each category is, for each row."""
        from scipy.special import expit

        below = expit(np.asarray(self.thresholds) - self.scores(matrix)[:, None])
        ends = np.zeros((len(below), 1)), np.ones((len(below), 1))
        return np.diff(np.hstack([ends[0], below, ends[1]]), axis=1)

    def expected(self, matrix: Any) -> Array:
        """The predicted mean rating of each row."""
        return np.asarray(self.shares(matrix) @ np.asarray(self.categories))


def fit_ordinal_ridge(
    matrix: Any,
    ratings: Sequence[float] | Array,
    *,
    penalty: float,
    start: OrdinalRidge | None = None,
    tolerance: float = 1e-9,
) -> OrdinalRidge:
    """The proportional odds model that fits best, its weights' squares costing `penalty` / 2 each.

    `matrix` has a row per rating and is dense or sparse; its columns should be of similar size, as
    all have the same penalty. The categories are the values that occur. `start` is an earlier fit
    of the same predictors, from which the search begins: the answer is the same, and comes sooner.
    The search ends where a step gains less than `tolerance` of the loss. Raises InputError where
    all ratings are the same.

    McCullagh, P. (1980). Journal of the Royal Statistical Society B 42, 109–142.
    """
    from scipy.optimize import minimize

    values = np.asarray(ratings, dtype=np.float64)
    categories, codes = np.unique(values, return_inverse=True)
    if len(categories) < 2:
        raise InputError(
            "a judge cannot be trained on ratings that are all the same",
            got=f"{len(values)} ratings",
            remedy="Give ratings that differ.",
        )
    problem = _Problem(matrix, codes, len(categories), penalty)
    options = {"maxiter": 500, "ftol": tolerance}
    with one_thread():
        optimum = minimize(
            problem.loss, problem.begin(start), jac=True, method="L-BFGS-B", options=options
        )
    thresholds, weights = problem.split(optimum.x)
    return OrdinalRidge(
        tuple(categories.tolist()), tuple(thresholds.tolist()), weights, len(values)
    )


class _Problem:
    """The penalised likelihood. Thresholds are the first and the logarithms of the steps between
    them, so that they stay in order."""

    def __init__(self, matrix: Any, codes: Codes, categories: int, penalty: float) -> None:
        self.matrix, self.codes, self.penalty = matrix, codes, penalty
        self.cuts = categories - 1
        self.turned = matrix.T.tocsr() if hasattr(matrix, "tocsr") else matrix.T

    def begin(self, start: OrdinalRidge | None) -> Array:
        size = self.matrix.shape[1]
        if start is not None and len(start.thresholds) == self.cuts and len(start.weights) == size:
            thresholds, weights = np.asarray(start.thresholds), start.weights
        else:
            counts = np.bincount(self.codes, minlength=self.cuts + 1)
            below = np.cumsum(counts)[:-1] / counts.sum()
            thresholds, weights = np.log(below / (1 - below)), np.zeros(size)
        return np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), weights])

    def split(self, x: Array) -> tuple[Array, Array]:
        steps = np.exp(x[1 : self.cuts])
        return np.cumsum(np.concatenate([x[:1], steps])), x[self.cuts :]

    def loss(self, x: Array) -> tuple[float, Array]:
        """The penalised negative log-likelihood and its slope."""
        from scipy.special import expit, log_expit

        thresholds, weights = self.split(x)
        score = np.asarray(self.matrix @ weights, dtype=np.float64).reshape(-1)
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        upper, lower = ends[self.codes + 1] - score, ends[self.codes] - score
        # The chance of the category as a product, which does not lose digits in the tails.
        gap = -np.expm1(ends[self.codes] - ends[self.codes + 1])
        chance = log_expit(upper) + log_expit(-lower) + np.log(gap)
        by_score = 1 - expit(upper) - expit(lower)
        by_upper = expit(-upper) / (expit(-lower) * gap)
        by_lower = expit(lower) / (expit(upper) * gap)
        size = self.cuts + 2
        by_end = np.bincount(self.codes, by_lower, size) - np.bincount(
            self.codes + 1, by_upper, size
        )
        by_cut = by_end[1:-1]
        # A step moves its threshold and all above.
        onward = np.cumsum(by_cut[::-1])[::-1]
        steps = onward.copy()
        steps[1:] *= np.exp(x[1 : self.cuts])
        slope = np.asarray(self.turned @ by_score).reshape(-1) + self.penalty * weights
        loss = -float(chance.sum()) + self.penalty / 2 * float(weights @ weights)
        return loss, np.concatenate([steps, slope])
