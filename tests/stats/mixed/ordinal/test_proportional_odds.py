"""Proportional odds against ordinal::nominal_test; proportional_odds.R printed the numbers."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.ordinal.proportional_odds import (
    ProportionalOdds,
    proportional_odds_test,
)

FRAME = pl.read_csv(Path(__file__).parents[3] / "reference" / "slopes.csv")
PUBLISHED = (
    Path(os.environ.get("EMPATHYLAB_SHARED_DATA", "/nowhere"))
    / "welivita"
    / "dataset_and_ratings.csv"
)


def fitted(term: str, **more: str) -> ProportionalOdds:
    return proportional_odds_test(FRAME, "rating ~ arm + x", term, reference={"arm": "a"}, **more)


@pytest.mark.parametrize(
    ("term", "link", "statistic", "df"),
    [
        ("arm", "logit", 0.5403535310, 4),
        ("x", "logit", 0.2755621182, 2),
        ("arm", "probit", 0.7733919342, 4),
        ("x", "probit", 0.1238638601, 2),
    ],
)
def test_likelihood_ratios_are_those_of_nominal_test(
    term: str, link: str, statistic: float, df: int
) -> None:
    found = fitted(term, link=link)
    assert found.converged
    assert found.statistic == pytest.approx(statistic, abs=1e-6)
    assert found.df == df


def test_effects_per_threshold_are_those_of_ordinal() -> None:
    # R gives what a column adds to a threshold, which is minus its effect on ratings.
    expected = {
        ("armb", "1|2"): (0.67022004, 0.311459115),
        ("armb", "2|3"): (0.61129406, 0.253786322),
        ("armb", "3|4"): (0.51686286, 0.272326899),
        ("armc", "1|2"): (0.70168997, 0.335317681),
        ("armc", "2|3"): (0.81096855, 0.273415919),
        ("armc", "3|4"): (0.70631208, 0.282035792),
    }
    for effect in fitted("arm").effects:
        estimate, se = expected[effect.column, effect.threshold]
        assert effect.estimate == pytest.approx(estimate, abs=1e-6)
        assert effect.se == pytest.approx(se, abs=1e-5)


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="needs the published ratings")
@pytest.mark.parametrize(
    ("formula", "term", "statistic"),
    [
        ("rating ~ arm", "arm", 13.502),
        ("rating ~ arm + valence", "arm", 13.6889),
        ("rating ~ arm + valence", "valence", 3.5383),
    ],
)
def test_published_ratings_have_the_likelihood_ratios_of_nominal_test(
    formula: str, term: str, statistic: float
) -> None:
    wide = pl.read_csv(PUBLISHED)
    frame = pl.concat(
        wide.select(
            arm=pl.lit(arm),
            rater=pl.lit(arm) + pl.col(f"annotator_{arm}").cast(pl.String),
            valence="sentiment",
            rating=f"rating_{arm}",
        )
        for arm in ("human", "chatgpt_empathy")
    )
    found = proportional_odds_test(frame, formula, term, cluster="rater")
    assert found.statistic == pytest.approx(statistic, abs=1e-3)
    assert found.df == 1
    assert found.clusters == 400
    # Raters who are alike leave less evidence.
    assert found.p_clustered > found.p


def test_a_likelihood_ratio_of_three_categories_by_hand() -> None:
    # Two arms, three categories: the partial model gives every share exactly.
    counts = {"a": (10, 20, 30), "b": (5, 40, 15)}
    frame = pl.DataFrame(
        [
            {"arm": arm, "rating": rating + 1}
            for arm, each in counts.items()
            for rating, count in enumerate(each)
            for _ in range(count)
        ]
    )
    found = proportional_odds_test(frame, "rating ~ arm", "arm")
    logit = {
        arm: (math.log(n[0] / (n[1] + n[2])), math.log((n[0] + n[1]) / n[2]))
        for arm, n in counts.items()
    }
    effects = [logit["a"][j] - logit["b"][j] for j in range(2)]
    assert [effect.estimate for effect in found.effects] == pytest.approx(effects, abs=1e-6)


def test_clustered_tests_hold_their_level_where_raters_are_alike() -> None:
    plain = clustered = 0
    for seed in range(150):
        generator = np.random.default_rng(seed)
        rater = np.repeat(np.arange(40), 10)
        middle = generator.random(40)[rater] < 0.5  # raters who love the middle, or avoid it
        latent = generator.logistic(size=400)
        rating = np.where(
            middle, 1 + (latent > -2) + (latent > 2), 1 + (latent > -0.3) + (latent > 0.3)
        )
        frame = pl.DataFrame(
            {"rater": rater, "arm": np.where(rater < 20, "a", "b"), "rating": rating}
        )
        found = proportional_odds_test(frame, "rating ~ arm", "arm", cluster="rater")
        plain += found.p < 0.05
        clustered += found.p_clustered < 0.05
    assert clustered / 150 < 0.1
    assert plain > 1.5 * clustered


def test_a_column_frees_its_interactions_too() -> None:
    found = proportional_odds_test(FRAME, "rating ~ arm * x", "arm")
    assert len(found.columns) == 4
    alone = proportional_odds_test(FRAME, "rating ~ arm * x", "arm:x")
    assert len(alone.columns) == 2


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(UnknownName, match="valence"):
        fitted("valence")
    with pytest.raises(InputError, match="three categories"):
        proportional_odds_test(
            FRAME.with_columns(rating=pl.col("rating") > 2), "rating ~ arm", "arm"
        )
