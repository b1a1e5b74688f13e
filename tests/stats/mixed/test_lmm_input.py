"""Linear mixed models of data that cannot be fitted, or not well: a sentence each."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.linear.model import lmm
from empathylab.stats.notes import note
from tests.stats.mixed.lmm_reference import study


def test_without_a_random_term_it_is_least_squares_and_says_so() -> None:
    # Means 2 and 5; squared deviations 2 + 2 on 4 degrees of freedom; 1 · √(1/3 + 1/3).
    frame = pl.DataFrame({"source": ["a"] * 3 + ["b"] * 3, "rating": [1, 2, 3, 4, 5, 6]})
    fit = lmm(frame, "rating ~ source")
    effect = fit.coefficients["sourceb"]
    assert (effect.estimate, effect.se, effect.df) == pytest.approx((3, math.sqrt(2 / 3), 4))
    assert fit.random_effects == {}
    assert fit.notes[-1] == note("no_random_term")


def test_least_squares_has_the_restricted_likelihood_of_r() -> None:
    # R: logLik(lm(c(1, 2, 4, 7) ~ c(0, 1, 2, 3)), REML = TRUE) prints −3.642596. By hand
    # −½ [2 (1 + log(2π · ½)) + log 20]: squares left over 21 − 10²/5 = 1 on 2 degrees of freedom,
    # |X'X| = 4 · 14 − 36.
    fit = lmm(pl.DataFrame({"x": [0, 1, 2, 3], "rating": [1, 2, 4, 7]}), "rating ~ x")
    by_hand = -(2 * (1 + math.log(math.pi)) + math.log(20)) / 2
    assert fit.log_likelihood == pytest.approx(by_hand)
    assert by_hand == pytest.approx(-3.642596, abs=1e-6)


def test_missing_values_are_left_out_and_counted() -> None:
    rows = pl.int_range(pl.len())
    holes = study("crossed").with_columns(
        pl.when(rows >= 5).then("rating").alias("rating"),
        pl.when(rows < 250).then("rater").alias("rater"),
    )
    fit = lmm(holes, "rating ~ source + (1|rater)")
    assert (fit.n, sum(fit.dropped.values())) == (245, 11)


def test_a_constant_rating_is_refused() -> None:
    frame = study("crossed").with_columns(rating=pl.lit(3.0))
    with pytest.raises(InputError, match="every 'rating' is the same"):
        lmm(frame, "rating ~ source + (1|rater)")


def test_a_single_rater_is_refused() -> None:
    frame = study("crossed").with_columns(rater=pl.lit("r1"))
    with pytest.raises(InputError, match="'rater' has one level only"):
        lmm(frame, "rating ~ source + (1|rater)")


def test_a_group_per_rating_is_refused() -> None:
    frame = study("crossed").with_row_index("row").with_columns(pl.col("row").cast(pl.String))
    with pytest.raises(InputError, match="every level of 'row' has one rating only"):
        lmm(frame, "rating ~ source + (1|row)")


def test_more_parameters_than_ratings_are_refused() -> None:
    frame = study("crossed").filter(pl.col("rater").is_in(["r1", "r2"])).gather([0, 1, 2, -1])
    with pytest.raises(InputError, match="parameters and only 4 complete rows"):
        lmm(frame, "rating ~ source + length + (1|rater)")


def test_a_rating_that_the_fixed_effects_give_exactly_is_refused() -> None:
    frame = study("crossed").with_columns(rating=3 + 2 * pl.col("length"))
    with pytest.raises(InputError, match="predict every rating exactly"):
        lmm(frame, "rating ~ length + (1|rater)")


def test_a_rating_that_the_raters_give_exactly_is_not_trusted() -> None:
    frame = study("crossed").with_columns(rating=pl.col("rater").str.slice(1).cast(pl.Float64))
    fit = lmm(frame, "rating ~ source + (1|rater)")
    assert note("no_residual") in fit.problems


def test_two_groupings_that_say_the_same_are_not_trusted() -> None:
    frame = study("crossed").with_columns(person=pl.col("rater"))
    fit = lmm(frame, "rating ~ source + (1|rater) + (1|person)")
    assert not fit.converged
    assert note("sds_not_converged") in fit.problems


def test_few_levels_are_said() -> None:
    frame = study("crossed").filter(pl.col("rater").is_in(["r1", "r2", "r3"]))
    fit = lmm(frame, "rating ~ 1 + (1|rater)")
    assert note("lmm_few_levels", group="rater", levels=3) in fit.problems


def test_a_column_that_does_not_exist_is_guessed() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'source'"):
        lmm(study("crossed"), "rating ~ sorce + (1|rater)")


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        lmm(study("crossed").head(0), "rating ~ source + (1|rater)")


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_confidence_must_be_a_probability(confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        lmm(study("crossed"), "rating ~ source + (1|rater)", confidence=confidence)


def test_a_model_without_fixed_effects_can_be_fitted() -> None:
    fit = lmm(study("crossed"), "rating ~ 0 + (1|rater)")
    assert fit.coefficients == {}
    assert fit.converged


def test_columns_that_repeat_others_are_left_out_and_said() -> None:
    frame = study("crossed").with_columns(twice=2 * pl.col("length"))
    fit = lmm(frame, "rating ~ length + twice + (1|rater)")
    assert list(fit.coefficients) == ["(Intercept)", "length"]
    assert any("twice" in str(item.values["columns"]) for item in fit.notes)


def test_whole_numbers_and_booleans_are_ratings_too() -> None:
    frame = study("lee").with_columns(good=pl.col("rating") > 3)
    fit = lmm(frame, "good ~ source + (1|rater)")
    shares = frame.group_by("source").agg(pl.col("good").mean())["good"]
    assert float(shares.min()) < fit.coefficients["(Intercept)"].estimate < float(shares.max())
    assert np.isfinite(fit.criterion)
