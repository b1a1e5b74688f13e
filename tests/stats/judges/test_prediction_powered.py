"""Prediction-powered means and differences."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.judges.prediction_powered import (
    prediction_powered_difference,
    prediction_powered_mean,
)
from empathylab.stats.notes import note

Z = 1.959963984540054
T39 = 2.0226909200367604  # Student's t, 39 degrees of freedom, 97.5%


def people(i: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 + (i * 7 + i // 5) % 5)


def judge(i: np.ndarray) -> np.ndarray:
    return np.clip(people(i) + (i * 3) % 4 - 1, 1, 5).astype(float)


def arithmetic() -> pl.DataFrame:
    """Forty rated and 360 unrated responses, as in tests/reference/prediction_powered.py."""
    i = np.arange(400)
    return pl.DataFrame({"rating": people(i), "prediction": judge(i), "number": i}).with_columns(
        rating=pl.when(pl.col("number") < 40).then(pl.col("rating"))
    )


@pytest.mark.parametrize(
    ("trust", "estimate", "low", "high"),
    # ppi-python 0.2.3, ppi_mean_pointestimate and ppi_mean_ci.
    [
        (0.0, 3.0, 2.5617387297117094, 3.4382612702882906),
        (0.5, 2.9722222222222223, 2.6737389402401703, 3.2707055042042743),
        (1.0, 2.9444444444444446, 2.6105641085876328, 3.2783247803012565),
        (None, 2.9575662762022192, 2.665539703207264, 3.2495928491971746),
    ],
)
def test_without_clusters_it_is_the_estimate_of_ppi_python(
    trust: float | None, estimate: float, low: float, high: float
) -> None:
    found = prediction_powered_mean(arithmetic(), trust=trust, rater=None, situation=None)
    assert found.estimate == pytest.approx(estimate, abs=1e-12)
    # ppi-python divides sums of squares by n, we by n − 1, and it has the normal quantile.
    i = np.arange(400)
    weight = found.trust[0]
    rated = (people(i) - weight * judge(i))[:40].var() / 40
    unrated = weight**2 * judge(i)[40:].var() / 360
    assert (high - low) / 2 / Z == pytest.approx(math.sqrt(rated + unrated), rel=1e-9)
    assert found.se == pytest.approx(math.sqrt(rated * 40 / 39 + unrated * 360 / 359), rel=1e-9)
    assert found.high - found.estimate == pytest.approx(T39 * found.se)
    assert (found.n, found.n_judged, found.df) == (40, 360, 39)


def test_the_estimate_by_hand() -> None:
    # People 2 and 4, the judge 1 and 3 there and 3 elsewhere: 3 + 1 · (3 − 2).
    frame = pl.DataFrame({"rating": [2, 4, None], "prediction": [1, 3, 3]})
    found = prediction_powered_mean(frame, trust=1, rater=None, situation=None)
    assert found.estimate == 4
    assert found.people_estimate == 3


def test_people_alone_are_reported_beside_it() -> None:
    found = prediction_powered_mean(arithmetic(), rater=None, situation=None)
    alone = prediction_powered_mean(arithmetic(), trust=0, rater=None, situation=None)
    assert found.people_estimate == alone.estimate
    assert found.people_se == alone.se
    assert found.width_ratio < 1


def test_a_judge_that_knows_nothing_is_not_trusted() -> None:
    frame = arithmetic().with_columns(prediction=(pl.col("number") * 13 % 7).cast(pl.Float64))
    frame = frame.with_columns(prediction=-pl.col("rating").fill_null(3) + pl.col("prediction"))
    found = prediction_powered_mean(frame, rater=None, situation=None)
    assert found.trust == (0,)
    assert found.estimate == found.people_estimate
    assert note("judge_adds_nothing") in found.notes


def test_without_unrated_responses_it_is_peoples_mean_and_says_so() -> None:
    frame = arithmetic().filter(pl.col("number") < 40)
    found = prediction_powered_mean(frame, rater=None, situation=None)
    assert found.estimate == 3
    assert note("nothing_judged_alone") in found.notes


def test_trust_without_unrated_responses_changes_nothing() -> None:
    frame = arithmetic().filter(pl.col("number") < 40)
    found = prediction_powered_mean(frame, rater=None, situation=None, trust=1.0)
    assert (found.trust, found.se) == ((0.0,), found.people_se)


def test_rows_without_a_prediction_are_left_out_and_counted() -> None:
    frame = arithmetic().with_columns(
        prediction=pl.when(pl.col("number") != 3).then(pl.col("prediction"))
    )
    found = prediction_powered_mean(frame, rater=None, situation=None)
    assert (found.n, found.dropped) == (39, 1)


def test_ratings_of_one_rater_count_as_one_when_they_are_all_alike() -> None:
    # Each rater gives one value five times: the standard error is that of the raters' means.
    values = np.repeat([1.0, 2.0, 4.0, 5.0], 5)
    frame = pl.DataFrame(
        {"rating": values, "prediction": np.zeros(20), "rater": np.repeat(list("abcd"), 5)}
    )
    found = prediction_powered_mean(frame, situation=None)
    assert found.se == pytest.approx(np.std([1, 2, 4, 5], ddof=1) / 2)
    assert found.df == 3
    assert note("few_clusters", clusters=4) in found.notes


def test_shared_situations_sharpen_a_difference() -> None:
    rng = np.random.default_rng(1)
    level = rng.normal(size=50)
    frame = pl.DataFrame(
        {
            "arm": ["a"] * 50 + ["b"] * 50,
            "situation": list(range(50)) * 2,
            "rating": np.concatenate([level + 1, level + 0.1 * rng.normal(size=50)]),
            "prediction": np.zeros(100),
        }
    )
    found = prediction_powered_difference(frame, "a", "b", rater=None)
    apart = (frame["rating"][:50] - frame["rating"][50:]).to_numpy()
    assert found.estimate == pytest.approx(apart.mean())
    assert found.se == pytest.approx(apart.std(ddof=1) / math.sqrt(50))


def test_a_difference_is_one_mean_less_the_other_with_their_variances_added() -> None:
    frame = arithmetic().with_columns(
        arm=pl.when(pl.col("number") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    found = prediction_powered_difference(frame, "a", "b", rater=None, situation=None)
    a, b = (
        prediction_powered_mean(frame.filter(arm=name), rater=None, situation=None) for name in "ab"
    )
    assert found.estimate == pytest.approx(a.estimate - b.estimate)
    assert found.se == pytest.approx(math.hypot(a.se, b.se), rel=0.01)
    assert found.trust == (*a.trust, *b.trust)


def test_all_rows_rated_leave_no_chance_in_a_finite_population() -> None:
    frame = arithmetic().filter(pl.col("number") < 40)
    found = prediction_powered_mean(frame, rater=None, situation=None, finite=True)
    assert found.low == found.estimate == found.high


def test_the_finite_standard_error_of_people_by_hand() -> None:
    # 40 of 400: the plain one times √(1 − 40/400).
    found = prediction_powered_mean(arithmetic(), rater=None, situation=None, finite=True)
    plain = prediction_powered_mean(arithmetic(), rater=None, situation=None)
    assert found.estimate == plain.estimate
    assert found.people_se == pytest.approx(plain.people_se * math.sqrt(0.9))


def test_the_finite_interval_covers_in_repeated_samples_of_the_same_rows() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(size=600)
    judged = values + rng.normal(size=600)
    held, runs = 0, 400
    for _ in range(runs):
        chosen = np.zeros(600, dtype=bool)
        chosen[rng.choice(600, 200, replace=False)] = True
        frame = pl.DataFrame({"rating": values, "prediction": judged, "chosen": chosen})
        frame = frame.with_columns(rating=pl.when("chosen").then("rating"))
        found = prediction_powered_mean(frame, rater=None, situation=None, finite=True)
        held += found.low <= values.mean() <= found.high
    # 95% of 400, give or take three standard errors.
    assert 0.917 <= held / runs <= 0.983


def shares(good: list[float], judged: int = 50) -> pl.DataFrame:
    size = len(good)
    return pl.DataFrame(
        {
            "rating": [*good, *[None] * judged],
            "prediction": [(index * 7 % 5) / 5 for index in range(size + judged)],
            "rater": [*(f"r{index}" for index in range(size)), *[None] * judged],
            "situation": [f"s{index}" for index in range(size + judged)],
        }
    )


def test_alike_ratings_do_not_make_it_certain() -> None:
    found = prediction_powered_mean(shares([1.0] * 16), limits=(0, 1))
    # By hand, Wilson: n / (n + t²) with 15 degrees of freedom.
    t = 2.131449545559323
    assert (found.low, found.high) == pytest.approx((16 / (16 + t**2), 1))
    assert found.half_width(0.99) > 1 - found.low
    # Four raters of four replies each are worth four ratings, while they all agree.
    fewer = shares([1.0] * 16).with_columns(rater=pl.col("rater").str.replace_all("r1", "r"))
    assert prediction_powered_mean(fewer, limits=(0, 1)).low < found.low


def test_away_from_the_ends_the_scale_changes_little() -> None:
    frame = arithmetic()
    plain = prediction_powered_mean(frame, rater=None, situation=None)
    within = prediction_powered_mean(frame, rater=None, situation=None, limits=(1, 5))
    assert (within.estimate, within.se) == (plain.estimate, plain.se)
    assert within.low == pytest.approx(plain.low, abs=0.02)
    assert within.high == pytest.approx(plain.high, abs=0.02)


def test_one_rater_alone_leaves_the_whole_scale_open() -> None:
    frame = shares([1.0, 0.0] * 8).with_columns(rater=pl.lit("ann"))
    found = prediction_powered_mean(frame, limits=(0, 1))
    assert (found.low, found.high) == (0, 1)


def test_a_difference_from_alike_ratings_has_a_width() -> None:
    frame = pl.concat(
        [
            shares([1.0] * 16, 0).with_columns(arm=pl.lit("a")),
            shares([1.0, 0.0] * 8, 0).with_columns(arm=pl.lit("b"), rater=pl.col("rater") + "b"),
        ]
    )
    plain = prediction_powered_difference(frame, "a", "b")
    within = prediction_powered_difference(frame, "a", "b", limits=(0, 1))
    assert within.estimate == plain.estimate == 0.5
    assert 0 < within.low < plain.low
    a, b = (prediction_powered_mean(frame.filter(arm=item), limits=(0, 1)) for item in "ab")
    assert within.low == pytest.approx(0.5 - math.hypot(1 - a.low, b.high - 0.5))


@pytest.mark.parametrize(("share", "size"), [(0.8, 10), (0.9, 20), (0.95, 10), (0.95, 50)])
def test_the_interval_of_a_share_covers_near_the_end(share: float, size: int) -> None:
    """By the standard error alone, 38% held the truth at a share of 0.95 with 10 ratings."""
    rng = np.random.default_rng(2)
    draws = [shares((rng.random(size) < share).astype(float).tolist()) for _ in range(200)]
    found = [prediction_powered_mean(draw, limits=(0, 1)) for draw in draws]
    assert np.mean([item.low <= share <= item.high for item in found]) >= 0.93
    assert all(item.high > item.low for item in found)


def test_too_few_human_ratings_are_refused() -> None:
    frame = arithmetic().with_columns(rating=pl.lit(None, dtype=pl.Float64))
    with pytest.raises(InputError, match="at least 2 ratings by people; got 0"):
        prediction_powered_mean(frame, rater=None, situation=None)


def test_an_unknown_arm_gets_the_nearest() -> None:
    frame = arithmetic().with_columns(arm=pl.lit("human"))
    with pytest.raises(UnknownName, match="Did you mean 'human'"):
        prediction_powered_difference(frame, "humen", "human", rater=None, situation=None)


def test_trust_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="trust"):
        prediction_powered_mean(arithmetic(), trust=2, rater=None, situation=None)


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(UnknownName, match="rater"):
        prediction_powered_mean(arithmetic())


def study(rng: np.random.Generator, *, rated: int) -> tuple[pl.DataFrame, float]:
    """The same situations in two arms, each with its own raters who rate several; and the truth."""
    situations, raters = 300, 40
    level = rng.normal(size=situations) * 0.6
    rows = []
    for arm, effect in (("new", 0.4), ("old", 0.0)):
        quality = effect + level + rng.normal(size=situations) * 0.6
        prediction = 0.3 + 0.8 * quality + rng.normal(size=situations) * 0.4
        lean = rng.normal(size=raters) * 0.5
        rater = rng.integers(raters, size=situations)
        rating = quality + lean[rater] + rng.normal(size=situations) * 0.8
        chosen = np.zeros(situations, dtype=bool)
        chosen[rng.choice(situations, rated, replace=False)] = True
        rows.append(
            pl.DataFrame(
                {
                    "arm": arm,
                    "situation": np.arange(situations),
                    "rater": [f"{arm}{item}" for item in rater],
                    "rating": [
                        float(one) if kept else None
                        for one, kept in zip(rating, chosen, strict=True)
                    ],
                    "prediction": prediction,
                }
            )
        )
    return pl.concat(rows), 0.4


@pytest.mark.slow
def test_the_interval_covers_and_is_narrower_than_that_of_people_alone() -> None:
    runs, held, ratios = 300, 0, []
    for seed in range(runs):
        frame, truth = study(np.random.default_rng(seed), rated=60)
        found = prediction_powered_difference(frame, "new", "old")
        held += found.low <= truth <= found.high
        ratios.append(found.width_ratio)
    # 95% of 300, give or take three standard errors.
    assert 0.912 <= held / runs <= 0.988
    assert np.mean(ratios) < 0.95
