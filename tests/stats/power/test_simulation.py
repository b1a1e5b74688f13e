from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.arms import one_way_icc
from empathylab.stats.power.simulation import (
    Fitted,
    PlannedStudy,
    fit_mixed_model,
    simulate_ratings,
    simulated_power,
    thresholds,
)
from tests.stats.arms.reference_files import R

PLAN = PlannedStudy(raters=20, ratings_per_rater=5, odds_ratio=2.0)


def shares(frame: pl.DataFrame) -> list[float]:
    counts = frame.group_by("rating").len().sort("rating")
    return (counts["len"] / frame.height).to_list()


def never(frame: pl.DataFrame) -> Fitted:
    return Fitted(1.0, converged=True)


def test_thresholds_without_spread_are_the_logits() -> None:
    plan = PlannedStudy(2, 2, 1.0, rater_sd=0, shares=(0.2, 0.3, 0.5))
    assert thresholds(plan) == pytest.approx([np.log(0.2 / 0.8), 0], abs=1e-9)


def test_thresholds_lie_farther_out_where_raters_differ() -> None:
    plan = PlannedStudy(2, 2, 1.0, rater_sd=1, shares=(0.2, 0.8))
    assert thresholds(plan)[0] < np.log(0.2 / 0.8)
    assert thresholds(plan)[0] == pytest.approx(R["threshold"], abs=1e-7)


def test_the_reference_gets_the_planned_shares() -> None:
    plan = PlannedStudy(4000, 5, 3.0, rater_sd=1.0, situation_sd=0.7, shares=(0.2, 0.3, 0.5))
    reference = simulate_ratings(plan, 1).filter(arm="reference")
    assert shares(reference) == pytest.approx([0.2, 0.3, 0.5], abs=0.015)


def test_the_arm_is_rated_higher_by_the_odds_ratio() -> None:
    plan = PlannedStudy(4000, 5, 2.0, rater_sd=0, shares=(0.5, 0.5))
    arm = simulate_ratings(plan, 2).filter(arm="arm")
    assert shares(arm)[1] == pytest.approx(2 / 3, abs=0.01)


def test_raters_differ_as_planned() -> None:
    # On the latent scale σ²/(σ² + π²/3) = .23; a cut at the middle keeps about 4/5 of it.
    plan = PlannedStudy(2000, 10, 1.0, rater_sd=1.0, shares=(0.5, 0.5))
    frame = simulate_ratings(plan, 3)
    assert 0.15 < one_way_icc(frame["rating"], frame["rater"]) < 0.22


def test_between_subjects_a_rater_sees_one_arm_and_arms_share_situations() -> None:
    frame = simulate_ratings(PLAN, 1)
    assert frame.group_by("rater").agg(pl.col("arm").n_unique())["arm"].unique().to_list() == [1]
    assert frame.group_by("situation").len()["len"].unique().to_list() == [2]
    assert frame["arm"][0] == "reference"


def test_within_subjects_a_rater_sees_both_arms() -> None:
    plan = PlannedStudy(20, 6, 1.0, design="within")
    counts = simulate_ratings(plan, 1).group_by("rater", "arm").len()
    assert counts.height == 40
    assert counts["len"].unique().to_list() == [3]


def test_few_situations_are_rated_by_several_raters_but_not_twice_by_one() -> None:
    plan = PlannedStudy(20, 5, 1.0, situations=8)
    frame = simulate_ratings(plan, 1)
    assert frame["situation"].n_unique() == 8
    assert not frame.select(pl.struct("rater", "situation").is_duplicated().any()).item()


def test_the_same_seed_gives_the_same_study() -> None:
    assert simulate_ratings(PLAN, 7).equals(simulate_ratings(PLAN, 7))
    assert not simulate_ratings(PLAN, 7).equals(simulate_ratings(PLAN, 8))


def test_rejections_are_counted_with_their_interval() -> None:
    p_values = iter([0.01, 0.2, 0.04, 0.9])
    found = simulated_power(PLAN, simulations=4, fit=lambda _: Fitted(next(p_values), True))
    assert found.mixed_model.estimate == 0.5
    assert found.mixed_model.low < 0.5 < found.mixed_model.high


def test_models_that_fail_are_left_out_and_counted() -> None:
    converged = iter([True, False, True, True])
    found = simulated_power(PLAN, simulations=4, fit=lambda _: Fitted(0.01, next(converged)))
    assert (found.failed, found.mixed_model.estimate) == (1, 1)


def test_the_plain_chi_square_rejects_too_often_where_raters_differ() -> None:
    plan = PlannedStudy(40, 10, 1.0, rater_sd=1.0)
    found = simulated_power(plan, simulations=300, fit=never, workers=1)
    assert found.chi_square.low > 0.08
    assert found.clustered.low < 0.05 < found.clustered.high


def test_without_rater_effects_the_plain_chi_square_is_right() -> None:
    plan = PlannedStudy(40, 10, 1.0, rater_sd=0)
    found = simulated_power(plan, simulations=300, fit=never, workers=1)
    assert found.chi_square.low < 0.05


def test_progress_is_told() -> None:
    ticks: list[int] = []
    simulated_power(PLAN, simulations=3, fit=never, tick=lambda: ticks.append(1))
    assert len(ticks) == 3


def test_a_study_in_which_everybody_says_the_same_has_no_model() -> None:
    frame = simulate_ratings(PLAN, 1).with_columns(rating=pl.lit(3))
    assert not fit_mixed_model(frame).converged


@pytest.mark.slow
def test_the_mixed_model_finds_a_large_effect_and_rejects_rightly_without_one() -> None:
    large = PlannedStudy(40, 10, 3.0, rater_sd=0.5)
    assert simulated_power(large, simulations=12).mixed_model.estimate > 0.9
    nothing = PlannedStudy(40, 10, 1.0, rater_sd=1.0)
    found = simulated_power(nothing, simulations=60)
    assert found.failed == 0
    assert found.mixed_model.low < 0.05 < found.mixed_model.high
    assert found.chi_square.estimate > found.mixed_model.estimate


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"raters": 1}, "two raters"),
        ({"ratings_per_rater": 0}, "at least 1 rating"),
        ({"design": "within", "ratings_per_rater": 1}, "at least 2 ratings"),
        ({"odds_ratio": 0}, "odds ratio"),
        ({"rater_sd": -1}, "0 or more"),
        ({"shares": (0.5, 0.6)}, "add up to 1"),
        ({"shares": (1.0,)}, "two or more"),
        ({"situations": 3}, "situation twice"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changed: dict[str, object], message: str) -> None:
    plan = {"raters": 20, "ratings_per_rater": 5, "odds_ratio": 2.0} | changed
    with pytest.raises(InputError, match=message):
        PlannedStudy(**plan)  # type: ignore[arg-type]


def test_no_simulation_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="at least one simulation"):
        simulated_power(PLAN, simulations=0)
