"""Mixed models of ratings: cumulative link and linear ones, with crossed or nested groups."""

from empathylab.stats.mixed.bootstrap import (
    Bootstrap,
    BootstrapTest,
    bootstrap_likelihood_ratio,
    parametric_bootstrap,
)
from empathylab.stats.mixed.comparisons import LikelihoodRatio, likelihood_ratio_test
from empathylab.stats.mixed.design import Grouping, MixedDesign, read_design
from empathylab.stats.mixed.linear.means import LmmContrast, LmmMean, lmm_contrasts, lmm_means
from empathylab.stats.mixed.linear.model import Lmm, lmm
from empathylab.stats.mixed.linear.terms import TermTest, term_tests
from empathylab.stats.mixed.linear.variance_shares import VarianceShare, variance_shares
from empathylab.stats.mixed.ordinal.clmm import Clmm, Coefficient, clmm
from empathylab.stats.mixed.ordinal.margins import (
    Contrast,
    Margin,
    Margins,
    contrasts,
    marginal_means,
)
from empathylab.stats.mixed.ordinal.predictions import category_probabilities
from empathylab.stats.mixed.ordinal.proportional_odds import (
    ProportionalOdds,
    ThresholdEffect,
    proportional_odds_test,
)
from empathylab.stats.mixed.profile_intervals import SdInterval, sd_intervals
from empathylab.stats.mixed.spread import Correlation, RandomEffect

__all__ = [
    "Bootstrap",
    "BootstrapTest",
    "Clmm",
    "Coefficient",
    "Contrast",
    "Correlation",
    "Grouping",
    "LikelihoodRatio",
    "Lmm",
    "LmmContrast",
    "LmmMean",
    "Margin",
    "Margins",
    "MixedDesign",
    "ProportionalOdds",
    "RandomEffect",
    "SdInterval",
    "TermTest",
    "ThresholdEffect",
    "VarianceShare",
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
    "read_design",
    "sd_intervals",
    "term_tests",
    "variance_shares",
]
