"""Marginal means and contrasts, against R's emmeans (tests/reference/clmm.R)."""

from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.analysis.text.notes import note_text
from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.ordinal.clmm import Clmm, clmm
from empathylab.stats.mixed.ordinal.margins import Scale, contrasts, marginal_means
from empathylab.stats.mixed.ordinal.predictions import category_probabilities
from tests.stats.mixed.rated_frames import reference, reference_frame

SCALES: dict[str, Scale] = {"latent": "latent", "prob": "probability", "mean_class": "expected"}


@pytest.fixture(scope="module")
def crossed_fit() -> Clmm:
    return clmm(
        reference_frame("crossed"),
        "rating ~ arm + length + (1|rater) + (1|item)",
        reference={"arm": "human"},
    )


@pytest.fixture(scope="module")
def plain_fit() -> Clmm:
    return clmm(
        reference_frame("nested"),
        "rating ~ arm * valence",
        reference={"arm": "a", "valence": "negative"},
    )


@pytest.mark.parametrize("model", ["plain", "crossed"])
@pytest.mark.parametrize("scale", SCALES)
def test_marginal_means_are_those_of_r(
    model: str, scale: str, plain_fit: Clmm, crossed_fit: Clmm
) -> None:
    fit = {"plain": plain_fit, "crossed": crossed_fit}[model]
    found = {
        (margin.levels["arm"], margin.category): margin
        for margin in marginal_means(fit, "arm", scale=SCALES[scale]).margins
    }
    expected = reference()["margins"][f"{model}_{scale}"]
    assert len(found) == len(expected)
    for row in expected:
        one = found[row["arm"], row["category"]]
        assert one.estimate == pytest.approx(row["estimate"], abs=1e-4)
        assert one.se == pytest.approx(row["se"], abs=1e-4)
        assert one.low == pytest.approx(row["low"], abs=2e-4)
        assert one.high == pytest.approx(row["high"], abs=2e-4)


@pytest.mark.parametrize(
    ("scale", "correction", "key"),
    [("latent", "holm", "crossed_latent_holm"), ("expected", "none", "crossed_mean_class")],
)
def test_contrasts_are_those_of_r(
    scale: Scale, correction: str, key: str, crossed_fit: Clmm
) -> None:
    found = {
        frozenset((contrast.first["arm"], contrast.second["arm"])): contrast
        for contrast in contrasts(
            marginal_means(crossed_fit, "arm", scale=scale), correction=correction
        )
    }
    for row in reference()["contrasts"][key]:
        one = found[frozenset(row["contrast"].split(" - "))]
        sign = 1 if row["contrast"].startswith(one.first["arm"]) else -1
        assert sign * one.estimate == pytest.approx(row["estimate"], abs=1e-4)
        assert one.se == pytest.approx(row["SE"], abs=1e-4)
        assert one.p_corrected == pytest.approx(row["p.value"], abs=1e-4)


def test_a_latent_contrast_with_the_reference_is_the_coefficient(crossed_fit: Clmm) -> None:
    found = contrasts(marginal_means(crossed_fit, "arm"), reference="human")
    assert {item.first["arm"] for item in found} == {"small", "large"}
    for item in found:
        coefficient = crossed_fit.coefficients[f"arm{item.first['arm']}"]
        assert item.estimate == pytest.approx(coefficient.estimate)
        assert item.se == pytest.approx(coefficient.se)
        assert item.p == pytest.approx(coefficient.p)
        assert (item.low, item.high) == pytest.approx((coefficient.low, coefficient.high))


def test_intervals_are_of_each_contrast_alone(crossed_fit: Clmm) -> None:
    for contrast in contrasts(marginal_means(crossed_fit, "arm")):
        assert contrast.high - contrast.estimate == pytest.approx(1.959964 * contrast.se, abs=1e-5)


def test_probabilities_of_a_level_sum_to_one(plain_fit: Clmm) -> None:
    for averaged in (False, True):
        found = marginal_means(plain_fit, "arm", scale="probability", averaged=averaged)
        for level in ("a", "b"):
            total = sum(
                margin.estimate for margin in found.margins if margin.levels["arm"] == level
            )
            assert total == pytest.approx(1)


def test_averaging_over_raters_draws_means_together(crossed_fit: Clmm) -> None:
    typical = contrasts(marginal_means(crossed_fit, "arm", scale="expected"), reference="human")
    averaged = contrasts(
        marginal_means(crossed_fit, "arm", scale="expected", averaged=True), reference="human"
    )
    for one, other in zip(averaged, typical, strict=True):
        assert abs(one.estimate) < abs(other.estimate)


def test_what_is_averaged_over_and_held_is_said(plain_fit: Clmm, crossed_fit: Clmm) -> None:
    found = marginal_means(plain_fit, "arm")
    assert found.averaged_over == ("valence",)
    assert "arm interacts with valence" in note_text(found.notes[0])
    held = marginal_means(crossed_fit, "arm").held_at
    assert held == pytest.approx({"length": reference_frame("crossed")["length"].mean()})


def test_combinations_of_two_factors_are_the_plain_predictions(plain_fit: Clmm) -> None:
    found = marginal_means(plain_fit, "arm", "valence")
    assert len(found.margins) == 4
    middle = sum(threshold.estimate for threshold in plain_fit.thresholds.values()) / 3
    total = sum(coefficient.estimate for coefficient in plain_fit.coefficients.values())
    both = next(
        margin for margin in found.margins if set(margin.levels.values()) == {"b", "positive"}
    )
    assert both.estimate == pytest.approx(total - middle)


def test_a_combination_without_ratings_is_not_determined() -> None:
    frame = reference_frame("nested").filter(
        ~((pl.col("arm") == "b") & (pl.col("valence") == "positive"))
    )
    fit = clmm(frame, "rating ~ arm * valence", reference={"arm": "a", "valence": "negative"})
    found = marginal_means(fit, "arm")
    known, unknown = found.margins
    assert not math.isnan(known.estimate)
    assert math.isnan(unknown.estimate)
    assert found.notes[-1].code == "means_over_empty_cells"
    (contrast,) = contrasts(found)
    assert math.isnan(contrast.p_corrected)


def test_names_that_are_not_there_bring_the_known_ones(plain_fit: Clmm) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'arm'"):
        marginal_means(plain_fit, "arms")
    with pytest.raises(UnknownName, match="scale"):
        marginal_means(plain_fit, "arm", scale="odds")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="level of 'arm'"):
        contrasts(marginal_means(plain_fit, "arm"), reference="c")
    with pytest.raises(UnknownName, match="Did you mean 'bonferroni'"):
        contrasts(marginal_means(plain_fit, "arm"), correction="bonferoni")


def test_a_reference_among_combinations_is_refused(plain_fit: Clmm) -> None:
    with pytest.raises(InputError, match="means of one factor"):
        contrasts(marginal_means(plain_fit, "arm", "valence"), reference="a")


def test_no_factor_at_all_is_refused(plain_fit: Clmm) -> None:
    with pytest.raises(InputError, match="name a factor"):
        marginal_means(plain_fit)


def test_means_of_two_factors_are_the_probabilities_of_their_combinations(plain_fit: Clmm) -> None:
    margins = marginal_means(plain_fit, "valence", "arm", scale="probability").margins
    combinations = list(dict.fromkeys((m.levels["arm"], m.levels["valence"]) for m in margins))
    frame = pl.DataFrame(combinations, schema=["arm", "valence"], orient="row")
    expected = category_probabilities(plain_fit, frame)
    assert len(combinations) == 4
    assert [margin.estimate for margin in margins] == pytest.approx(expected.to_numpy().ravel())
