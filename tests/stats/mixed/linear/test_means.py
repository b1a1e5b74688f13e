"""Marginal means and contrasts: by hand, emmeans's, and where there is none."""

from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.linear.means import lmm_contrasts, lmm_means
from empathylab.stats.mixed.linear.model import lmm
from tests.stats.mixed.lmm_reference import expected, fitted, study

WITH_MEANS = [
    ("crossed_reml", ""),
    ("crossed_slopes", ""),
    ("lee", ""),
    ("lee_by_domain", "domain"),
]


@pytest.mark.parametrize(("tag", "by"), WITH_MEANS)
def test_means_are_those_of_emmeans(tag: str, by: str) -> None:
    found, r = lmm_means(fitted(tag), "source", by=by), expected(tag)["means"]
    assert len(found) == len(r)
    for mean, one in zip(found, r, strict=True):
        assert (mean.level, mean.by) == (one["source"], one.get(by, ""))
        assert (mean.estimate, mean.se) == pytest.approx((one["emmean"], one["SE"]), abs=1e-6)
        assert mean.df == pytest.approx(one["df"], abs=2e-4)
        assert (mean.low, mean.high) == pytest.approx((one["lower.CL"], one["upper.CL"]), abs=1e-5)


@pytest.mark.parametrize(("tag", "by"), WITH_MEANS)
def test_contrasts_are_those_of_emmeans(tag: str, by: str) -> None:
    found, r = lmm_contrasts(fitted(tag), "source", by=by), expected(tag)["contrasts"]
    assert len(found) == len(r)
    for contrast, one in zip(found, r, strict=True):
        assert f"{contrast.level} - {contrast.other}" == one["contrast"]
        assert contrast.by == one.get(by, "")
        assert (contrast.estimate, contrast.se) == pytest.approx(
            (one["estimate"], one["SE"]), abs=1e-6
        )
        assert contrast.df == pytest.approx(one["df"], abs=2e-4)
        assert (contrast.t, contrast.p_corrected) == pytest.approx(
            (one["t.ratio"], one["p.value"]), abs=1e-5
        )


@pytest.mark.parametrize(("tag", "by"), WITH_MEANS)
def test_intervals_of_contrasts_are_those_of_emmeans(tag: str, by: str) -> None:
    found, r = lmm_contrasts(fitted(tag), "source", by=by), expected(tag)["contrast_limits"]
    for contrast, one in zip(found, r, strict=True):
        assert (contrast.low, contrast.high) == pytest.approx(
            (one["lower.CL"], one["upper.CL"]), abs=1e-5
        )


def test_means_weigh_the_other_factor_alike_by_hand() -> None:
    # Cell means 1, 3 (a) and 2, 8 (b), the first cell with twice the ratings: 2 and 5, not the
    # plain means.
    frame = pl.DataFrame(
        {
            "source": ["a"] * 6 + ["b"] * 4,
            "valence": ["good"] * 4 + ["bad"] * 2 + ["good"] * 2 + ["bad"] * 2,
            "rating": [0.0, 2.0, 0.0, 2.0, 2.0, 4.0, 1.0, 3.0, 7.0, 9.0],
        }
    )
    means = lmm_means(lmm(frame, "rating ~ source * valence"), "source")
    assert [mean.estimate for mean in means] == pytest.approx([2, 5])


def test_contrasts_against_one_level_are_its_coefficients() -> None:
    fit = fitted("one_group")
    found = {contrast.level: contrast for contrast in lmm_contrasts(fit, "source", against="large")}
    assert set(found) == {"human", "small"}
    for level, contrast in found.items():
        effect = fit.coefficients[f"source{level}"]
        assert (contrast.estimate, contrast.se, contrast.p) == pytest.approx(
            (effect.estimate, effect.se, effect.p)
        )


def test_corrections_are_chosen_by_name() -> None:
    fit = fitted("one_group")
    plain = lmm_contrasts(fit, "source", correction="none")
    strict = lmm_contrasts(fit, "source", correction="bonferroni")
    for one, other in zip(plain, strict, strict=True):
        assert one.p_corrected == one.p
        assert other.p_corrected == pytest.approx(min(1, 3 * one.p))


def test_a_mean_that_needs_an_empty_combination_is_nan() -> None:
    frame = study("lee").filter((pl.col("source") != "gpt") | (pl.col("domain") != "anxiety"))
    fit = lmm(frame, "rating ~ source * domain + (1|rater)", reference={"source": "human"})
    means = {mean.level: mean for mean in lmm_means(fit, "source")}
    assert math.isnan(means["gpt"].estimate)
    assert not math.isnan(means["llama"].estimate)
    contrasts = lmm_contrasts(fit, "source", against="human")
    known = [contrast.p_corrected for contrast in contrasts if not math.isnan(contrast.p)]
    assert len(known) == 2


def test_unknown_names_are_guessed() -> None:
    fit = fitted("one_group")
    with pytest.raises(UnknownName, match="Did you mean 'source'"):
        lmm_means(fit, "sources")
    with pytest.raises(UnknownName, match="Did you mean 'holm'"):
        lmm_contrasts(fit, "source", correction="holms")
    with pytest.raises(UnknownName, match="Did you mean 'human'"):
        lmm_contrasts(fit, "source", against="humans")


def test_a_number_has_no_levels_to_compare() -> None:
    with pytest.raises(UnknownName, match="no factor among the fixed effects 'length'"):
        lmm_means(fitted("crossed_reml"), "length")


def test_the_second_factor_must_be_another() -> None:
    with pytest.raises(InputError, match="must be another"):
        lmm_means(fitted("lee"), "source", by="source")
