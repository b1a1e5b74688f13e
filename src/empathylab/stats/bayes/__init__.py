"""Bayesian ordinal mixed models, sampled by NumPyro (the extra `bayes`)."""

from empathylab.stats.bayes.margins import marginal_probabilities
from empathylab.stats.bayes.ordinal import Posterior, Priors, sample_posterior
from empathylab.stats.bayes.sensitivity import reweighted

__all__ = [
    "Posterior",
    "Priors",
    "marginal_probabilities",
    "reweighted",
    "sample_posterior",
]
