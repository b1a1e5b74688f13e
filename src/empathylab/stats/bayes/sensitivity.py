"""What the posterior would be with other priors, without sampling again.

Draws are reweighted by the ratio of the priors' densities (importance sampling). Where few draws
carry most of the weight, the data cannot say, and the effective number of draws shows it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from empathylab.stats.bayes.ordinal import Draws, Posterior, Priors


class Reweighted(NamedTuple):
    """Weights of a posterior's draws under other priors."""

    priors: Priors
    weights: Draws
    """They sum to 1."""
    effective_draws: float
    """Kish's: 1 over the sum of squared weights."""

    def quantile(self, values: Draws, probability: float) -> float:
        """The quantile of the values under the other priors."""
        order = np.argsort(values)
        reached = np.cumsum(self.weights[order])
        place = min(int(np.searchsorted(reached, probability)), len(values) - 1)
        return float(values[order[place]])


def reweighted(posterior: Posterior, priors: Priors) -> Reweighted:
    """The draws' weights under priors of other widths for effects and standard deviations."""
    logs = _log_ratio(
        list(posterior.effects.values()), priors.effect_sd, posterior.priors.effect_sd
    ) + _log_ratio(list(posterior.spread.values()), priors.spread_sd, posterior.priors.spread_sd)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return Reweighted(priors, weights, float(1 / np.sum(weights**2)))


def _log_ratio(values: list[Draws], other: float, own: float) -> Draws:
    """Of normal (or half-normal) densities around 0, summed over the parameters."""
    squares = np.sum(np.square(values), axis=0)
    return np.asarray(squares / 2 * (own**-2 - other**-2) + len(values) * np.log(own / other))
