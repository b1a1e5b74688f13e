from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.arms import (
    ClusteredDifference,
    clustered_difference,
    independence_test,
    one_way_icc,
    rao_scott,
)
from empathylab.stats.clusters import clustered_mean_difference
from empathylab.stats.notes import note
from tests.stats.arms.reference_files import R, paired, rated

TWO = ["human", "alpha"]
CR2: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "reference" / "cr2.json").read_text(encoding="utf-8")
)


def difference(frame: pl.DataFrame) -> ClusteredDifference:
    both = frame.filter(pl.col("arm").is_in(TWO))
    return clustered_difference(both["rating"] == 3, both["arm"] == "alpha", both["rater"])


def test_icc_by_hand() -> None:
    # Clusters (1, 1), (0, 0), (1, 0): means 1, 0, ½; between 1/2, within 1/6, m = 2:
    # (1/2 − 1/6) / (1/2 + 1/6) = ½.
    assert one_way_icc([1, 1, 0, 0, 1, 0], list("aabbcc")) == pytest.approx(0.5)


def test_icc_is_the_one_of_rs_analysis_of_variance() -> None:
    alpha = rated().filter(pl.col("arm") == "alpha")
    found = one_way_icc(alpha["rating"] == 3, alpha["rater"])
    assert found == pytest.approx(R["icc_alpha"], rel=1e-9)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [([], []), ([1, 0], ["a", "b"]), ([1, 0], ["a", "a"]), ([1, 1, 1, 1], ["a", "a", "b", "b"])],
)
def test_too_little_has_no_icc(values: list[float], clusters: list[str]) -> None:
    assert math.isnan(one_way_icc(values, clusters))


def test_rao_scott_of_good_ratings_is_that_of_rs_survey() -> None:
    both = rated().filter(pl.col("arm").is_in(TWO))
    result = rao_scott(both["arm"], both["rating"] == 3, both["rater"])
    expected = R["rao_scott_good"]
    assert result.f == pytest.approx(expected["f"], rel=1e-9)
    assert (result.df, result.df_denominator) == (pytest.approx(1), pytest.approx(39))
    assert result.p == pytest.approx(expected["p"], rel=1e-8)
    assert result.design_effect == pytest.approx(R["plain"]["statistic"] / expected["f"])


@pytest.mark.parametrize(
    ("frame", "arms", "name"),
    [
        (rated(), ["human", "alpha", "beta"], "rao_scott_full"),
        (paired(), TWO, "rao_scott_within"),
    ],
)
def test_rao_scott_of_all_ratings_is_that_of_rs_survey(
    frame: pl.DataFrame, arms: list[str], name: str
) -> None:
    kept = frame.filter(pl.col("arm").is_in(arms))
    result = rao_scott(kept["arm"], kept["rating"], kept["rater"])
    for part in ("f", "df", "df_denominator", "p"):
        assert getattr(result, part) == pytest.approx(R[name][part], rel=1e-8)


def test_every_rating_its_own_rater_leaves_the_chi_square_nearly_alone() -> None:
    rows, columns = [0] * 40 + [1] * 40, ([0, 1] * 20) + ([0, 1, 1, 1] * 10)
    result = rao_scott(rows, columns, range(80))
    assert result.design_effect == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("name", "frame"), [("between", rated()), ("within", paired())])
def test_the_clustered_difference_has_the_errors_of_whole_matrices_in_r(
    name: str, frame: pl.DataFrame
) -> None:
    # tests/reference/cr2.R made the numbers.
    result = difference(frame)
    assert result.difference.estimate == pytest.approx(CR2[name]["estimate"])
    assert result.se == pytest.approx(CR2[name]["se"], rel=1e-9)
    assert result.df == pytest.approx(CR2[name]["df"])


def test_raters_who_always_say_the_same_count_once() -> None:
    # 4 raters an arm, 5 equal ratings each: the variance is that of 8 ratings, so the design
    # effect is 5 times the G/(G − 1) of an arm's few raters.
    good = np.repeat([1, 1, 1, 0, 1, 0, 0, 0], 5)
    arm = np.repeat([1, 1, 1, 1, 0, 0, 0, 0], 5)
    result = clustered_difference(good, arm, np.repeat(range(8), 5))
    assert result.icc == pytest.approx(1)
    assert result.design_effect == pytest.approx(5 * 4 / 3)
    assert result.se == pytest.approx(math.sqrt(4 / 3 * 2 * 0.75 * 0.25 / 4))


def test_a_design_effect_above_one_widens_the_interval_and_raises_p() -> None:
    rng = np.random.default_rng(4)
    rater = np.repeat(range(60), 10)
    tendency = rng.normal(size=60)[rater]
    arm = rater < 30
    good = tendency + rng.logistic(size=600) + 0.5 * arm > 0
    clustered = clustered_difference(good, arm, rater)
    plain = independence_test(
        [
            [int((good & arm).sum()), int((~good & arm).sum())],
            [int((good & ~arm).sum()), int((~good & ~arm).sum())],
        ],
        yates=False,
    )
    assert clustered.design_effect > 1.5
    assert clustered.p > plain.p


@pytest.mark.parametrize(
    ("good", "arm", "raters", "code"),
    [
        ([1, 0], [True, True], ["a", "b"], "arm_without_rating"),
        ([1, 0, 1], [True, False, False], ["a", "b", "c"], "arm_with_one_rater"),
        (
            [1, 1, 1, 1],
            [True, True, False, False],
            list("abcd"),
            "constant_between_raters",
        ),
    ],
)
def test_what_cannot_be_compared_says_why(
    good: list[int], arm: list[bool], raters: list[str], code: str
) -> None:
    result = clustered_difference(good, arm, raters)
    assert math.isnan(result.p)
    assert result.note == note(code)


def test_one_rater_has_no_rao_scott_test() -> None:
    result = rao_scott(["a", "b"], [1, 2], ["x", "x"])
    assert math.isnan(result.p)
    assert result.note == note("fewer_than_two_raters")


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="differ in length"):
        clustered_difference([1, 0], [True, False], ["a"])


def test_situations_make_the_clustering_two_way() -> None:
    draw = np.random.default_rng(5)
    rater, situation = np.repeat(np.arange(20), 6), np.tile(np.arange(6), 20)
    arm = rater < 10
    values = draw.normal(size=12)[situation + 6 * arm] + draw.normal(size=120)
    one = clustered_difference(values, arm, rater)
    two = clustered_difference(values, arm, rater, situations=situation)
    whole = clustered_mean_difference(values, arm, [rater, situation])
    assert two.se == pytest.approx(whole.se)
    assert two.p == pytest.approx(whole.p)
    assert two.se > one.se
    alone = clustered_difference(values, arm, rater, situations=arm)
    assert alone.note == note("arm_with_one_situation")


def test_what_a_situation_adds_to_both_arms_cancels() -> None:
    """Where situations differ by whole points, their difference between arms does not."""
    draw = np.random.default_rng(6)
    rater, situation = np.repeat(np.arange(40), 8), np.tile(np.arange(8), 40)
    arm = rater < 20
    values = 3 * draw.normal(size=8)[situation] + draw.normal(size=320)
    paired = clustered_difference(values, arm, rater, situations=situation)
    reply = situation + 8 * arm
    unpaired = clustered_difference(values, arm, rater, situations=reply)
    assert paired.difference.estimate == pytest.approx(unpaired.difference.estimate)
    assert paired.se < unpaired.se / 3


def test_the_ids_of_situations_change_no_digit() -> None:
    draw = np.random.default_rng(8)
    rater, reply = np.repeat(np.arange(20), 6), draw.integers(0, 15, size=120)
    arm = rater < 10
    values = draw.normal(size=120)
    found = clustered_difference(values, arm, rater, situations=reply)
    for _ in range(20):
        elsewhere = draw.permutation(1000)[reply]
        assert clustered_difference(values, arm, rater, situations=elsewhere) == found
