"""Agreement of raters: kappas, Krippendorff's alpha, intraclass correlations, Gwet's AC."""

from empathylab.stats.agreement.coefficient import Coefficient
from empathylab.stats.agreement.cohen import cohen_kappa, spearman
from empathylab.stats.agreement.components import variance_components
from empathylab.stats.agreement.icc import intraclass_correlations
from empathylab.stats.agreement.pairs import pair_agreements
from empathylab.stats.agreement.summary import (
    Agreement,
    DimensionAgreement,
    agreement,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from empathylab.stats.agreement.table import rating_table

__all__ = [
    "Agreement",
    "Coefficient",
    "DimensionAgreement",
    "agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac",
    "intraclass_correlations",
    "krippendorff_alpha",
    "pair_agreements",
    "rating_table",
    "spearman",
    "variance_components",
]
