"""Bayesian ordinal mixed models, sampled by NumPyro (the extra `bayes`)."""

from empathylab.stats.bayes.margins import marginal_probabilities
from empathylab.stats.bayes.ordinal import Posterior, Priors, sample_posterior
from empathylab.stats.bayes.sensitivity import Reweighted, reweighted

__all__ = [
    "Posterior",
    "Priors",
    "Reweighted",
    "marginal_probabilities",
    "reweighted",
    "sample_posterior",
]
