"""Within subjects slopes are kept where raters differ; effects per threshold are said."""

from __future__ import annotations

import numpy as np
import polars as pl

from empathylab.analysis import ratings


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
    found = ratings.from_table(within(0.0, 2))
    assert found.model is not None
    assert "(1|rater) + (1|arm:rater)" in str(found.model.formula)
    assert found.model.dropped[0].startswith("(1 + arm|rater) became (1|rater) + (1|arm:rater): ")
    # Equal variances limit nothing, so the conclusion has no caveat about it.
    assert not any("arm:rater" in caveat for caveat in found.conclusions[0].caveats)


def test_few_raters_of_both_arms_keep_the_error_of_maximum_likelihood() -> None:
    frame = within(0.8, 3).filter(pl.col("rater").cast(pl.Int64) < 8)
    frame = frame.with_columns(situation="s" + (pl.int_range(pl.len()) % 96).cast(pl.String))
    found = ratings.from_table(frame, reference="human")
    [model] = found.models
    assert model.model is not None
    assert "(1|arm:rater)" in model.model.formula
    test = model.tests["armgpt"]
    assert test.se == model.model.coefficients["armgpt"].se
    # Eight raters: the arm is tested with few degrees of freedom, not by Wald's z.
    assert test.df < 30


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
    assert "at 1|2" in caveat
    assert "at 2|3" in caveat
