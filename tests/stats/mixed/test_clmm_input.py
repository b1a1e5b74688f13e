"""Ratings from which little or nothing can be learnt, and what is said about them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.ordinal.clmm import clmm
from empathylab.stats.notes import note

FORMULA = "rating ~ arm + (1|rater) + (1|item)"


def ratings(n: int = 240) -> pl.DataFrame:
    generator = np.random.default_rng(8)
    rater = np.arange(n) % 20
    latent = generator.normal(size=20)[rater] + generator.logistic(size=n)
    return pl.DataFrame(
        {
            "rating": 1 + (latent > -0.8) + (latent > 0.9),
            "arm": np.where(np.arange(n) // 2 % 2 == 0, "a", "b"),
            "rater": rater,
            "item": generator.integers(0, 30, n),
        }
    )


def test_an_arm_without_ratings_is_said() -> None:
    frame = ratings().with_columns(
        arm=pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("c")).otherwise(pl.col("arm"))
    )
    empty = pl.when(pl.col("arm") == "c").then(None).otherwise(pl.col("rating"))
    found = clmm(frame.with_columns(rating=empty), FORMULA)
    assert found.notes == (note("lost_levels", column="arm", levels=("c",)),)
    assert found.dropped == {"rating": 80}
    assert found.n == 160


def test_one_rater_is_refused() -> None:
    with pytest.raises(InputError, match="'rater' has one level only"):
        clmm(ratings().with_columns(rater=pl.lit("me")), FORMULA)


def test_a_constant_rating_is_refused() -> None:
    with pytest.raises(InputError, match="every 'rating' is the same"):
        clmm(ratings().with_columns(rating=pl.lit(3)), FORMULA)


def test_missing_values_are_left_out_and_counted() -> None:
    frame = ratings().with_columns(
        rater=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("rater"))
    )
    found = clmm(frame, FORMULA)
    assert found.n == 233
    assert found.dropped == {"rater": 7}


def test_categories_never_used_are_said() -> None:
    found = clmm(ratings(), FORMULA, levels=[1, 2, 3, 4, 5])
    assert list(found.thresholds) == ["1|2", "2|3"]
    assert found.notes == (note("unused_categories", column="rating", categories=("4", "5")),)


@pytest.mark.parametrize("formula", ["rating ~ arm", FORMULA])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_perfect_separation_is_said_and_does_not_count_as_converged(
    formula: str, link: str
) -> None:
    frame = ratings().with_columns(
        rating=pl.when(pl.col("arm") == "a").then(1).otherwise(pl.col("rating") + 1)
    )
    found = clmm(frame, formula, link=link)
    assert not found.converged
    assert note("separation", columns=("armb",)) in found.problems


def test_a_number_that_separates_is_said() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=100)
    frame = pl.DataFrame({"rating": np.digitize(x, [-0.5, 0.5]), "x": x})
    found = clmm(frame, "rating ~ x")
    assert not found.converged
    assert note("separation", columns=("x",)) in found.problems


def test_a_formula_that_names_no_column_brings_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'rater'"):
        clmm(ratings(), "rating ~ arm + (1|ratr)")


def test_more_parameters_than_ratings_are_refused() -> None:
    with pytest.raises(InputError, match="5 parameters and only 5 complete rows"):
        clmm(ratings().head(5).with_columns(rating=pl.Series([1, 2, 3, 1, 2])), FORMULA)


def test_few_raters_are_said() -> None:
    found = clmm(ratings().with_columns(rater=pl.col("rater") % 3), FORMULA)
    assert note("few_levels", group="rater", levels=3) in found.problems


def test_raters_who_decide_every_rating_are_said() -> None:
    found = clmm(ratings().with_columns(rating=pl.col("rater") % 3 + 1), "rating ~ arm + (1|rater)")
    assert any(problem.code == "huge_sd" for problem in found.problems)


def test_a_group_for_every_rating_is_said() -> None:
    found = clmm(ratings().with_row_index("own"), "rating ~ arm + (1|own)")
    assert note("level_per_rating", group="own") in found.problems


def test_two_groupings_that_are_the_same_do_not_stop_the_fit() -> None:
    frame = ratings().with_columns(again=pl.col("rater"))
    found = clmm(frame, "rating ~ arm + (1|rater) + (1|again)")
    alone = clmm(frame, "rating ~ arm + (1|rater)")
    assert found.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-3)


def test_an_unknown_link_is_refused() -> None:
    with pytest.raises(UnknownName, match="there is no link 'cloglog'"):
        clmm(ratings(), FORMULA, link="cloglog")


def test_a_confidence_in_percent_is_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 1; got 95"):
        clmm(ratings(), FORMULA, confidence=95)


def test_an_infinite_rating_is_no_category() -> None:
    frame = ratings().with_columns(rating=pl.col("rating").cast(pl.Float64))
    endless = pl.when(pl.int_range(pl.len()) == 3).then(float("inf")).otherwise(pl.col("rating"))
    with pytest.raises(InputError, match="infinite number"):
        clmm(frame.with_columns(rating=endless), FORMULA)
