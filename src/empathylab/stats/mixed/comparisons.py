"""Likelihood-ratio tests of nested models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empathylab.errors import InputError
from empathylab.stats.mixed.ordinal.clmm import Clmm
from empathylab.stats.notes import Note, note

_ROUNDING = 1e-3
"""Log-likelihood by which a larger model may seem worse because searches end early."""


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """The test of a model against one that holds it."""

    statistic: float
    df: int
    p: float
    n: int
    """Ratings used by both."""
    note: Note | None = None
    """What makes p inexact."""


def likelihood_ratio_test(smaller: Clmm, larger: Clmm) -> LikelihoodRatio:
    """The likelihood-ratio test of two nested ordinal models.

    Tests all terms that only the larger model has, at once. Both must be fitted to the same
    ratings. Where they differ in random effects, zero lies on the boundary and p is too large
    (for a single one, about twice what it should be).

    Wilks, S. S. (1938). Annals of Mathematical Statistics 9, 60–62.
    Self, S. G., & Liang, K.-Y. (1987). Journal of the American Statistical Association 82, 605–610.
    """
    from scipy.special import chdtrc

    _check_nested(smaller, larger)
    df = larger.parameters - smaller.parameters
    statistic = 2 * (larger.log_likelihood - smaller.log_likelihood)
    if statistic < -2 * _ROUNDING * max(1.0, abs(smaller.log_likelihood) / 1000):
        raise InputError(
            "the larger model fits worse, so one of the two fits failed",
            got=statistic,
            remedy="Look at the `problems` of both fits.",
        )
    statistic = max(statistic, 0.0)
    fewer = len(larger.design.groups) - len(smaller.design.groups)
    inexact = note("tested_at_boundary") if fewer else None
    return LikelihoodRatio(statistic, df, float(chdtrc(df, statistic)), larger.n, inexact)


def _check_nested(smaller: Clmm, larger: Clmm) -> None:
    same = (
        smaller.n == larger.n
        and smaller.link == larger.link
        and smaller.design.response == larger.design.response
        and np.array_equal(smaller.design.y, larger.design.y)
    )
    if not same:
        raise InputError(
            "the models were not fitted to the same ratings with the same link",
            got=f"{smaller.n} and {larger.n} ratings, {smaller.link} and {larger.link}",
            remedy="Leave out rows with missing values first, and fit both to what is left.",
        )
    groups = {group.name for group in smaller.design.groups}
    same_groups = groups <= {group.name for group in larger.design.groups}
    if larger.parameters <= smaller.parameters or not same_groups or not _spanned(smaller, larger):
        raise InputError(
            "the first model is not nested in the second",
            got=f"{smaller.formula} and {larger.formula}",
            remedy="Give the smaller model first; compare others by AIC.",
        )


def _spanned(smaller: Clmm, larger: Clmm) -> bool:
    """Whether the smaller model's columns are combinations of the larger one's."""
    base = np.column_stack([np.ones(larger.n), larger.design.x])
    weights = np.linalg.lstsq(base, smaller.design.x)[0]
    return bool(np.allclose(base @ weights, smaller.design.x, atol=1e-6))
