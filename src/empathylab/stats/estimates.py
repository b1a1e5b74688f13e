"""An estimate with its interval."""

from __future__ import annotations

import math
from typing import NamedTuple


class Estimate(NamedTuple):
    """A number and where the true one lies; NaN where there is none."""

    estimate: float
    low: float = math.nan
    high: float = math.nan


NO_ESTIMATE = Estimate(math.nan)
