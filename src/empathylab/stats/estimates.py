"""An estimate with its interval."""

from __future__ import annotations

import math
from typing import NamedTuple


class Estimate(NamedTuple):
    """An estimate and its interval; NaN where undefined."""

    estimate: float
    low: float = math.nan
    high: float = math.nan


NO_ESTIMATE = Estimate(math.nan)
