"""A judge's leaning, told from a scale of its own."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.stats.judges.scaled_bias import scaled_bias
from empathylab.stats.notes import note


def rated(
    people: int, *, scale: float, own: float, noise: float = 0.0, seed: int = 0
) -> pl.DataFrame:
    """Replies of two writers, the first a point better, as people and a judge see them."""
    rng = np.random.default_rng(seed)
    first = np.arange(200) % 2 == 0
    quality = 3 + first + rng.normal(0, 1, 200)
    judge = 1 + scale * quality + own * first + rng.normal(0, 0.2, 200)
    return pl.concat(
        pl.DataFrame(
            {
                "response": np.arange(200),
                "situation": np.arange(200) // 2,
                "rater": f"p{number}",
                "rating": quality + rng.normal(0, noise, 200),
                "prediction": judge,
                "lean": first.astype(float),
            }
        )
        for number in range(people)
    )


def leaning(frame: pl.DataFrame, **options: str | None) -> tuple[float, float, float]:
    found = scaled_bias(frame, "lean", rater=None, **options)  # type: ignore[arg-type]
    return found.low, found.estimate, found.high


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.0])
def test_a_scale_of_its_own_is_no_leaning(scale: float) -> None:
    low, _, high = leaning(rated(3, scale=scale, own=0))
    assert low < 0 < high


def test_a_leaning_is_told_in_the_judges_points() -> None:
    low, estimate, high = leaning(rated(3, scale=0.4, own=0.5))
    assert low < 0.5 < high
    assert estimate == pytest.approx(0.5, abs=0.08)


def test_peoples_scatter_does_not_look_like_leaning() -> None:
    # By plain least squares the slope would be half of what it is, and 0.5 points would be left.
    estimates = [leaning(rated(3, scale=1, own=0, noise=1, seed=seed))[1] for seed in range(20)]
    assert np.mean(estimates) == pytest.approx(0, abs=0.06)


def test_the_estimate_is_that_of_two_stage_least_squares() -> None:
    frame = rated(2, scale=0.7, own=0.3, noise=0.8)
    # 200 rows of each person, in the same order.
    swapped = pl.concat([frame[200:], frame[:200]])["rating"]
    ones = np.ones(400)
    lean, judge = frame["lean"].to_numpy(), frame["prediction"].to_numpy()
    stage = np.column_stack([ones, lean, swapped.to_numpy()])
    predicted = stage @ np.linalg.lstsq(stage, frame["rating"].to_numpy(), rcond=None)[0]
    second = np.column_stack([ones, lean, predicted])
    expected = np.linalg.lstsq(second, judge, rcond=None)[0][1]
    assert leaning(frame)[1] == pytest.approx(expected)


@pytest.mark.parametrize("own", [0.0, 1.5])
def test_single_ratings_do_not_tell_a_bias_from_a_wider_scale(own: float) -> None:
    found = scaled_bias(rated(1, scale=0.5, own=own, noise=0.7), "lean", rater=None)
    assert math.isnan(found.p)
    assert math.isnan(found.estimate)
    assert found.note == note("unknown_scale")


def test_ratings_that_hardly_agree_are_no_measure_of_the_judges_scale() -> None:
    found = scaled_bias(rated(2, scale=1.5, own=0, noise=9), "lean", rater=None)
    assert found.note == note("unknown_scale")


def test_a_wider_scale_is_seldom_taken_for_a_preference_for_length() -> None:
    """Long replies are better, and the judge's points are 1.5 times as wide as people's."""
    rejected = tested = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        words = rng.normal(5, 0.6, 120)
        quality = 3 + 0.6 * (words - 5) + rng.normal(0, 0.7, 120)
        judge = 1.5 * quality + rng.normal(0, 0.5, 120)
        frame = pl.concat(
            pl.DataFrame(
                {
                    "response": np.arange(120),
                    "situation": np.arange(120) // 2,
                    "rater": [f"p{(n * 7 + number * 13) % 24}" for n in range(120)],
                    "rating": quality + rng.normal(0, 1.0, 120),
                    "prediction": judge,
                    "lean": words,
                }
            )
            for number in range(2)
        )
        found = scaled_bias(frame, "lean")
        tested += not math.isnan(found.p)
        rejected += found.p < 0.05
    assert tested > 75
    assert rejected <= 0.09 * tested


def test_without_a_difference_there_is_nothing_to_compare() -> None:
    frame = rated(3, scale=1, own=0).with_columns(lean=pl.lit(1.0))
    found = scaled_bias(frame, "lean", rater=None)
    assert math.isnan(found.estimate)
    assert found.note == note("nothing_to_compare")


def test_rows_with_something_missing_are_left_out_and_counted() -> None:
    frame = rated(3, scale=1, own=0)
    holed = frame.with_columns(
        rating=pl.when(pl.int_range(pl.len()) < 10).then(None).otherwise("rating")
    )
    found = scaled_bias(holed, "lean", rater=None)
    assert (found.n, found.dropped) == (590, 10)


def test_a_value_that_is_nan_counts_as_missing() -> None:
    frame = rated(3, scale=0.4, own=0.5, noise=1.0).with_columns(
        rating=pl.when(pl.int_range(pl.len()) != 5).then("rating").otherwise(math.nan)
    )
    assert scaled_bias(frame, "lean").dropped == 1
    assert leaning(frame) == leaning(frame.drop_nans())
