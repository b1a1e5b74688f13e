"""Variance of ratings by raters, situations and residual, with the resulting design effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.design import Grouping
from empathylab.stats.mixed.linear.model import Lmm


@dataclass(frozen=True, slots=True)
class VarianceShare:
    """A group's part in the variance that the fixed effects leave."""

    group: str
    variance: float
    share: float
    """Of all such variance: the correlation of two ratings that have this level only in common."""
    levels: int
    cluster_size: float
    """Ratings per level, each rating counting once (Σ n² / Σ n)."""
    design_effect: float
    """By how much correlation within levels increases the variance of a mean over all ratings."""
    effective_n: float
    """Independent ratings that would fix such a mean as well."""


def variance_shares(fit: Lmm) -> tuple[VarianceShare, ...]:
    """Each group's proportion of the variance, and Kish's design effect 1 + (m − 1) ρ.

    The design effect is that of a mean, or of a difference between arms that lie in different
    levels (between subjects), from this group alone; differences within a level (within
    subjects) are not widened but narrowed. The residual's share is what remains. With random
    slopes the variance is the mean over the rows (Johnson 2014).

    Johnson, P. C. D. (2014). Methods in Ecology and Evolution 5, 944–946.
    Kish, L. (1965). Survey sampling, section 5.4. Wiley.
    """
    variances = {
        group.name: _mean_variance(group, covariance)
        for group, covariance in zip(fit.design.groups, fit.random_covariances, strict=True)
    }
    total = fit.residual_variance + sum(variances.values())
    shares = []
    for group in fit.design.groups:
        variance = variances[group.name]
        counts = np.bincount(group.codes).astype(np.float64)
        size = float((counts**2).sum() / counts.sum())
        share = variance / total
        inflation = 1 + (size - 1) * share
        shares.append(
            VarianceShare(
                group=group.name,
                variance=variance,
                share=share,
                levels=len(group.levels),
                cluster_size=size,
                design_effect=inflation,
                effective_n=fit.n / inflation,
            )
        )
    return tuple(shares)


def _mean_variance(group: Grouping, covariance: Array) -> float:
    given = group.columns.given
    if given is None:
        return float(covariance[0, 0])
    return float(np.einsum("ni,ij,nj->n", given, covariance, given).mean())
