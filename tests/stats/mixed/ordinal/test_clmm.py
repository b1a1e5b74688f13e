"""Cumulative link mixed models: by hand, and against R's ordinal (tests/reference/clmm.R)."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.stats.mixed.ordinal import fit as clmm_fit
from empathylab.stats.mixed.ordinal.clmm import Clmm, clmm
from empathylab.stats.notes import note
from tests.stats.mixed.rated_frames import between, crossed, reference, reference_frame

FITS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "crossed_logit": (
        "crossed",
        "rating ~ arm + length + (1|rater) + (1|item)",
        {"reference": {"arm": "human"}},
    ),
    "crossed_probit": (
        "crossed",
        "rating ~ arm + length + (1|rater) + (1|item)",
        {"reference": {"arm": "human"}, "link": "probit"},
    ),
    "three": (
        "three",
        "rating ~ arm + (1|rater) + (1|item) + (1|site)",
        {"reference": {"arm": "a"}},
    ),
    "nested": (
        "nested",
        "rating ~ arm * valence + (1|school/class)",
        {"reference": {"arm": "a", "valence": "negative"}},
    ),
    "plain": (
        "nested",
        "rating ~ arm * valence",
        {"reference": {"arm": "a", "valence": "negative"}},
    ),
}
# R calls the pair of school and class by a column made for it.
RENAMED = {"inner": "school:class"}


@functools.cache
def fitted(name: str) -> Clmm:
    frame, formula, options = FITS[name]
    return clmm(reference_frame(frame), formula, **options)


def test_without_predictors_thresholds_are_the_logits_of_cumulative_shares() -> None:
    frame = pl.DataFrame({"rating": [1] * 20 + [2] * 30 + [3] * 50})
    found = clmm(frame, "rating ~ 1")
    assert found.thresholds["1|2"].estimate == pytest.approx(math.log(20 / 80))
    assert found.thresholds["2|3"].estimate == pytest.approx(0, abs=1e-12)
    expected = 20 * math.log(0.2) + 30 * math.log(0.3) + 50 * math.log(0.5)
    assert found.log_likelihood == pytest.approx(expected)
    assert found.aic == pytest.approx(4 - 2 * expected)
    assert found.bic == pytest.approx(2 * math.log(100) - 2 * expected)


def test_two_categories_and_two_arms_give_the_log_odds_ratio() -> None:
    # 30 of 40 against 10 of 40: log 9, with s.e. √(1/30 + 1/10 + 1/10 + 1/30).
    frame = pl.DataFrame(
        {
            "rating": [0] * 30 + [1] * 10 + [0] * 10 + [1] * 30,
            "arm": ["a"] * 40 + ["b"] * 40,
        }
    )
    found = clmm(frame, "rating ~ arm").coefficients["armb"]
    se = math.sqrt(2 / 30 + 2 / 10)
    assert found.estimate == pytest.approx(math.log(9))
    assert found.se == pytest.approx(se)
    assert found.z == pytest.approx(math.log(9) / se)
    assert found.p == pytest.approx(math.erfc(found.z / math.sqrt(2)))
    assert found.low == pytest.approx(math.log(9) - 1.959964 * se, abs=1e-6)
    assert found.high == pytest.approx(math.log(9) + 1.959964 * se, abs=1e-6)


@pytest.mark.parametrize("name", FITS)
def test_coefficients_and_thresholds_are_those_of_r(name: str) -> None:
    found, expected = fitted(name), reference()["fits"][name]
    both = {**found.thresholds, **found.coefficients}
    assert set(both) == set(expected["coef"])
    for one, value in expected["coef"].items():
        assert both[one].estimate == pytest.approx(value, abs=1e-4)
        assert both[one].se == pytest.approx(expected["se"][one], abs=1e-4)


@pytest.mark.parametrize("name", FITS)
def test_likelihood_and_aic_are_those_of_r(name: str) -> None:
    found, expected = fitted(name), reference()["fits"][name]
    assert found.log_likelihood == pytest.approx(expected["logLik"], abs=1e-5)
    assert found.aic == pytest.approx(expected["aic"], abs=1e-4)


@pytest.mark.parametrize("name", [name for name in FITS if name != "plain"])
def test_standard_deviations_are_those_of_r(name: str) -> None:
    found, expected = fitted(name), reference()["fits"][name]["sd"]
    for group, value in expected.items():
        effect = found.random_effects[RENAMED.get(group, group)]
        assert effect.sd == pytest.approx(value, abs=1e-4)
        assert effect.variance == pytest.approx(value**2, abs=1e-3)


@pytest.mark.parametrize(("name", "group"), [("crossed_probit", "rater"), ("three", "site")])
def test_conditional_modes_are_those_of_r(name: str, group: str) -> None:
    modes = dict(fitted(name).modes[group].iter_rows())
    for level, value in reference()["fits"][name]["modes"][group].items():
        assert modes[level] == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("name", FITS)
def test_the_search_ends_where_nothing_rises(name: str) -> None:
    found = fitted(name)
    assert found.converged
    assert found.gradient_norm < 1e-4
    assert found.problems == ()


def test_the_covariance_holds_the_standard_errors() -> None:
    found = fitted("crossed_logit")
    assert found.covariance_names[-2:] == ("sd(rater)", "sd(item)")
    place = found.covariance_names.index("length")
    assert found.coefficients["length"].se == pytest.approx(
        math.sqrt(found.covariance[place, place])
    )


def test_a_wider_confidence_widens_the_interval_only() -> None:
    frame, formula, options = FITS["three"]
    wide = clmm(reference_frame(frame), formula, confidence=0.99, **options).coefficients["armb"]
    usual = fitted("three").coefficients["armb"]
    assert wide.estimate == pytest.approx(usual.estimate)
    assert wide.high - wide.low == pytest.approx(2 * 2.575829 * usual.se, abs=1e-5)


def test_another_reference_turns_the_coefficient_around() -> None:
    found = clmm(reference_frame("three"), FITS["three"][1], reference={"arm": "b"})
    usual = fitted("three")
    assert found.coefficients["arma"].estimate == pytest.approx(
        -usual.coefficients["armb"].estimate, abs=1e-5
    )
    assert found.log_likelihood == pytest.approx(usual.log_likelihood, abs=1e-7)


def test_turning_the_scale_around_turns_every_sign() -> None:
    frame = reference_frame("three").with_columns(rating=4 - pl.col("rating"))
    found, usual = clmm(frame, FITS["three"][1], reference={"arm": "a"}), fitted("three")
    assert found.coefficients["armb"].estimate == pytest.approx(
        -usual.coefficients["armb"].estimate, abs=1e-5
    )
    assert found.thresholds["1|2"].estimate == pytest.approx(
        -usual.thresholds["2|3"].estimate, abs=1e-5
    )


def test_the_order_of_groupings_does_not_matter() -> None:
    found = clmm(
        reference_frame("three"),
        "rating ~ arm + (1|site) + (1|item) + (1|rater)",
        reference={"arm": "a"},
    )
    for name, effect in fitted("three").random_effects.items():
        assert found.random_effects[name].sd == pytest.approx(effect.sd, abs=1e-5)


def test_the_side_of_zero_on_which_a_search_ends_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame, formula = crossed(30, 30, seed=1), "rating ~ arm + (1|rater) + (1|situation)"
    usual = clmm(frame, formula)
    monkeypatch.setattr(clmm_fit, "_START", -0.28)
    mirrored = clmm(frame, formula)
    assert mirrored.covariance == pytest.approx(usual.covariance, abs=1e-8)
    assert mirrored.random_effects["rater"].sd == pytest.approx(usual.random_effects["rater"].sd)
    assert mirrored.modes["rater"]["mode"].to_numpy() == pytest.approx(
        usual.modes["rater"]["mode"].to_numpy()
    )


def test_a_variance_of_zero_is_said_and_leaves_the_rest_as_without_it() -> None:
    frame = between(40, seed=5, effect=0.6, sd=(0.7, 0.0))
    found = clmm(frame, "rating ~ arm + (1|rater) + (1|situation)")
    without = clmm(frame, "rating ~ arm + (1|rater)")
    assert found.boundary == ("situation",)
    assert found.random_effects["situation"].sd == 0
    assert note("sd_at_boundary", group="situation") in found.problems
    assert found.converged
    assert found.coefficients["armb"].se == pytest.approx(without.coefficients["armb"].se, rel=1e-4)
    assert found.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-5)


def test_a_hundred_categories_can_be_fitted() -> None:
    generator = np.random.default_rng(1)
    rater = np.arange(600) % 30
    latent = generator.normal(size=30)[rater] + generator.logistic(size=600)
    rating = np.digitize(latent, np.quantile(latent, np.linspace(0.01, 0.99, 99)))
    found = clmm(pl.DataFrame({"rating": rating, "rater": rater}), "rating ~ 1 + (1|rater)")
    assert found.converged
    assert len(found.thresholds) == 99
    assert found.random_effects["rater"].sd == pytest.approx(1, abs=0.4)


def test_every_pair_rated_recovers_what_was_simulated() -> None:
    found = clmm(crossed(60, 80, seed=2), "rating ~ arm + (1|rater) + (1|situation)")
    effect = found.coefficients["armb"]
    assert abs(effect.estimate - 0.5) < 3 * effect.se
    assert found.random_effects["rater"].sd == pytest.approx(0.8, abs=0.25)
    assert found.random_effects["situation"].sd == pytest.approx(0.6, abs=0.2)
