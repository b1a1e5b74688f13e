"""Prints the frozen numbers of tests/stats/agreement that come from other Python packages.

Made with irrCAC 0.4.4, krippendorff 0.9.0 and statsmodels 0.15.0, in an environment of its own:
    pip install irrCAC krippendorff statsmodels && python tests/reference/agreement_packages.py
"""

import sys

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from statsmodels.stats.inter_rater import cohens_kappa

GAP = np.nan
# Krippendorff (2011), the example with four observers, twelve units and gaps.
RATINGS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, GAP, GAP, GAP],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, GAP, 3],
        [GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, GAP],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, GAP],
    ]
)
FIRST = [1, 2, 3, 4, 5, 3, 2, 4, 4, 5, 1, 2, 3, 3, 4, 5, 5, 2, 1, 3]
SECOND = [1, 3, 3, 4, 4, 2, 2, 5, 4, 5, 2, 2, 4, 3, 3, 5, 4, 1, 1, 3]


def _say(*parts: object) -> None:
    sys.stdout.write(" ".join(str(part) for part in parts) + "\n")


def main() -> None:
    for level in ("nominal", "ordinal", "interval"):
        _say("alpha", level, krippendorff.alpha(RATINGS, level_of_measurement=level))
    frame = pd.DataFrame(RATINGS.T)
    for weights in ("identity", "linear", "quadratic"):
        found = CAC(frame, weights=weights, digits=8)
        _say("gwet", weights, found.gwet()["est"]["coefficient_value"])
        _say("fleiss", weights, found.fleiss()["est"]["coefficient_value"])
    table = np.zeros((5, 5))
    np.add.at(table, (np.array(FIRST) - 1, np.array(SECOND) - 1), 1)
    for weights in (None, "linear", "quadratic"):
        kappa = cohens_kappa(table, wt=weights)
        _say("kappa", weights, kappa.kappa, kappa.std_kappa)


main()
