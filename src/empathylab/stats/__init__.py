"""Statistics on frames and arrays, without a lab or a model."""

from types import FunctionType

from empathylab.frames import accepting_pandas
from empathylab.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    intraclass_correlations,
    krippendorff_alpha,
)
from empathylab.stats.anova import Anova, anova
from empathylab.stats.arms import (
    ArmComparison,
    Estimate,
    PairedComparison,
    RatingScale,
    compare_arms,
    compare_paired_arms,
    independence_test,
)
from empathylab.stats.clusters import (
    ClusteredRegression,
    PairedDifference,
    clustered_mean_difference,
    clustered_regression,
    paired_difference,
)
from empathylab.stats.corrections import benjamini_hochberg, benjamini_yekutieli, bonferroni, holm
from empathylab.stats.equivalence import Equivalence, equivalence_test
from empathylab.stats.intervals import Interval
from empathylab.stats.judges.annotators import AlternativeAnnotatorTest, alternative_annotator_test
from empathylab.stats.judges.bias import position_bias, self_preference
from empathylab.stats.judges.calibration import calibration_curve, calibration_scores, ordinal_map
from empathylab.stats.judges.prediction_powered import (
    PredictionPowered,
    prediction_powered_difference,
    prediction_powered_mean,
)
from empathylab.stats.lengths import (
    LengthDistribution,
    LengthMatched,
    length_distributions,
    length_matched,
    length_matched_situations,
)
from empathylab.stats.mixed import (
    Clmm,
    Lmm,
    bootstrap_likelihood_ratio,
    category_probabilities,
    clmm,
    contrasts,
    likelihood_ratio_test,
    lmm,
    lmm_contrasts,
    lmm_means,
    marginal_means,
    parametric_bootstrap,
    proportional_odds_test,
    sd_intervals,
)
from empathylab.stats.power.analytic import (
    chi_square_power,
    chi_square_sample_size,
    raters_for_power,
    raters_for_precision,
    two_shares_power,
    two_shares_sample_size,
)
from empathylab.stats.power.simulation import (
    PlannedStudy,
    SimulatedPower,
    simulate_ratings,
    simulated_power,
)
from empathylab.stats.preferences.bradley_terry import BradleyTerry, bradley_terry
from empathylab.stats.questionnaires.alignment import (
    AlignmentSummary,
    Distance,
    RankAgreement,
    alignment_summaries,
    distances,
    rank_agreements,
)
from empathylab.stats.questionnaires.appraisal import ScaleChange, change_interval, scale_changes
from empathylab.stats.questionnaires.coherence import FactorCoherence, factor_coherence
from empathylab.stats.questionnaires.inconsistency import Inconsistencies, inconsistencies
from empathylab.stats.questionnaires.reliability import (
    Correlation,
    Reliability,
    cronbach_alpha,
    mcdonald_omega,
    retest_correlation,
)
from empathylab.stats.questionnaires.validity import Validity, self_report_validity
from empathylab.stats.raters.comparability import RaterComparison, compare_raters
from empathylab.stats.raters.exclusions import (
    FailedAttention,
    Inconsistent,
    StraightLining,
    TooFast,
    apply_exclusions,
    with_and_without,
)
from empathylab.stats.t_tests import TTest
from empathylab.words import count_words

__all__ = [
    "AlignmentSummary",
    "AlternativeAnnotatorTest",
    "Anova",
    "ArmComparison",
    "BradleyTerry",
    "Clmm",
    "ClusteredRegression",
    "Correlation",
    "Distance",
    "Equivalence",
    "Estimate",
    "FactorCoherence",
    "FailedAttention",
    "Inconsistencies",
    "Inconsistent",
    "Interval",
    "LengthDistribution",
    "LengthMatched",
    "Lmm",
    "PairedComparison",
    "PairedDifference",
    "PlannedStudy",
    "PredictionPowered",
    "RankAgreement",
    "RaterComparison",
    "RatingScale",
    "Reliability",
    "ScaleChange",
    "SimulatedPower",
    "StraightLining",
    "TTest",
    "TooFast",
    "Validity",
    "alignment_summaries",
    "alternative_annotator_test",
    "anova",
    "apply_exclusions",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "bonferroni",
    "bootstrap_likelihood_ratio",
    "bradley_terry",
    "calibration_curve",
    "calibration_scores",
    "category_probabilities",
    "change_interval",
    "chi_square_power",
    "chi_square_sample_size",
    "clmm",
    "clustered_mean_difference",
    "clustered_regression",
    "cohen_kappa",
    "compare_arms",
    "compare_paired_arms",
    "compare_raters",
    "contrasts",
    "count_words",
    "cronbach_alpha",
    "distances",
    "equivalence_test",
    "factor_coherence",
    "fleiss_kappa",
    "gwet_ac",
    "holm",
    "inconsistencies",
    "independence_test",
    "intraclass_correlations",
    "krippendorff_alpha",
    "length_distributions",
    "length_matched",
    "length_matched_situations",
    "likelihood_ratio_test",
    "lmm",
    "lmm_contrasts",
    "lmm_means",
    "marginal_means",
    "mcdonald_omega",
    "ordinal_map",
    "paired_difference",
    "parametric_bootstrap",
    "position_bias",
    "prediction_powered_difference",
    "prediction_powered_mean",
    "proportional_odds_test",
    "rank_agreements",
    "raters_for_power",
    "raters_for_precision",
    "retest_correlation",
    "scale_changes",
    "sd_intervals",
    "self_preference",
    "self_report_validity",
    "simulate_ratings",
    "simulated_power",
    "two_shares_power",
    "two_shares_sample_size",
    "with_and_without",
]

# Users may give pandas frames; inside the package all frames are Polars'.
for _name in __all__:
    if isinstance(globals()[_name], FunctionType):
        globals()[_name] = accepting_pandas(globals()[_name])
