"""Intervals of changes from baseline, and percentiles of bootstrap estimates."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.stats.intervals import percentile_interval
from empathylab.stats.questionnaires.appraisal import (
    SCORES,
    ScaleChange,
    change_interval,
    scale_changes,
)

# Student's sleep data, as R ships it; R 4.3: t.test(extra ~ group, data = sleep) prints
# df = 17.776, 95 percent confidence interval -3.3654832 0.2054832.
GROUP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
GROUP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def overall(evoked: list[float], rest: list[float], situations: list[str]) -> ScaleChange:
    known = {"respondent": "r", "scale": "s", "subscale": "x", "emotion": "fear", "factor": "f"}
    rows = [known | {"phase": "default", "score": score} for score in rest]
    rows += [
        known | {"phase": "evoked", "situation": situation, "score": score}
        for score, situation in zip(evoked, situations, strict=True)
    ]
    frame = pl.DataFrame([{name: row.get(name) for name in SCORES} for row in rows], schema=SCORES)
    return next(change for change in scale_changes(frame) if change.level == "overall")


def each(values: list[float]) -> list[str]:
    return [f"situation {number}" for number in range(len(values))]


def test_with_one_administration_per_situation_it_is_welchs_as_r_prints_it() -> None:
    interval = change_interval(overall(GROUP_1, GROUP_2, each(GROUP_1)))
    assert interval is not None
    assert interval.low == pytest.approx(-3.3654832, abs=1e-6)
    assert interval.high == pytest.approx(0.2054832, abs=1e-6)


def test_repeats_of_a_situation_widen_it() -> None:
    rest = [1.0, 2.0, 3.0, 4.0]
    values = [1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 9.0, 9.0, 9.0]
    alone = change_interval(overall(values, rest, each(values)))
    clustered = change_interval(overall(values, rest, ["a"] * 3 + ["b"] * 3 + ["c"] * 3))
    assert alone is not None
    assert clustered is not None
    assert clustered.high - clustered.low > alone.high - alone.low


def test_without_variation_there_is_none() -> None:
    assert change_interval(overall([3.0, 3.0], [3.0, 3.0], ["a", "b"])) is None


def test_one_value_gives_none() -> None:
    assert change_interval(overall([3.0], [1.0, 2.0], ["a"])) is None


def test_the_percentiles_of_estimates_leave_the_same_proportion_out_on_both_sides() -> None:
    estimates = np.arange(101.0)
    assert percentile_interval(estimates, 0.9) == pytest.approx((5, 95))
    assert percentile_interval([*estimates, math.nan], 0.9) == pytest.approx((5, 95))


def test_without_any_estimate_there_are_no_percentiles() -> None:
    assert all(map(math.isnan, percentile_interval([math.nan], 0.95)))
