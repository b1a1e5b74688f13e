"""All differences at once are those of each two by themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arms.mean_differences import (
    _Errors,
    _Pooled,
    prediction_powered_differences,
)
from empathylab.stats.judges.powered_parts import Plan, part_of
from empathylab.stats.judges.prediction_powered import prediction_powered_difference


def rated(seed: int = 4) -> pl.DataFrame:
    """Five arms that share some situations and raters; of two, a judge has rated more replies."""
    rng = np.random.default_rng(seed)
    rows = []
    for arm, size in zip("abcde", (12, 30, 25, 40, 18), strict=True):
        start = 5 * "abcde".index(arm)
        for number in range(size):
            judged = arm in "bd"
            told = float(rng.uniform(1, 3)) if judged else 0.0
            alone = judged and number % 3 == 0
            rows.append(
                {
                    "arm": arm,
                    "situation": f"s{(start + number) % 31}" if number != 7 else None,
                    "rater": None if alone else f"p{(start + number) // 6}",
                    "rating": None if alone else float(rng.integers(1, 4)),
                    "prediction": told,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.mark.parametrize("limits", [(1.0, 3.0), None])
@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_each_pair_is_as_it_is_by_itself(
    limits: tuple[float, float] | None, confidence: float
) -> None:
    frame = rated()
    found = prediction_powered_differences(frame, limits=limits, confidence=confidence)
    assert found.arms == tuple("abcde")
    for one, other in itertools.permutations(range(5), 2):
        pair = prediction_powered_difference(
            frame, found.arms[one], found.arms[other], limits=limits, confidence=confidence
        )
        got = (found.estimate[one, other], found.low[one, other], found.high[one, other])
        assert got == pytest.approx((pair.estimate, pair.low, pair.high), rel=0, abs=1e-12)


def test_what_two_share_is_counted_over_peoples_ratings() -> None:
    frame = rated()
    found = prediction_powered_differences(frame, limits=(1.0, 3.0))
    people = frame.filter(pl.col("rating").is_not_null())
    for table, column in ((found.situations, "situation"), (found.raters, "rater")):
        held = [set(people.filter(arm=arm)[column].drop_nulls()) for arm in found.arms]
        for one, other in itertools.combinations(range(5), 2):
            assert table[one, other] == len(held[one] & held[other])


def test_arms_rated_alike_by_the_same_people_are_as_sure_as_by_themselves() -> None:
    # The error of their difference is nothing at all, and must not be rounding's root.
    own = rated().filter(arm="a").drop_nulls("situation")
    frame = pl.concat([own, own.with_columns(arm=pl.lit("z"))])
    free = prediction_powered_differences(frame)
    ends = (free.estimate[0, 1], free.low[0, 1], free.high[0, 1])
    assert ends == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    held = prediction_powered_differences(frame, limits=(1.0, 3.0))
    pair = prediction_powered_difference(frame, "a", "z", limits=(1.0, 3.0))
    assert (held.low[0, 1], held.high[0, 1]) == pytest.approx((pair.low, pair.high), abs=1e-12)


def test_an_arm_rated_by_one_person_has_the_whole_scale() -> None:
    frame = rated().with_columns(
        rater=pl.when(pl.col("arm") == "a").then(pl.lit("p0")).otherwise("rater")
    )
    found = prediction_powered_differences(frame, limits=(1.0, 3.0))
    pair = prediction_powered_difference(frame, "a", "b", limits=(1.0, 3.0))
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((pair.low, pair.high), abs=1e-12)
    assert math.isnan(found.low[0, 0])


def test_rows_without_an_arm_are_ignored() -> None:
    frame = rated()
    nobody = frame.head(9).with_columns(arm=pl.lit(None, dtype=pl.String))
    found = prediction_powered_differences(pl.concat([frame, nobody]))
    expected = prediction_powered_differences(frame).estimate
    assert found.estimate == pytest.approx(expected, nan_ok=True)
    with pytest.raises(InputError, match="there are no ratings"):
        prediction_powered_differences(nobody)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(UnknownName, match="arm"):
        prediction_powered_differences(rated().drop("arm"))


def shared_raters(seed: int, raters: int) -> pl.DataFrame:
    """Five arms that do not differ, rated by the same few people on 20 situations."""
    rng = np.random.default_rng(seed)
    rater, turn = np.divmod(np.arange(20 * raters), 20)
    arm = turn % 5
    situation = np.concatenate([rng.permutation(20) for _ in range(raters)])
    latent = 0.7 * rng.normal(size=raters)[rater] + 0.5 * rng.normal(size=20)[situation]
    latent += 0.3 * rng.normal(size=(raters, 5))[rater, arm] + rng.logistic(size=len(rater))
    return pl.DataFrame(
        {
            "arm": arm.astype(str),
            "rater": rater.astype(str),
            "situation": situation.astype(str),
            "rating": (latent > 0.2).astype(float),
            "prediction": 0.0,
        }
    )


def test_a_few_raters_of_all_arms_seldom_find_a_difference_where_there_is_none() -> None:
    # Without the margin for shared raters, 10 of 40 such studies claim one at least.
    pairs = np.triu_indices(5, 1)
    claimed = 0
    for seed in range(40):
        found = prediction_powered_differences(
            shared_raters(seed, 6), limits=(0.0, 1.0), confidence=1 - 0.05 / 10
        )
        claimed += bool(((found.low > 0) | (found.high < 0))[pairs].any())
    assert claimed <= 4


def test_arms_rated_once_by_all_raters_have_the_error_of_the_analysis_of_variance() -> None:
    # 6 raters rate 4 arms once each, always in another situation: the variance of a difference is
    # twice the mean square of raters by arms over the raters, with (6 − 1)(4 − 1) degrees.
    rng = np.random.default_rng(8)
    values = rng.normal(size=(6, 4)) + rng.normal(size=(6, 1))
    rater, arm = np.divmod(np.arange(24), 4)
    frame = pl.DataFrame(
        {
            "arm": arm.astype(str),
            "rater": rater.astype(str),
            "situation": np.arange(24).astype(str),
            "rating": values.ravel(),
            "prediction": 0.0,
        }
    )
    rest = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    square = float((rest**2).sum()) / 15
    plan = Plan("rating", "prediction", "rater", "situation", None, False, None)
    ways = plan.clusters(frame)
    parts = [part_of(frame, plan, ways, name, arm == int(name)) for name in "0123"]
    found = _Pooled.of(parts, _Errors.of(parts, people=True), np.full((4, 4), 6))
    assert found is not None
    assert (found.errors[np.triu_indices(4, 1)] ** 2).mean() == pytest.approx(2 * square / 6)
    assert 7 < found.df < 15


@pytest.mark.parametrize("column", ["rating", "rater", "situation"])
def test_shared_raters_where_nothing_varies_have_the_whole_scale_or_no_difference(
    column: str,
) -> None:
    same = pl.lit(1.0 if column == "rating" else "1").alias(column)
    found = prediction_powered_differences(
        shared_raters(2, 5).with_columns(same), limits=(0.0, 1.0)
    )
    upper = np.triu_indices(5, 1)
    assert (found.low[upper] <= 0).all()
    assert (found.high[upper] >= 0).all()


def test_a_large_difference_between_arms_of_few_raters_is_found() -> None:
    frame = shared_raters(1, 12).with_columns(
        rating=pl.when(pl.col("arm") == "0").then(pl.lit(1.0)).otherwise(pl.col("rating") * 0.2)
    )
    found = prediction_powered_differences(frame, limits=(0.0, 1.0), confidence=1 - 0.05 / 10)
    assert (found.low[0, 1:] > 0).all()
