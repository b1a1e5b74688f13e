"""Prints the z scores in tests/style/test_distinctive.py, from scattertext 0.2.2.

Run in an environment of its own: pip install scattertext==0.2.2, then this script.
"""

import numpy as np
from scattertext import LogOddsRatioInformativeDirichletPrior

y_i = np.array([30, 5, 0, 12, 100])
y_j = np.array([10, 9, 4, 12, 80])
for prior in (y_i + y_j, np.array([1, 2, 3, 4, 5])):
    scores = LogOddsRatioInformativeDirichletPrior(prior).get_zeta_i_j_given_separate_counts
    print([round(float(z), 10) for z in scores(y_i, y_j)])  # noqa: T201
