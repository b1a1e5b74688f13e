from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

from empathylab.analysis.ratings.mixed_model_prose import (
    model_methods,
    model_results,
    odds,
    readable,
)
from empathylab.analysis.ratings.mixed_models import (
    coefficient_table,
    doubtful,
    holm_by_term,
    mixed_model_row,
    undetermined,
)
from empathylab.stats.corrections import holm
from empathylab.stats.mixed import Clmm, clmm, lmm
from empathylab.stats.notes import note


def ratings(arms: tuple[str, ...] = ("human", "gpt", "llama"), raters: int = 10) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "rater": f"{arm}-{r}",
                "arm": arm,
                "valence": ("good", "bad")[s % 2],
                "rating": 1 + (r * 7 + s * 3 + place * (s % 3)) % 4,
            }
            for place, arm in enumerate(arms)
            for r in range(raters)
            for s in range(6)
        ]
    )


def separated() -> Clmm:
    """All of gpt's ratings are the highest there is; llama's are like people's."""
    frame = ratings().with_columns(
        rating=pl.when(pl.col("arm") == "gpt").then(4).otherwise(pl.col("rating"))
    )
    return clmm(frame, "rating ~ arm", reference={"arm": "human"})


def test_a_coefficient_on_its_way_to_infinity_has_no_numbers() -> None:
    rows = {row["term"]: row for row in coefficient_table(separated())}
    assert undetermined(separated()) == ("armgpt",)
    assert set(rows["armgpt"].values()) == {"armgpt", "–"}
    assert "–" not in rows["armllama"].values()


def test_p_of_several_arms_is_holm_corrected_over_the_arms() -> None:
    model = clmm(ratings(), "rating ~ arm + (1|rater)", reference={"arm": "human"})
    names = ["armgpt", "armllama"]
    expected = holm([model.coefficients[name].p for name in names])
    assert holm_by_term(model) == dict(zip(names, expected.tolist(), strict=True))
    text = model_results(model)
    assert text.count("Holm-corrected p = ") == 2
    methods = model_methods(model)
    assert "p is Holm-corrected over the contrasts of each term: arm (2 contrasts)" in methods
    assert mixed_model_row(model)["coefficients"]["armgpt"]["p_holm"] == pytest.approx(expected[0])
    assert "p Holm" in coefficient_table(model)[0]


def test_two_arms_need_no_correction() -> None:
    model = lmm(ratings(("human", "gpt")), "rating ~ arm + (1|rater)")
    assert "Holm" not in model_results(model)
    assert "p Holm" not in coefficient_table(model)[0]


def test_a_separated_arm_gets_its_reason_first_and_no_numbers() -> None:
    model = separated()
    assert doubtful(model) == ("armgpt",)
    text = model_results(model)
    assert text.startswith("Perfect separation: armgpt predicts some ratings without error")
    assert "No estimate or test can be given for gpt against people (arm)." in text
    assert "gpt against people (arm): b" not in text
    assert "llama against people (arm): b = " in text
    row = next(row for row in coefficient_table(model) if row["term"] == "armgpt")
    assert (row["p"], row["interval"], row["p Holm"]) == ("–", "–", "–")
    assert json.dumps(mixed_model_row(model), allow_nan=False)
    lost = replace(model, problems=(*model.problems, note("not_converged", slope=1.0)))
    assert doubtful(lost) == ("armgpt", "armllama")


def test_a_name_that_begins_another_is_not_taken_for_it() -> None:
    frame = ratings(("human", "gpt-4", "gpt")).with_columns(
        rating=pl.when(pl.col("arm") == "gpt-4").then(4).otherwise(pl.col("rating"))
    )
    model = clmm(frame, "rating ~ arm", reference={"arm": "human"})
    assert doubtful(model) == ("armgpt-4",)


@pytest.mark.parametrize(
    ("log_odds", "text"),
    [(0.0, "1.00"), (0.7, "2.01"), (-4.0, "0.018"), (39.0, "> 1,000"), (-700.0, "< 0.001")],
)
def test_odds_ratios_are_capped(log_odds: float, text: str) -> None:
    assert odds(log_odds) == text


def test_levels_with_colons_and_spaces_are_read_as_they_are() -> None:
    arms = ("human", "scripted/mods:a", "arm b")
    model = clmm(ratings(arms), "rating ~ arm * valence", reference={"arm": "human"})
    assert readable(model, "armscripted/mods:a") == "scripted/mods:a against people (arm)"
    assert readable(model, "armarm b") == "arm b against people (arm)"
    assert (
        readable(model, "armscripted/mods:a:valencebad")
        == "scripted/mods:a against people (arm) × bad against good (valence)"
    )


def test_a_coefficient_beside_interactions_says_where_it_holds() -> None:
    model = clmm(ratings(("human", "gpt")), "rating ~ arm * valence")
    assert "at their reference level: people (arm) and good (valence)." in model_results(model)


def test_methods_name_the_dimension_where_there_are_several() -> None:
    model = lmm(ratings(), "rating ~ arm + (1|rater)")
    assert model_methods(model, of=["warmth"]).startswith("Ratings of warmth were analysed")
    both = model_methods(model, of=["warmth", "help"])
    assert both.startswith("Ratings of warmth and help were each analysed")
    assert "ratings entered each model" in both


def test_random_slopes_and_their_correlations_are_said_in_words() -> None:
    frame = pl.concat(
        ratings(("human", "gpt")).with_columns(
            pl.col("rater").str.split("-").list.last(),
            (pl.col("rating") + k * (pl.col("arm") == "gpt")).alias("rating"),
        )
        for k in range(2)
    )
    model = lmm(frame, "rating ~ arm + (1 + arm|rater)", reference={"arm": "human"})
    methods, results = model_methods(model), model_results(model)
    assert "random intercepts of rater (10 levels) and random slopes of arm by rater" in methods
    assert "armgpt" not in methods + results
    assert "slope of gpt against people" in results
