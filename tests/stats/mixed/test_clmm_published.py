"""The published ratings of human and GPT-4 replies, against R's fits of them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from empathylab.stats.mixed.ordinal.clmm import clmm

pytestmark = pytest.mark.shared_data

FORMULAS = {
    "two_arm": "rating ~ source + (1|item) + (1|rater)",
    "two_arm_valence": "rating ~ source * valence + (1|item) + (1|rater)",
}


def long_form(folder: Path) -> pl.DataFrame:
    wide = pl.read_csv(folder / "welivita" / "dataset_and_ratings.csv")
    return pl.concat(
        wide.select(
            source=pl.lit(arm),
            rater=f"annotator_{arm}",
            item="dialog_id",
            rating=f"rating_{arm}",
            valence="sentiment",
        )
        for arm in ("human", "chatgpt_empathy")
    )


@pytest.mark.parametrize("tag", FORMULAS)
def test_the_published_ratings_give_the_numbers_of_r(tag: str, shared_data: Path) -> None:
    file = shared_data / "reference" / "r_mixed_models.json"
    models = json.loads(file.read_text(encoding="utf-8"))["clmm"]
    expected = next(model for model in models if model["tag"] == tag)
    reference = {"valence": "negative"} if "valence" in tag else {}
    found = clmm(long_form(shared_data), FORMULAS[tag], reference=reference)
    both = {**found.thresholds, **found.coefficients}
    assert {name: one.estimate for name, one in both.items()} == pytest.approx(
        expected["coef"], abs=1e-4
    )
    assert {name: one.se for name, one in both.items()} == pytest.approx(expected["se"], abs=1e-4)
    assert {name: one.sd for name, one in found.random_effects.items()} == pytest.approx(
        expected["sd"], abs=1e-4
    )
    assert found.log_likelihood == pytest.approx(expected["logLik"], abs=1e-4)
    assert found.n == expected["n"]
    assert found.boundary == ("item",)
    assert found.converged
