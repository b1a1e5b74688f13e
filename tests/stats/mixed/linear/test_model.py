"""Linear mixed models: numbers by hand, lme4's and lmerTest's, and what cannot be fitted well."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from empathylab.stats.mixed.linear.model import Lmm, lmm
from empathylab.stats.notes import note
from tests.stats.mixed.lmm_reference import as_r_names, expected, fitted, study, tags

# Three raters, two ratings each: means 1, 4 and 10, squares within 3 × 2 = 6 on 3 degrees of
# freedom, between 2 × (16 + 1 + 25) = 84 on 2.
ONE_WAY = pl.DataFrame(
    {"rater": ["a", "a", "b", "b", "c", "c"], "rating": [0.0, 2.0, 3.0, 5.0, 9.0, 11.0]}
)


def paired(seed: int, raters: int) -> pl.DataFrame:
    """Every rater rates each of two sources once."""
    rng = np.random.default_rng(seed)
    mild = rng.normal(0, 2, raters)
    return pl.DataFrame(
        {
            "rater": [f"r{i}" for i in range(raters)] * 2,
            "source": ["human"] * raters + ["model"] * raters,
            "rating": np.concatenate([mild, mild + 0.5]) + rng.normal(size=2 * raters),
        }
    )


def test_variances_of_a_balanced_study_by_hand() -> None:
    # Mean squares: within 2, between 42; between raters (42 − 2) / 2 = 20.
    fit = lmm(ONE_WAY, "rating ~ 1 + (1|rater)")
    assert fit.residual_sd**2 == pytest.approx(2, rel=1e-7)
    assert fit.random_effects["rater"].variance == pytest.approx(20, rel=1e-7)
    assert fit.random_effects["rater"].levels == 3


def test_the_mean_of_a_balanced_study_by_hand() -> None:
    # Mean 5; its variance is the mean square between raters over all ratings, 42 / 6, on 2 df.
    mean = lmm(ONE_WAY, "rating ~ 1 + (1|rater)").coefficients["(Intercept)"]
    assert mean.estimate == pytest.approx(5)
    assert mean.se == pytest.approx(math.sqrt(7), rel=1e-7)
    assert mean.df == pytest.approx(2, rel=1e-5)
    # t on 2 df: the quantile of 0.975 is 0.95 · √(2 / (1 − 0.95²)) = 4.302653.
    assert mean.high - mean.estimate == pytest.approx(4.302653 * math.sqrt(7), rel=1e-5)


def test_maximum_likelihood_variances_by_hand() -> None:
    # Without REML the squares between raters count on 3: (84 / 3 − 2) / 2 = 13.
    fit = lmm(ONE_WAY, "rating ~ 1 + (1|rater)", reml=False)
    assert fit.random_effects["rater"].variance == pytest.approx(13, rel=1e-7)
    assert fit.residual_sd**2 == pytest.approx(2, rel=1e-7)


def test_modes_by_hand() -> None:
    # Shrunk towards the mean of 5 by 20 / (20 + 2/2) = 20/21: from −4, −1 and 5.
    modes = lmm(ONE_WAY, "rating ~ 1 + (1|rater)").modes["rater"]
    assert modes["level"].to_list() == ["a", "b", "c"]
    assert modes["mode"].to_list() == pytest.approx([-80 / 21, -20 / 21, 100 / 21], rel=1e-6)


def test_a_within_subjects_comparison_is_the_paired_t_test() -> None:
    frame = paired(seed=3, raters=12)
    pairs = frame["rating"].to_numpy().reshape(2, 12)
    difference = pairs[1] - pairs[0]
    effect = lmm(frame, "rating ~ source + (1|rater)").coefficients["sourcemodel"]
    assert effect.estimate == pytest.approx(difference.mean())
    assert effect.se == pytest.approx(difference.std(ddof=1) / math.sqrt(12), rel=1e-6)
    assert effect.df == pytest.approx(11, rel=1e-4)


@pytest.mark.parametrize("tag", tags())
def test_coefficients_are_those_of_lme4(tag: str) -> None:
    fit, r = fitted(tag), expected(tag)["coefficients"]
    assert list(fit.coefficients) == list(r)
    for name, one in r.items():
        found = fit.coefficients[name]
        assert (found.estimate, found.se) == pytest.approx((one["estimate"], one["se"]), abs=1e-6)


@pytest.mark.parametrize("tag", tags())
def test_degrees_of_freedom_and_p_are_those_of_lmertest(tag: str) -> None:
    fit, r = fitted(tag), expected(tag)["coefficients"]
    for name, one in r.items():
        found = fit.coefficients[name]
        assert found.df == pytest.approx(one["df"], abs=2e-4)
        assert (found.t, found.p) == pytest.approx((one["t"], one["p"]), abs=1e-5)


@pytest.mark.parametrize("tag", tags())
def test_standard_deviations_are_those_of_lme4(tag: str) -> None:
    fit, r = fitted(tag), expected(tag)["sd"]
    assert fit.residual_sd == pytest.approx(r["Residual"], abs=2e-6)
    for group, effect in fit.random_effects.items():
        assert effect.sd == pytest.approx(r[as_r_names(group)], abs=2e-6)


@pytest.mark.parametrize("tag", tags())
def test_criterion_and_information_criteria_are_those_of_lme4(tag: str) -> None:
    fit, r = fitted(tag), expected(tag)
    found = (fit.criterion, fit.log_likelihood, fit.aic, fit.bic, fit.n)
    named = (r["criterion"], r["log_likelihood"], r["aic"], r["bic"], r["n"])
    assert found == pytest.approx(named, abs=1e-6)


@pytest.mark.parametrize("tag", [tag for tag in tags() if tag != "nested"])
def test_modes_are_those_of_lme4(tag: str) -> None:
    fit, r = fitted(tag), expected(tag)["modes"]
    for group, modes in fit.modes.items():
        found = dict(modes.iter_rows())
        assert found == pytest.approx(r[group], abs=1e-5)


def test_modes_of_nested_groups_are_those_of_lme4() -> None:
    found = dict(fitted("nested").modes["team:rater"].iter_rows())
    r = expected("nested")["modes"]["rater:team"]
    assert {as_r_names(level): mode for level, mode in found.items()} == pytest.approx(r, abs=1e-5)


@pytest.mark.parametrize("tag", ["singular_reml", "singular_ml", "all_singular"])
def test_a_spread_of_zero_is_said(tag: str) -> None:
    fit = fitted(tag)
    assert fit.boundary == ("situation",)
    assert fit.random_effects["situation"].sd == 0
    assert fit.converged
    assert note("lmm_sd_at_boundary", group="situation") in fit.problems


def test_the_unit_of_the_rating_changes_nothing_else() -> None:
    plain = fitted("crossed_reml")
    scaled = study("crossed").with_columns(pl.col("rating") * 1e7 + 1e9)
    fit = lmm(scaled, expected("crossed_reml")["formula"])
    for name, one in fit.coefficients.items():
        assert one.df == pytest.approx(plain.coefficients[name].df, rel=1e-5)
    effect = fit.coefficients["length"]
    assert effect.t == pytest.approx(plain.coefficients["length"].t, rel=1e-6)


def test_a_small_spread_on_a_large_number_is_not_lost() -> None:
    raised = study("crossed").with_columns(pl.col("rating") * 1e-3 + 1e6)
    fit = lmm(raised, expected("crossed_reml")["formula"])
    effect, plain = fit.coefficients["length"], fitted("crossed_reml").coefficients["length"]
    assert (effect.estimate, effect.se) == pytest.approx(
        (plain.estimate * 1e-3, plain.se * 1e-3), rel=1e-5
    )


def test_the_order_of_rows_changes_nothing() -> None:
    one = expected("lee")
    shuffled = study("lee").sample(fraction=1, shuffle=True, seed=4)
    fit = lmm(shuffled, one["formula"], reference={"source": "gpt", "domain": "parenting"})
    assert fit.criterion == pytest.approx(one["criterion"], abs=1e-7)
    effect = fit.coefficients["sourcellama"]
    assert effect.df == pytest.approx(one["coefficients"]["sourcellama"]["df"], abs=2e-4)


def test_the_reference_can_be_named() -> None:
    fit = lmm(study("crossed"), "rating ~ source + (1|rater)", reference={"source": "human"})
    assert list(fit.coefficients) == ["(Intercept)", "sourcelarge", "sourcesmall"]
    r = expected("one_group")["coefficients"]["sourcehuman"]
    assert fit.coefficients["sourcelarge"].estimate == pytest.approx(-r["estimate"], abs=1e-6)


def test_covariance_holds_the_squared_errors() -> None:
    fit = fitted("crossed_reml")
    errors = [coefficient.se for coefficient in fit.coefficients.values()]
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(errors)


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    def width(fit: Lmm) -> float:
        return fit.coefficients["length"].high - fit.coefficients["length"].low

    formula = expected("crossed_reml")["formula"]
    fits = [lmm(study("crossed"), formula, confidence=level) for level in (0.5, 0.9, 0.99)]
    assert all(width(a) < width(b) for a, b in pairwise(fits))


def test_groups_that_differ_slightly_are_not_taken_for_the_boundary() -> None:
    rng = np.random.default_rng(8)
    rater = np.repeat(np.arange(300), 40)
    rating = rng.normal(0, 0.05, 300)[rater] + rng.normal(size=12_000)
    frame = pl.DataFrame({"rater": rater.astype(str), "rating": rating})
    fit = lmm(frame, "rating ~ 1 + (1|rater)")
    # The moments of a balanced study: (mean square between − within) / 40.
    cells = rating.reshape(300, 40)
    between = 40 * cells.mean(axis=1).var(ddof=1)
    within = cells.var(axis=1, ddof=1).mean()
    assert fit.random_effects["rater"].variance == pytest.approx((between - within) / 40, rel=1e-5)
