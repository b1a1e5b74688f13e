from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arms.means import ArmMean, MeanComparison, MeanDifference, compare_means
from empathylab.stats.notes import note
from tests.stats.arms.reference_files import rated


def frame(human: list[float], model: list[float], raters: list[str] | None = None) -> pl.DataFrame:
    names = raters or [f"r{k}" for k in range(len(human) + len(model))]
    arms = ["human"] * len(human) + ["model"] * len(model)
    return pl.DataFrame({"rater": names, "arm": arms, "rating": human + model})


def overall(found: MeanComparison) -> tuple[list[ArmMean], list[MeanDifference]]:
    return (
        [mean for mean in found.means if mean.kind == "all"],
        [difference for difference in found.differences if difference.kind == "all"],
    )


def test_one_rating_per_rater_gives_students_interval_of_a_mean() -> None:
    # By hand: 40, 50, 60 have mean 50 and SD 10; t(2) at 97.5% is 4.302653.
    (human, _), _ = overall(compare_means(frame([40, 50, 60], [70, 80])))
    assert human.mean.estimate == 50
    assert human.sd == 10
    assert human.mean.high - 50 == pytest.approx(4.302653 * 10 / math.sqrt(3), rel=1e-6)


def test_a_difference_is_the_arm_less_the_reference() -> None:
    _, (gap,) = overall(compare_means(frame([40, 50, 60], [70, 80])))
    assert gap.difference.estimate == pytest.approx(25)
    assert (gap.arm, gap.reference, gap.n, gap.n_reference) == ("model", "human", 2, 3)
    # Welch's degrees of freedom at equal variances: (1/2 + 1/3)² / (1/4 + 1/18).
    assert gap.df == pytest.approx((5 / 6) ** 2 / (1 / 4 + 1 / 18))


def test_means_and_differences_are_those_of_r() -> None:
    """Means: tests/reference/arm_means.R; differences, with CR2: tests/reference/cr2.R."""
    means, gaps = overall(compare_means(rated()))
    assert [tuple(mean.mean) for mean in means] == [
        pytest.approx((2.000000000, 1.830666964, 2.169333036)),
        pytest.approx((2.473214286, 2.307610695, 2.638817876)),
        pytest.approx((2.267857143, 2.072539339, 2.463174947)),
    ]
    assert [tuple(gap.difference) for gap in gaps] == [
        pytest.approx((0.4732142857, 0.2437429497, 0.7026856217)),
        pytest.approx((0.2678571429, 0.0174912811, 0.5182230046)),
    ]
    assert [gap.t for gap in gaps] == pytest.approx([4.177637986, 2.167352353])
    assert [gap.p for gap in gaps] == pytest.approx([1.709971439e-04, 0.036680197])
    assert [gap.g.estimate for gap in gaps] == pytest.approx([0.6164889449, 0.3314978407])
    assert [gap.p_holm for gap in gaps] == pytest.approx([3.419942878e-04, 0.036680197])


def test_the_standardised_interval_is_the_differences_in_other_units() -> None:
    _, (gap, _) = overall(compare_means(rated()))
    unit = gap.g.estimate / gap.difference.estimate
    assert gap.g.low == pytest.approx(gap.difference.low * unit)
    assert gap.g.high == pytest.approx(gap.difference.high * unit)


def test_raters_of_both_arms_take_their_own_level_out_of_the_difference() -> None:
    raters = ["a", "b", "c"]
    within = compare_means(frame([10, 50, 90], [21, 60, 99], raters * 2))
    between = compare_means(frame([10, 50, 90], [21, 60, 99]))
    assert within.differences[0].p < 0.05 < between.differences[0].p


def test_means_come_by_valence_and_emotion_where_they_are_known() -> None:
    found = compare_means(rated())
    assert {mean.kind for mean in found.means} == {"all", "valence", "emotion"}
    sizes = {difference.kind: difference.family_size for difference in found.differences}
    assert sizes == {"all": 2, "valence": 4, "emotion": 8}


def test_ratings_that_are_all_the_same_are_called_constant() -> None:
    found = compare_means(frame([2, 2], [2, 2]))
    assert found.constant
    assert found.differences[0].difference.estimate == 0
    assert math.isnan(found.differences[0].p)
    assert math.isnan(found.differences[0].g.estimate)


def test_a_single_rater_gives_means_without_intervals() -> None:
    found = compare_means(frame([1, 2], [3, 5], ["r"] * 4))
    assert found.means[0].mean.estimate == 1.5
    assert math.isnan(found.means[0].mean.low)
    assert found.differences[0].note == note("arm_with_one_rater")


def test_gaps_are_left_out_and_counted() -> None:
    table = frame([1.0, math.nan, 3.0], [3.0, 5.0]).with_columns(
        arm=pl.when(pl.col("rater") == "r4").then(None).otherwise(pl.col("arm"))
    )
    found = compare_means(table)
    assert found.dropped == 2
    assert [mean.n for mean in found.means] == [2, 1]


def test_no_ratings_and_unknown_arms_are_one_sentence() -> None:
    with pytest.raises(InputError, match="no ratings"):
        compare_means(frame([], []).cast({"rating": pl.Float64}))
    with pytest.raises(UnknownName, match="'human'"):
        compare_means(frame([1], [2]), reference="humam")
    with pytest.raises(UnknownName, match="'rating'"):
        compare_means(frame([1], [2]), rating="ratng")
