"""Profile intervals of standard deviations; tests/reference/sd_profiles.R printed R's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.mixed import clmm, lmm
from empathylab.stats.mixed.profile_intervals import sd_intervals

FRAME = pl.read_csv(Path(__file__).parents[2] / "reference" / "slopes.csv")


def test_linear_intervals_are_those_of_lme4() -> None:
    found = sd_intervals(lmm(FRAME, "score ~ arm + x + (1|rater) + (1|situation)"))
    expected = {
        "rater": (0.68775639, 1.29509632),
        "situation": (0.34606387, 0.82765471),
        "residual": (1.10893734, 1.28757506),
    }
    for name, ends in expected.items():
        assert found[name][1:] == pytest.approx(ends, abs=1e-4)


def test_ordinal_intervals_are_those_of_clmm2() -> None:
    found = sd_intervals(clmm(FRAME, "rating ~ arm + x + (1|rater)"))["rater"]
    assert found == pytest.approx((0.66790609, 0.41107745, 1.0253774), abs=2e-4)


def test_a_spread_of_nothing_has_an_interval_from_zero() -> None:
    generator = np.random.default_rng(1)
    frame = pl.DataFrame({"g": np.repeat(np.arange(12), 5), "y": generator.normal(size=60)})
    found = sd_intervals(lmm(frame, "y ~ 1 + (1|g)"))["g"]
    assert found.low == 0
    assert 0 < found.high < 1


def test_random_slopes_are_refused() -> None:
    with pytest.raises(InputError, match="random intercepts only"):
        sd_intervals(lmm(FRAME, "score ~ x + (x|situation)"))
