"""Random slopes against lme4, lmerTest and ordinal; tests/reference/slopes.R made the numbers."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.arrays import Array
from empathylab.stats.mixed import Clmm, Lmm, category_probabilities, clmm, lmm, variance_shares
from empathylab.stats.mixed.design import read_design
from empathylab.stats.mixed.linear.criterion import Columns
from empathylab.stats.mixed.linear.profile import Profile
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.ordinal.links import find_link
from empathylab.stats.mixed.search import Function
from empathylab.stats.mixed.spread import random_structure

FOLDER = Path(__file__).parents[2] / "reference"
FRAME = pl.read_csv(FOLDER / "slopes.csv")
REFERENCE: dict[str, Any] = json.loads((FOLDER / "slopes.json").read_text(encoding="utf-8"))

LINEAR = {
    "correlated": "score ~ arm + x + (1 + arm|rater) + (1|situation)",
    "correlated_ml": "score ~ arm + x + (1 + arm|rater) + (1|situation)",
    "uncorrelated": "score ~ arm + x + (arm||rater) + (1 + x|situation)",
    "number": "score ~ arm + x + (1|rater) + (1 + x|situation)",
    "number_apart": "score ~ arm + x + (1|rater) + (x||situation)",
    "means": "score ~ arm + x + (0 + arm|rater) + (1|situation)",
    "interaction": "score ~ arm + x + (1|rater) + (1|situation) + (1|arm:situation)",
}
CUMULATIVE = {
    "correlated": "rating ~ arm + x + (1 + arm|rater) + (1|situation)",
    "uncorrelated": "rating ~ arm + x + (arm||rater) + (1|situation)",
    "number": "rating ~ arm + x + (1|rater) + (1 + x|situation)",
    "probit": "rating ~ arm + x + (1 + arm|rater)",
}
SORTED = {"arm": "a"}


@cache
def linear(name: str) -> Lmm:
    return lmm(FRAME, LINEAR[name], reml=name != "correlated_ml", reference=SORTED)


@cache
def cumulative(name: str) -> Clmm:
    link = "probit" if name == "probit" else "logit"
    return clmm(FRAME, CUMULATIVE[name], reference=SORTED, link=link)


def effect_name(group: str, column: str) -> str:
    """R's names of group and column as one here."""
    column = {"b": "armb", "c": "armc"}.get(column, column)
    group = {"rater.1": "rater", "rater.2": "rater", "arm_situation": "arm:situation"}.get(
        group, group.removesuffix(".1")
    )
    return group if column == "(Intercept)" else f"{column}|{group}"


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_give_the_estimates_of_lme4(name: str) -> None:
    fit, expected = linear(name), REFERENCE["linear"][name]
    assert fit.converged
    assert fit.method == "exact"
    assert fit.criterion == pytest.approx(expected["criterion"], abs=1e-4)
    for term, value in expected["estimate"].items():
        assert fit.coefficients[term].estimate == pytest.approx(value, abs=1e-4)
        assert fit.coefficients[term].se == pytest.approx(expected["se"][term], abs=1e-4)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_give_the_spread_of_lme4(name: str) -> None:
    fit, expected = linear(name), REFERENCE["linear"][name]
    found = {
        frozenset([correlation.group, correlation.first, correlation.second]): correlation
        for correlation in fit.correlations
    }
    for row in expected["random"]:
        if row["grp"] == "Residual":
            assert fit.residual_sd == pytest.approx(row["sdcor"], abs=1e-3)
        elif "var2" in row:
            pair = frozenset([row["grp"], row["var1"], row["var2"]])
            assert found[pair].estimate == pytest.approx(row["sdcor"], abs=1e-3)
        else:
            name_here = effect_name(row["grp"], row["var1"])
            assert fit.random_effects[name_here].sd == pytest.approx(row["sdcor"], abs=1e-3)
    assert fit.singular == expected["singular"]


@pytest.mark.parametrize("name", ["correlated", "number", "number_apart", "means"])
def test_degrees_of_freedom_are_those_of_lmer_test(name: str) -> None:
    for term, value in REFERENCE["linear"][name]["df"].items():
        assert linear(name).coefficients[term].df == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize("name", CUMULATIVE)
def test_cumulative_models_give_the_estimates_of_ordinal(name: str) -> None:
    fit, expected = cumulative(name), REFERENCE["cumulative"][name]
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-3)
    tests = {**fit.coefficients, **fit.thresholds}
    for term, value in expected["estimate"].items():
        assert tests[term].estimate == pytest.approx(value, abs=1e-3)
        if not fit.singular:
            assert tests[term].se == pytest.approx(expected["se"][term], abs=1e-3)


@pytest.mark.parametrize("name", CUMULATIVE)
def test_cumulative_models_give_the_spread_of_ordinal(name: str) -> None:
    fit = cumulative(name)
    for group, expected in REFERENCE["cumulative"][name]["random"].items():
        for column, sd in expected["sd"].items():
            found = fit.random_effects[effect_name(group, column)]
            assert found.sd == pytest.approx(sd, abs=2e-3)


def test_a_timestamp_gives_what_a_small_number_gives() -> None:
    formula = "rating ~ arm + {0} + (1|rater) + (1 + {0}|situation)"
    small = clmm(FRAME, formula.format("x"))
    large = clmm(FRAME, formula.format("when"))
    assert large.log_likelihood == pytest.approx(small.log_likelihood, abs=1e-3)
    assert 1000 * large.coefficients["when"].estimate == pytest.approx(
        small.coefficients["x"].estimate, abs=1e-3
    )
    slope = large.random_effects["when|situation"].sd
    assert 1000 * slope == pytest.approx(small.random_effects["x|situation"].sd, abs=1e-3)


def test_a_timestamp_of_nanoseconds_is_no_constant() -> None:
    frame = FRAME.with_columns(ns=1.7e18 + 1e6 * pl.col("x"))
    fit = lmm(frame, "score ~ ns + (1|rater)")
    plain = lmm(FRAME, "score ~ x + (1|rater)")
    assert "ns" in fit.coefficients
    assert fit.coefficients["ns"].t == pytest.approx(plain.coefficients["x"].t, rel=1e-2)


def shifted(function: Function, at: Array, number: int) -> float:
    step = np.zeros(len(at))
    step[number] = 1e-5
    return (function(at + step)[0] - function(at - step)[0]) / 2e-5


def test_the_gradient_of_the_approximation_is_its_slope() -> None:
    design = read_design(FRAME, CUMULATIVE["correlated"], ordinal=True)
    y = np.asarray(design.y, dtype=np.int64)
    laplace = Laplace(y, 4, design.x, random_structure(design), find_link("logit"))
    theta = [0.9, -0.3, 0.2, 0.7, 0.3, 0.6, 0.5]
    at = np.array([-1.5, -0.2, 1.1, 0.4, 0.8, 0.3, *theta])
    _, gradient = laplace(at)
    slopes = [shifted(laplace, at, number) for number in range(len(at))]
    assert gradient == pytest.approx(np.array(slopes), abs=1e-4)


@pytest.mark.parametrize("reml", [True, False])
def test_the_gradient_of_the_criterion_is_its_slope(reml: bool) -> None:
    design = read_design(FRAME, LINEAR["uncorrelated"], ordinal=False)
    columns = Columns(np.asarray(design.y, dtype=np.float64), design.x)
    profile = Profile(columns, random_structure(design), reml=reml)
    theta = np.array([0.5, 0.4, 0.3, 0.6, -0.2, 0.3])
    _, gradient = profile(theta)
    slopes = [shifted(profile, theta, number) for number in range(len(theta))]
    assert gradient == pytest.approx(np.array(slopes), abs=1e-4)


def test_slopes_that_do_not_vary_are_a_singular_fit() -> None:
    generator = np.random.default_rng(3)
    n = 400
    frame = pl.DataFrame(
        {
            "rater": generator.integers(0, 20, n),
            "arm": np.where(np.arange(n) % 2 == 0, "a", "b"),
            "y": generator.normal(size=n),
        }
    ).with_columns(y=pl.col("y") - pl.col("y").mean().over("rater", "arm") * 0.999)
    fit = lmm(frame, "y ~ arm + (1 + arm|rater)")
    assert fit.singular
    assert all(math.isfinite(coefficient.se) for coefficient in fit.coefficients.values())


def test_variance_shares_average_over_the_rows() -> None:
    fit = linear("number")
    shares = {share.group: share for share in variance_shares(fit)}
    covariance = fit.random_covariances[1]
    rows = np.column_stack([np.ones(FRAME.height), FRAME["x"].to_numpy()])
    by_hand = float(np.mean([row @ covariance @ row for row in rows]))
    assert shares["situation"].variance == pytest.approx(by_hand)


def test_own_levels_are_predicted_with_their_slopes() -> None:
    found = category_probabilities(cumulative("correlated"), random="modes")
    assert found.to_numpy().sum(axis=1) == pytest.approx(1.0)
    with pytest.raises(InputError, match="slopes vary"):
        category_probabilities(cumulative("correlated"), random="averaged")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("score ~ x + (x|rater) + (x|rater)", None),
        ("score ~ x + (1|rater) + (x|rater)", "named twice"),
        ("score ~ x + (1 + one|rater)", "repeats"),
    ],
)
def test_random_terms_that_repeat_each_other_are_refused(formula: str, said: str | None) -> None:
    frame = FRAME.with_columns(one=pl.lit(2.0))
    if said is None:
        assert lmm(frame, formula).converged
        return
    with pytest.raises(InputError, match=said):
        lmm(frame, formula)


@pytest.mark.parametrize("size", [1e9, 1e-9])
def test_products_with_very_large_or_small_numbers_are_fitted(size: float) -> None:
    unit = size / 1e6 if size > 1 else size
    frame = FRAME.with_columns(big=(size if size > 1 else 0.0) + unit * pl.col("x"))
    formula = "{0} ~ arm * {1} + (1|rater) + (1|situation)"
    for fit, response in ((clmm, "rating"), (lmm, "score")):
        small = fit(frame, formula.format(response, "x"))
        large = fit(frame, formula.format(response, "big"))
        assert large.converged
        for name in ("x", "armc:x"):
            one, two = small.coefficients[name], large.coefficients[name.replace("x", "big")]
            assert unit * two.estimate == pytest.approx(one.estimate, rel=1e-2, abs=1e-4)
            assert unit * two.se == pytest.approx(one.se, rel=1e-2)


def test_slopes_that_the_design_does_not_determine_leave_the_coefficients_their_errors() -> None:
    generator = np.random.default_rng(0)
    n = 120
    frame = pl.DataFrame(
        {
            "rater": np.repeat(np.arange(12), 10),
            "situation": np.tile(np.arange(10), 12),
            "arm": np.where(np.arange(n) % 2 == 0, "a", "b"),
            "rating": generator.integers(1, 4, n),
        }
    )
    # Every situation has one arm only, so its slope and intercept cannot be told apart.
    fit = clmm(frame, "rating ~ arm + (arm||rater) + (arm|situation)")
    assert fit.converged
    assert fit.singular
    assert math.isfinite(fit.coefficients["armb"].se)


def test_numbers_that_overflow_are_refused() -> None:
    with pytest.raises(InputError, match="too large to compute"):
        lmm(FRAME.with_columns(x=1e300 * pl.col("x")), "score ~ x + (1|rater)")
