"""Mixed models of ratings: cumulative link and linear ones, with crossed or nested groups."""

from empathylab.stats.mixed.bootstrap import bootstrap_likelihood_ratio, parametric_bootstrap
from empathylab.stats.mixed.comparisons import likelihood_ratio_test
from empathylab.stats.mixed.linear.means import lmm_contrasts, lmm_means
from empathylab.stats.mixed.linear.model import Lmm, lmm
from empathylab.stats.mixed.linear.terms import term_tests
from empathylab.stats.mixed.linear.variance_shares import variance_shares
from empathylab.stats.mixed.ordinal.clmm import Clmm, clmm
from empathylab.stats.mixed.ordinal.margins import contrasts, marginal_means
from empathylab.stats.mixed.ordinal.predictions import category_probabilities
from empathylab.stats.mixed.ordinal.proportional_odds import proportional_odds_test
from empathylab.stats.mixed.profile_intervals import sd_intervals

__all__ = [
    "Clmm",
    "Lmm",
    "bootstrap_likelihood_ratio",
    "category_probabilities",
    "clmm",
    "contrasts",
    "likelihood_ratio_test",
    "lmm",
    "lmm_contrasts",
    "lmm_means",
    "marginal_means",
    "parametric_bootstrap",
    "proportional_odds_test",
    "sd_intervals",
    "term_tests",
    "variance_shares",
]
