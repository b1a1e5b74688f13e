"""Random slopes within subjects: kept where raters differ, simplified where they do not."""

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


def test_slopes_that_the_ratings_do_not_show_are_simplified() -> None:
    found = ratings.from_table(within(0.0, 2))
    assert found.model is not None
    assert "(1|rater) + (1|arm:rater)" in str(found.model.formula)
    assert found.model.dropped[0].startswith("(1 + arm|rater) became (1|rater) + (1|arm:rater): ")
    # Equal variances limit nothing, so the conclusion has no caveat about it.
    assert not any("arm:rater" in one for one in found.conclusions[0].caveats)
