"""How a rating's variance divides among raters, situations and chance, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    """By how much the levels' being alike widens the variance of a mean over all ratings."""
    effective_n: float
    """Independent ratings that would fix such a mean as well."""


def variance_shares(fit: Lmm) -> tuple[VarianceShare, ...]:
    """Each group's share of the variance, and Kish's design effect 1 + (m − 1) ρ.

    The design effect is that of a mean, or of a difference between arms that lie in different
    levels (between subjects), from this group alone; differences within a level (within
    subjects) are not widened but narrowed. The residual's share is what remains.

    Kish, L. (1965). Survey sampling, section 5.4. Wiley.
    """
    total = fit.residual_variance + sum(one.variance for one in fit.random_effects.values())
    found = []
    for group in fit.design.groups:
        effect = fit.random_effects[group.name]
        counts = np.bincount(group.codes).astype(np.float64)
        size = float((counts**2).sum() / counts.sum())
        share = effect.variance / total
        inflation = 1 + (size - 1) * share
        found.append(
            VarianceShare(
                group=group.name,
                variance=effect.variance,
                share=share,
                levels=effect.levels,
                cluster_size=size,
                design_effect=inflation,
                effective_n=fit.n / inflation,
            )
        )
    return tuple(found)
