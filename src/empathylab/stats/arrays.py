"""The types of arrays that the statistics work on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Labels as numbers from 0: which rater, situation or category each row has."""
