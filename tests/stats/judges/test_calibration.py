"""Confusion, calibration curves, the ordinal map and its scores."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.judges.calibration import (
    calibration_curve,
    calibration_scores,
    confusion,
    ordinal_map,
)


def frame_of(people: list[float | None], judge: list[float | None]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "rating": people,
            "prediction": judge,
            "rater": [f"r{i}" for i in range(len(people))],
            "situation": [f"s{i}" for i in range(len(people))],
        },
        schema_overrides={"rating": pl.Float64, "prediction": pl.Float64},
    )


def noisy(seed: int, noise: float, n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    people = np.digitize(level + 0.7 * rng.normal(size=n), [-0.7, 0.7]) + 1.0
    judge = np.digitize(level + noise * rng.normal(size=n), [-1, 0, 1]) + 1.0
    return frame_of(people.tolist(), judge.tolist())


def test_confusion_counts_people_by_judge() -> None:
    found = confusion(frame_of([1, 1, 2, 3, None], [1, 2, 2, 2, 1]))
    assert found.categories == (1, 2, 3)
    assert found.counts == ((1, 1, 0), (0, 1, 0), (0, 1, 0))
    assert (found.n, found.dropped) == (4, 1)


def test_curve_points_are_peoples_means_by_the_judges_value() -> None:
    found = calibration_curve(frame_of([1, 2, 3, 3, 5], [1, 1, 2, 2, 2]))
    assert [(p.judge, p.people.estimate, p.n) for p in found.points] == [
        (1, 1.5, 2),
        (2, pytest.approx(11 / 3), 3),
    ]
    # Judge 8/5, people 14/5; slope (11/3 − 3/2) / 1.
    assert found.bias.estimate == pytest.approx(-6 / 5)
    assert found.slope.estimate == pytest.approx(11 / 3 - 3 / 2)


def test_a_points_interval_is_students_where_nothing_is_shared() -> None:
    point = calibration_curve(frame_of([1, 2, 6], [1, 1, 1])).points[0]
    margin = 4.302652729911275 * np.std([1, 2, 6], ddof=1) / math.sqrt(3)
    assert point.people.low == pytest.approx(3 - margin)
    assert point.people.high == pytest.approx(3 + margin)


def test_many_values_are_grouped_into_bins_of_about_the_same_size() -> None:
    rng = np.random.default_rng(1)
    found = calibration_curve(
        frame_of(rng.normal(size=100).tolist(), rng.normal(size=100).tolist()), bins=5
    )
    assert [point.n for point in found.points] == [20] * 5
    assert [p.judge for p in found.points] == sorted(p.judge for p in found.points)


def test_a_judge_that_never_varies_has_no_slope() -> None:
    found = calibration_curve(frame_of([1, 2, 3], [2, 2, 2]))
    assert math.isnan(found.slope.estimate)


def test_the_map_gives_shares_by_the_judges_value() -> None:
    found = ordinal_map(frame_of([1, 1, 2, 2, 3, 3], [1, 1, 1, 2, 2, 2]))
    assert found.categories == (1, 2, 3)
    assert found.shares([1, 2]) == pytest.approx(np.array([[2 / 3, 1 / 3, 0], [0, 1 / 3, 2 / 3]]))
    assert found.expected([1, 1.5, 2]) == pytest.approx([4 / 3, 2, 8 / 3])


def test_the_map_pools_what_would_turn_back() -> None:
    # The share at or below 1 is 0, then 1/2, of 2 values each: pooled to 1/4.
    found = ordinal_map(frame_of([2, 2, 1, 2], [1, 1, 2, 2]))
    assert found.shares([1, 2])[:, 0] == pytest.approx([0.25, 0.25])


def test_a_judge_against_people_gets_a_flat_map() -> None:
    found = ordinal_map(frame_of([3, 3, 2, 2, 1, 1], [1, 1, 2, 2, 3, 3]))
    assert np.ptp(found.expected([1, 2, 3])) == pytest.approx(0)


def test_shares_are_never_negative_and_sum_to_one() -> None:
    found = ordinal_map(noisy(1, 1.5))
    shares = found.shares(np.linspace(0, 6, 50))
    assert (shares >= -1e-12).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(50))
    assert (np.diff(found.expected(np.linspace(0, 6, 50))) >= -1e-12).all()


def test_the_map_keeps_categories_that_nobody_used_and_refuses_others() -> None:
    frame = frame_of([1, 3], [1, 2])
    assert ordinal_map(frame, categories=[1, 2, 3]).shares([1]).shape == (1, 3)
    with pytest.raises(InputError, match="not one of the scale's categories; got 3.0"):
        ordinal_map(frame, categories=[1, 2])


def test_a_judge_that_knows_has_skill_and_a_blind_one_has_none() -> None:
    knowing = calibration_scores(noisy(2, 0.3))
    blind = calibration_scores(noisy(2, 1000.0))
    assert knowing.skill > 0.3
    assert knowing.gain.low > 0
    assert knowing.brier < knowing.base_brier
    assert abs(blind.skill) < 0.05
    assert blind.gain.low <= 0


def test_scores_of_two_categories_are_half_their_brier_score() -> None:
    frame = noisy(3, 0.5).with_columns(rating=(pl.col("rating") > 1).cast(pl.Float64))
    found = calibration_scores(frame)
    assert found.brier == pytest.approx(2 * found.ranked_probability_score)


def test_the_base_score_by_hand() -> None:
    # Two situations, two folds: each is predicted from the other, and always wrongly.
    found = calibration_scores(frame_of([1, 2], [1, 1]), folds=2)
    assert found.base_score == 1
    assert found.ranked_probability_score == 1
    assert found.skill == 0


def test_folds_go_by_situation_and_seed() -> None:
    frame = noisy(4, 0.5)
    assert calibration_scores(frame, seed=1) == calibration_scores(frame, seed=1)
    assert calibration_scores(frame, seed=1) != calibration_scores(frame, seed=2)


def test_scores_need_two_situations_and_two_values() -> None:
    with pytest.raises(InputError, match="at least 2 situations"):
        calibration_scores(frame_of([1, 1, 1], [1, 2, 3]))


def test_no_response_rated_by_both_is_refused() -> None:
    with pytest.raises(InputError, match="both people and the judge"):
        confusion(frame_of([None, 1], [1, None]))


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'prediction'"):
        calibration_curve(frame_of([1], [1]), prediction="predictions")
