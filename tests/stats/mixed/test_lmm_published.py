"""The linear mixed model of the published two-arm study, and studies of other sizes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.stats.mixed.linear.model import Lmm, lmm


def long_form(folder: Path) -> pl.DataFrame:
    """One row per rating of the Welivita file, whatever arms it holds."""
    wide = pl.read_csv(folder / "welivita" / "dataset_and_ratings.csv").with_row_index("item")
    arms = [name.removeprefix("rating_") for name in wide.columns if name.startswith("rating_")]
    return pl.concat(
        wide.select(
            pl.lit(arm).alias("source"),
            pl.col(f"annotator_{arm}").alias("rater"),
            pl.col("item").cast(pl.String),
            pl.col("sentiment").alias("valence"),
            pl.col(f"rating_{arm}").alias("rating"),
        )
        for arm in arms
    )


@pytest.fixture(scope="module")
def two_arms(shared_data: Path) -> Lmm:
    return lmm(
        long_form(shared_data),
        "rating ~ source + (1|rater) + (1|item)",
        reference={"source": "human"},
    )


@pytest.fixture(scope="module")
def published(shared_data: Path) -> dict[str, object]:
    loaded = json.loads((shared_data / "reference" / "r_mixed_models.json").read_text())
    found: dict[str, object] = next(item for item in loaded["lmm"] if item["tag"] == "lmm_two_arm")
    return found


@pytest.mark.shared_data
def test_the_two_arm_study_has_lme4s_coefficients(two_arms: Lmm, published: dict) -> None:
    for name, estimate in published["coef"].items():
        found = two_arms.coefficients[name]
        assert found.estimate == pytest.approx(estimate, abs=1e-6)
        assert found.se == pytest.approx(published["se"][name], abs=1e-6)


@pytest.mark.shared_data
def test_the_two_arm_study_has_lme4s_variances(two_arms: Lmm, published: dict) -> None:
    for part in published["vc"]:
        residual = part["grp"] == "Residual"
        found = (
            two_arms.residual_variance
            if residual
            else two_arms.random_effects[part["grp"]].variance
        )
        assert found == pytest.approx(part["vcov"], abs=5e-6)


@pytest.mark.shared_data
def test_the_two_arm_study_has_lme4s_criterion(two_arms: Lmm, published: dict) -> None:
    assert two_arms.criterion == pytest.approx(published["crit"], abs=1e-6)
    assert (two_arms.n, two_arms.converged, two_arms.problems) == (4000, True, ())


def crossed_study(raters: int, situations: int, seed: int) -> pl.DataFrame:
    """Every rater rates every situation; half the situations are answered by a model, +0.3."""
    rng = np.random.default_rng(seed)
    rater, situation = (axis.reshape(-1) for axis in np.indices((raters, situations)))
    model = situation % 2
    rating = (
        3
        + 0.3 * model
        + rng.normal(0, 0.5, raters)[rater]
        + rng.normal(0, 0.4, situations)[situation]
        + rng.normal(size=raters * situations)
    )
    return pl.DataFrame(
        {
            "rater": rater.astype(str),
            "situation": situation.astype(str),
            "source": np.where(model == 1, "model", "human"),
            "rating": rating,
        }
    )


FORMULA = "rating ~ source + (1|rater) + (1|situation)"


def test_a_fully_crossed_study_of_200_by_300_gives_the_truth_back() -> None:
    fit = lmm(crossed_study(200, 300, seed=1), FORMULA, reference={"source": "human"})
    effect = fit.coefficients["sourcemodel"]
    assert abs(effect.estimate - 0.3) < 3 * effect.se
    # A standard deviation from q levels has a standard error of about sd / √(2 q).
    for group, truth, levels in (("rater", 0.5, 200), ("situation", 0.4, 300)):
        assert abs(fit.random_effects[group].sd - truth) < 3 * truth / np.sqrt(2 * levels)
    assert fit.residual_sd == pytest.approx(1, abs=3 / np.sqrt(2 * 60_000))


@pytest.mark.slow
def test_intervals_hold_the_truth_at_their_rate() -> None:
    # 400 studies: 95 % ± 3 √(0.95 · 0.05 / 400) = 3.3 points. Few raters and situations, where
    # the normal quantile in place of Satterthwaite's t would hold it too rarely.
    held = 0
    for seed in range(400):
        fit = lmm(crossed_study(8, 10, seed), FORMULA, reference={"source": "human"})
        effect = fit.coefficients["sourcemodel"]
        held += effect.low <= 0.3 <= effect.high
    assert abs(held / 400 - 0.95) < 0.033


@pytest.mark.slow
def test_a_study_of_400_000_ratings_is_fitted() -> None:
    # 40,000 raters of ten situations each, 200,000 situations rated once in each of two arms.
    rng = np.random.default_rng(7)
    situation = np.tile(np.arange(200_000), 2)
    arm = np.repeat([0, 1], 200_000)
    rater = 20_000 * arm + situation // 10
    rating = 2.3 + 0.25 * arm + rng.normal(0, 0.2, 40_000)[rater]
    rating += rng.normal(0, 0.1, 200_000)[situation] + rng.normal(0, 0.65, 400_000)
    frame = pl.DataFrame({"rater": rater, "situation": situation, "arm": arm, "rating": rating})
    fit = lmm(frame, "rating ~ arm + (1|rater) + (1|situation)")
    effect = fit.coefficients["arm"]
    assert fit.converged
    assert abs(effect.estimate - 0.25) < 3 * effect.se
    assert fit.random_effects["rater"].sd == pytest.approx(0.2, abs=0.01)
    assert fit.random_effects["situation"].levels == 200_000
