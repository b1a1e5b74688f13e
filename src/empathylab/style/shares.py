"""Intervals of shares that come in clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def effective_size(hits: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """How many independent cases clustered ones are worth, for the share of hits among them.

    `hits` and `sizes` hold one number per cluster. The share's variance is that of a ratio of
    cluster totals; the effective size is p(1−p) over it, and never above the number of cases
    (Kish, L. (1965). Survey Sampling, chapter 8; Korn, E. L., & Graubard, B. I. (1998). Survey
    Methodology 24, 193–201). Where all cases agree, the correlation within clusters is unknown, so
    each cluster counts as one case.
    """
    n, clusters = float(sizes.sum()), len(sizes)
    if n == 0 or clusters < 2:
        return float(min(n, clusters))
    share = float(hits.sum()) / n
    variance = clusters / (clusters - 1) * float(((hits - share * sizes) ** 2).sum()) / n**2
    if share in (0.0, 1.0) or variance == 0:
        return float(clusters)
    return min(n, share * (1 - share) / variance)
