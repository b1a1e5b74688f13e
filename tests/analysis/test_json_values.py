from __future__ import annotations

import math

from empathylab.analysis.json_values import json_value
from empathylab.stats.arms import Estimate


def test_what_json_cannot_hold_becomes_null() -> None:
    assert json_value({"a": math.nan, "b": [math.inf, 1], "c": Estimate(0.5)}) == {
        "a": None,
        "b": [None, 1],
        "c": {"estimate": 0.5, "low": None, "high": None},
    }
