"""Probabilities of the categories over all raters and situations, draw by draw."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from empathylab.stats.bayes.ordinal import Draws, Posterior
from empathylab.stats.mixed.design import MixedDesign

_NODES = 31


def marginal_probabilities(posterior: Posterior, design: MixedDesign, factor: str) -> Draws:
    """Draws × levels of the factor × categories: averaged over the random effects.

    The factor must be the model's only fixed effect. The sum of the normal random effects is
    integrated out by Gauss-Hermite quadrature.
    """
    levels = design.factors[factor]
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    probabilities = np.empty((posterior.draws, len(levels), len(design.levels)))
    for place, level in enumerate(levels):
        row = _row_of(design, factor, level)
        shift = sum(
            (design.x[row, column] * posterior.effects[name])
            for column, name in enumerate(design.names)
        )
        variance = np.zeros(posterior.draws)
        for group, covariance in zip(design.groups, posterior.covariances, strict=True):
            given = group.columns.given
            values = np.ones(1) if given is None else given[row]
            variance += np.einsum("i,dij,j->d", values, covariance, values)
        latent = posterior.cuts - np.reshape(shift, (-1, 1))
        spread = np.sqrt(variance)[:, None, None] * nodes
        below = expit(latent[:, :, None] - spread) @ weights
        ends = [np.zeros((posterior.draws, 1)), below, np.ones((posterior.draws, 1))]
        probabilities[:, place] = np.diff(np.concatenate(ends, axis=1), axis=1)
    return probabilities


def _row_of(design: MixedDesign, factor: str, level: str) -> int:
    """A row of the design at that level; the reference has zeros."""
    levels = design.factors[factor]
    columns = design.terms[factor]
    wanted = [float(level == name) for name in levels[1:]]
    same = np.all(design.x[:, list(columns)] == wanted, axis=1)
    return int(np.flatnonzero(same)[0])
