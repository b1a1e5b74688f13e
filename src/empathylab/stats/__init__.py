"""The statistics, on plain frames and arrays; they know no lab, no model and no web."""

from empathylab.stats.alignment import (
    AlignmentSummary,
    Distance,
    RankAgreement,
    alignment_summaries,
    distances,
    rank_agreements,
)
from empathylab.stats.appraisal import ScaleChange, scale_changes
from empathylab.stats.coherence import FactorCoherence, factor_coherence
from empathylab.stats.intervals import Interval, change_interval
from empathylab.stats.reliability import (
    Correlation,
    Reliability,
    cronbach_alpha,
    mcdonald_omega,
    retest_correlation,
)
from empathylab.stats.validity import Validity, self_report_validity

__all__ = [
    "AlignmentSummary",
    "Correlation",
    "Distance",
    "FactorCoherence",
    "Interval",
    "RankAgreement",
    "Reliability",
    "ScaleChange",
    "Validity",
    "alignment_summaries",
    "change_interval",
    "cronbach_alpha",
    "distances",
    "factor_coherence",
    "mcdonald_omega",
    "rank_agreements",
    "retest_correlation",
    "scale_changes",
    "self_report_validity",
]
