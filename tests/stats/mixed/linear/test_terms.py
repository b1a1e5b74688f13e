"""Tests of whole terms, comparisons of models and shares of variance."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.stats.mixed.linear.model import lmm
from empathylab.stats.mixed.linear.satterthwaite import pooled_degrees
from empathylab.stats.mixed.linear.terms import term_tests
from empathylab.stats.mixed.linear.variance_shares import variance_shares
from empathylab.stats.notes import note
from tests.stats.mixed.lmm_reference import expected, fitted, reference, study, tags


@pytest.mark.parametrize("tag", tags())
def test_type_three_tests_are_those_of_lmertest(tag: str) -> None:
    found, r = term_tests(fitted(tag)), expected(tag)["terms"]
    assert [test.term for test in found] == list(r)
    for test in found:
        one = r[test.term]
        assert (test.df, test.df_residual) == pytest.approx(
            (one["df"], one["df_residual"]), abs=2e-4
        )
        assert (test.f, test.p) == pytest.approx((one["f"], one["p"]), abs=1e-5)


def test_the_f_of_two_levels_is_their_t_squared() -> None:
    fit = fitted("three_reml")
    (test,) = term_tests(fit)
    effect = fit.coefficients["valencepositive"]
    assert (test.f, test.p) == pytest.approx((effect.t**2, effect.p))
    assert test.df_residual == pytest.approx(effect.df)


def test_type_three_tests_do_not_depend_on_the_reference() -> None:
    formula = expected("lee")["formula"]
    turned = lmm(study("lee"), formula, reference={"source": "llama", "domain": "anxiety"})
    for test, other in zip(term_tests(fitted("lee")), term_tests(turned), strict=True):
        assert test.f == pytest.approx(other.f, rel=1e-6)


def test_a_model_with_an_intercept_only_has_no_terms_to_test() -> None:
    assert term_tests(lmm(study("crossed"), "rating ~ 1 + (1|rater)")) == ()


def test_terms_with_empty_combinations_are_tested_as_coded_and_say_so() -> None:
    frame = study("lee").filter((pl.col("source") != "gpt") | (pl.col("domain") != "anxiety"))
    fit = lmm(frame, "rating ~ source * domain + (1|rater)")
    assert all(test.note == note("tested_as_coded") for test in term_tests(fit))


def test_pooled_degrees_of_freedom_by_hand() -> None:
    # 4 and 6: E = 4/2 + 6/4 = 3.5; 2 · 3.5 / (3.5 − 2) = 14/3.
    assert pooled_degrees([4.0, 6.0]) == pytest.approx(14 / 3)
    assert pooled_degrees([5.0, 5.0]) == 5
    assert pooled_degrees([1.5, 9.0]) == 2
    assert pooled_degrees([math.inf, math.inf]) == math.inf


def test_degrees_of_freedom_of_a_contrast_are_those_of_its_coefficient() -> None:
    fit = fitted("crossed_reml")
    only_length = np.array([0.0, 0.0, 0.0, 2.0])
    assert fit.uncertainty.degrees(only_length) == pytest.approx(fit.coefficients["length"].df)
    doubled = fit.tested(only_length)
    assert doubled.t == pytest.approx(fit.coefficients["length"].t)


def test_a_combination_that_is_always_zero_cannot_be_tested() -> None:
    fit = fitted("crossed_reml")
    test = fit.uncertainty.f_test(np.zeros((2, 4)), fit.beta)
    assert (test.df, math.isnan(test.f), math.isnan(test.p)) == (0, True, True)


@pytest.mark.parametrize("one", reference()["comparisons"], ids=lambda item: item["tag"])
def test_likelihood_ratios_are_those_of_lme4(one: dict[str, object]) -> None:
    frame = study(str(one["set"]))
    smaller, larger = (lmm(frame, str(one[name]), reml=False) for name in ("smaller", "larger"))
    assert smaller.criterion - larger.criterion == pytest.approx(one["chi_square"], abs=1e-6)
    assert larger.parameters - smaller.parameters == one["df"]


def test_shares_of_variance_by_hand() -> None:
    # Variances 20 and 2 (see test_lmm); two ratings each: 1 + (2 − 1) · 20/22 = 21/11.
    frame = pl.DataFrame(
        {"rater": ["a", "a", "b", "b", "c", "c"], "rating": [0.0, 2.0, 3.0, 5.0, 9.0, 11.0]}
    )
    (share,) = variance_shares(lmm(frame, "rating ~ 1 + (1|rater)"))
    assert share.share == pytest.approx(20 / 22)
    assert (share.cluster_size, share.levels) == (2, 3)
    assert share.design_effect == pytest.approx(21 / 11)
    assert share.effective_n == pytest.approx(6 * 11 / 21)


def test_large_clusters_weigh_more_in_the_design_effect() -> None:
    # One rater with 3 ratings, one with 1: (9 + 1) / 4.
    frame = pl.DataFrame({"rater": ["a", "a", "a", "b"], "rating": [1.0, 2.0, 4.0, 9.0]})
    (share,) = variance_shares(lmm(frame, "rating ~ 0 + (1|rater)"))
    assert share.cluster_size == pytest.approx(2.5)


def test_a_group_at_the_boundary_costs_nothing() -> None:
    shares = {share.group: share for share in variance_shares(fitted("singular_reml"))}
    assert (shares["situation"].share, shares["situation"].design_effect) == (0, 1)
    assert shares["rater"].design_effect > 1
    assert np.isfinite(shares["rater"].effective_n)
