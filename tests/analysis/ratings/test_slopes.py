"""Within subjects slopes are kept where raters differ; effects per threshold are said."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.analysis import ratings
from empathylab.situations.sources.released import Dimension
from empathylab.stats.mixed import Clmm, lmm
from empathylab.stats.mixed.ordinal.proportional_odds import proportional_odds_test
from empathylab.stats.t_tests import TTest
from empathylab.store.ratings import Study
from tests.analysis.ratings.test_conclusions import table

ZERO = {8: (0.5, 28), 4: (0.5, 6)}
"""Spread of preferences and seed of studies in which the ordinal model estimates it as 0."""


def within(slope_sd: float, seed: int) -> pl.DataFrame:
    """30 raters who rate 12 replies of each arm; how much they prefer an arm varies."""
    draw = np.random.default_rng(seed)
    rater, arm = np.repeat(np.arange(30), 24), np.tile(np.repeat([0, 1], 12), 30)
    mild, prefers = draw.normal(0, 0.7, 30), draw.normal(0, slope_sd, 30)
    latent = mild[rater] + prefers[rater] * (arm - 0.5) + draw.logistic(size=len(rater))
    return pl.DataFrame(
        {
            "rater": rater.astype(str),
            "arm": np.array(["human", "gpt"])[arm],
            "situation": [f"s{number}" for number in range(len(rater))],
            "rating": 1.0 + np.searchsorted([-1.0, 0.5], latent),
        }
    )


def test_raters_who_differ_have_slopes() -> None:
    found = ratings.from_table(within(1.5, 1))
    assert found.model is not None
    assert "(1 + arm|rater)" in str(found.model.formula)
    assert found.model.dropped == ()
    # As JSON, too: the arms' means are those of a typical rater, whose preference is none.
    rows = found.to_dict()["mixed_models"][0]["means"]["arm"]
    assert {row["level"] for row in rows if row["scale"] == "probability"} == {"gpt", "human"}


def test_slopes_that_the_ratings_do_not_show_are_simplified() -> None:
    # The correlation of intercepts and slopes is estimated as −1.
    found = ratings.from_table(within(0.0, 3))
    assert found.model is not None
    assert "(1|rater) + (1|arm:rater)" in str(found.model.formula)
    assert found.model.dropped[0].startswith("(1 + arm|rater) became (1|rater) + (1|arm:rater): ")
    # Equal variances limit nothing, so the conclusion has no caveat about it.
    assert not any("arm:rater" in caveat for caveat in found.conclusions[0].caveats)


def few_within(raters: int, slope_sd: float, seed: int) -> pl.DataFrame:
    """Too few raters of both arms for slopes; every situation has two ratings."""
    frame = within(slope_sd, seed).filter(pl.col("rater").cast(pl.Int64) < raters)
    number = pl.int_range(pl.len()) % (12 * raters)
    return frame.with_columns(situation="s" + number.cast(pl.String))


def arm_test(frame: pl.DataFrame) -> tuple[Clmm, TTest]:
    """The model of a study and the test of its arm."""
    [found] = ratings.from_table(frame, reference="human").models
    assert isinstance(found.model, Clmm)
    assert "(1|arm:rater)" in found.model.formula
    return found.model, found.tests["armgpt"]


def linear(frame: pl.DataFrame, formula: str, reml: bool = True) -> TTest:
    return lmm(frame, formula, reml=reml, reference={"arm": "human"}).coefficients["armgpt"]


def test_few_raters_of_both_arms_are_tested_as_few() -> None:
    frame = few_within(8, 1.2, 3)
    model, test = arm_test(frame)
    assert model.boundary == ()
    exact, biased = (linear(frame, model.formula, reml) for reml in (True, False))
    effect = model.coefficients["armgpt"]
    assert test.se == pytest.approx(effect.se * exact.se / biased.se)
    # The arms are compared within 8 raters: t(7), not Wald's z.
    assert test.df == pytest.approx(exact.df)
    assert test.df == pytest.approx(7, abs=2)


@pytest.mark.parametrize(("raters", "omitted"), [(8, True), (4, False)])
def test_a_preference_estimated_as_0_costs_degrees_of_freedom_below_5_raters_only(
    raters: int, omitted: bool
) -> None:
    """The ordinal model finds no preference, the linear model with the same formula finds one."""
    frame = few_within(raters, *ZERO[raters])
    model, test = arm_test(frame)
    assert "arm:rater" in model.boundary
    whole, without = (
        linear(frame, formula)
        for formula in (model.formula, model.formula.replace(" + (1|arm:rater)", ""))
    )
    assert whole.df < 20 < without.df
    assert test.df == pytest.approx(without.df if omitted else whole.df)


def test_an_effect_at_one_threshold_only_is_said_in_the_conclusion() -> None:
    draw = np.random.default_rng(4)
    shares = {"human": [0.3, 0.5, 0.2], "gpt": [0.3, 0.2, 0.5]}
    rows = [
        (f"{arm}{rater}", arm, f"s{rater}-{number}", float(rating))
        for arm, share in shares.items()
        for rater in range(25)
        for number, rating in enumerate(draw.choice([1, 2, 3], 10, p=share))
    ]
    frame = pl.DataFrame(rows, schema=["rater", "arm", "situation", "rating"], orient="row")
    first = ratings.from_table(frame).conclusions[0]
    [caveat] = [caveat for caveat in first.caveats if "differs between thresholds" in caveat]
    assert "between 1 and 2, " in caveat
    assert "between 2 and 3; " in caveat
    words = frame.with_columns(
        pl.col("rating").replace_strict({1.0: "Poor", 2.0: "Fair", 3.0: "Great"})
    )
    named = ratings.from_table(words, levels=["Poor", "Fair", "Great"]).conclusions[0].caveats
    expected = caveat.replace("1 and 2", "Poor and Fair").replace("2 and 3", "Fair and Great")
    assert expected in named
    # Nobody gave Fine: the model's thresholds are not those between the scale's labels.
    gap = ["Poor", "Fine", "Fair", "Great"]
    skipped = ratings.from_table(words, levels=gap).conclusions[0].caveats
    assert not any("Fine" in item for item in skipped)


def test_proportional_odds_are_judged_by_the_more_careful_clustering() -> None:
    """Every reply has 20 ratings, so that raters and replies are clusters."""
    frame = table(raters=20, each=6, seed=2).with_columns(
        situation="s" + (pl.int_range(pl.len()) % 6).cast(pl.String)
    )
    result = ratings.from_table(frame.drop("valence"))
    by_rater, by_reply = (
        proportional_odds_test(
            result.ratings, "rating ~ arm", "arm", cluster=cluster, reference={"arm": "human"}
        ).p_clustered
        for cluster in ("rater", "reply_id")
    )
    assert by_rater != pytest.approx(by_reply)
    [found] = result.models
    assert found.odds is not None
    assert found.odds.p == pytest.approx(max(by_rater, by_reply))


def test_a_threshold_with_an_arm_on_one_side_is_not_tested() -> None:
    """Only people's replies are rated 0 here; an arm without a 0 has no finite effect there."""
    whole = within(0.0, 1)
    lowest = (pl.col("arm") == "human") & (pl.int_range(pl.len()) % 40 == 0)
    frame = whole.with_columns(rating=pl.when(lowest).then(0.0).otherwise(pl.col("rating")))
    merged = frame.with_columns(pl.col("rating").clip(1.0))
    [found] = ratings.from_table(frame, reference="human").models
    [expected] = ratings.from_table(merged, reference="human").models
    assert found.odds is not None
    assert expected.odds is not None
    assert found.odds.p == pytest.approx(expected.odds.p)


def test_slopes_of_a_search_that_does_not_converge_are_simplified() -> None:
    """No reply of an arm has a rating of the other arm: the log-odds grow without end."""
    draw = np.random.default_rng(2)
    rows = [
        (f"r{rater}", arm, f"s{number}", float(draw.integers(1, 3) + 2 * (arm == "gpt")))
        for rater in range(15)
        for arm in ("human", "gpt")
        for number in range(3)
    ]
    names = ["rater", "arm", "situation", "rating"]
    found = ratings.from_table(pl.DataFrame(rows, schema=names, orient="row"))
    [model] = found.models
    assert model.simplified == (
        "(1 + arm|rater) became (1|rater) + (1|arm:rater): the search did not converge",
    )


def test_an_effect_that_cannot_be_fitted_is_dropped_and_named() -> None:
    """Of warmth each rater gave one rating per arm: nothing tells a preference from chance."""
    draw = np.random.default_rng(1)
    rows = [
        (f"r{rater}", arm, f"s{(rater + 2 * number) % 6}", name, draw.normal(50, 10))
        for rater in range(10)
        for arm in ("human", "gpt")
        for name, count in (("help", 3), ("warmth", 1))
        for number in range(count)
    ]
    names = ["rater", "arm", "situation", "dimension", "rating"]
    dimensions = tuple(Dimension(name, (), ends=(0, 100)) for name in ("help", "warmth"))
    found = ratings.from_table(
        pl.DataFrame(rows, schema=names, orient="row"),
        study=Study("s", "S", "within", dimensions, "closed"),
    )
    helped, warm = found.models
    assert helped.dropped == ()
    assert warm.model is not None
    assert "arm:rater" not in warm.model.formula
    [reason] = warm.dropped
    assert reason.startswith("(1|arm:rater): ")
    first = next(item for item in found.conclusions if item.dimension == "warmth")
    assert f"Not in the model: {reason}" in first.caveats
