"""t tests of the ordinal model with few levels."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtr

from empathylab.errors import InputError
from empathylab.stats.mixed import clmm, lmm
from empathylab.stats.mixed.ordinal.small_samples import _correction, small_sample_tests

FORMULA = "rating ~ arm + (1|rater)"


def ratings(raters: int, seed: int = 3) -> pl.DataFrame:
    """Raters of one arm each, with 10 ratings and a standard deviation of 0.8 logits."""
    draw = np.random.default_rng(seed)
    rater = np.repeat(np.arange(2 * raters), 10)
    latent = draw.normal(0, 0.8, 2 * raters)[rater] + draw.logistic(size=len(rater))
    arm = np.where(rater < raters, "a", "b")
    rating = np.searchsorted([-1, 0.5], latent).astype(float)
    return pl.DataFrame({"rater": rater.astype(str), "arm": arm, "rating": rating})


def test_the_correction_is_that_of_the_linear_model() -> None:
    frame = ratings(6)
    fit = clmm(frame, FORMULA)
    found = small_sample_tests(fit, frame)["armb"]
    reml, ml = (lmm(frame, FORMULA, reml=reml).coefficients["armb"] for reml in (True, False))
    assert found.inflation == pytest.approx(reml.se / ml.se)
    # Raters alone are the units: 12 raters in two arms, REML divides by 10 where ML has 12.
    assert found.df == pytest.approx(10, abs=0.2)
    assert found.inflation == pytest.approx(math.sqrt(12 / 10), abs=0.02)
    t = fit.coefficients["armb"].estimate / (fit.coefficients["armb"].se * found.inflation)
    assert found.p == pytest.approx(2 * stdtr(found.df, -abs(t)))
    assert found.low < found.estimate < found.high


def test_with_many_raters_the_test_is_walds() -> None:
    frame = ratings(150)
    fit = clmm(frame, FORMULA)
    found, wald = small_sample_tests(fit, frame)["armb"], fit.coefficients["armb"]
    assert found.p == pytest.approx(wald.p, rel=0.05)
    assert found.inflation == pytest.approx(1, abs=0.01)


def test_a_linear_model_without_residuals_gives_no_correction() -> None:
    # With as many random effects as ratings the search can end at a standard error of 0.
    exact, biased = (lmm(ratings(6), FORMULA, reml=reml) for reml in (True, False))
    perfect = {name: replace(item, se=0.0) for name, item in biased.coefficients.items()}
    with pytest.raises(InputError, match="no residuals"):
        _correction(exact, replace(biased, coefficients=perfect), "armb")
