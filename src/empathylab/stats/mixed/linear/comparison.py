"""Comparing two linear mixed models, one of which is a special case of the other."""

from __future__ import annotations

import numpy as np

from empathylab.errors import InputError
from empathylab.stats.mixed.coding import Array
from empathylab.stats.mixed.comparisons import LikelihoodRatio
from empathylab.stats.mixed.linear.model import Lmm, fit_design


def compare_lmm(smaller: Lmm, larger: Lmm) -> LikelihoodRatio:
    """The likelihood-ratio test of two models of the same ratings, by maximum likelihood.

    Models fitted by REML are fitted again, since restricted likelihoods of different fixed
    effects are not comparable. The chi-square approximation is good with many levels per group
    and liberal with few; `term_tests` is then better for fixed effects. Where a random term is
    tested, zero lies at the end of its range and p is too large.

    Wilks, S. S. (1938). Annals of Mathematical Statistics 9, 60–62.
    Self, S. G., & Liang, K.-Y. (1987). Journal of the American Statistical Association 82, 605–610.
    """
    from scipy.special import chdtrc

    _check_same_rows(smaller, larger)
    df = larger.parameters - smaller.parameters
    if df <= 0 or not _contains(larger, smaller):
        raise InputError(
            "the first model must be a special case of the second",
            got=f"{smaller.formula} and {larger.formula}",
            remedy="Name the model with fewer terms first; compare others by AIC.",
        )
    gain = _by_likelihood(smaller).criterion - _by_likelihood(larger).criterion
    statistic = max(gain, 0.0)
    more_groups = len(larger.random_effects) > len(smaller.random_effects)
    note = "Random effects are tested at the boundary, so p is too large." if more_groups else ""
    return LikelihoodRatio(statistic, df, float(chdtrc(df, statistic)), larger.n, note)


def _check_same_rows(smaller: Lmm, larger: Lmm) -> None:
    if smaller.n != larger.n or not np.array_equal(smaller.design.y, larger.design.y):
        raise InputError(
            "the two models were not fitted to the same ratings",
            got=f"{smaller.n} and {larger.n} rows",
            remedy="Leave out the rows that miss a value for either model, then fit both.",
        )


def _contains(larger: Lmm, smaller: Lmm) -> bool:
    """Whether every fixed column and every group of one model lies within the other's."""
    if not set(smaller.random_effects) <= set(larger.random_effects):
        return False
    wide, narrow = larger.design.x, smaller.design.x
    return _rank(np.column_stack([wide, narrow])) == _rank(wide)


def _rank(columns: Array) -> int:
    if not columns.shape[1]:
        return 0
    lengths = np.linalg.norm(columns, axis=0)
    scaled = np.linalg.qr(columns / np.where(lengths > 0, lengths, 1.0), mode="r")
    return int(np.linalg.matrix_rank(scaled, tol=1e-7))


def _by_likelihood(fit: Lmm) -> Lmm:
    return fit_design(fit.design, reml=False, confidence=fit.confidence) if fit.reml else fit
