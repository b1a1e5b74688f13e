"""The published analysis of Welivita & Pu (2024), from the file they released."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from empathylab.stats.arms import (
    BAD_OKAY_GOOD,
    ArmComparison,
    ArmTest,
    compare_arms,
    compare_paired_arms,
)

pytestmark = pytest.mark.shared_data

ARMS = ("human", "chatgpt_empathy")


@pytest.fixture(scope="module")
def ratings(shared_data: Path) -> pl.DataFrame:
    released = pl.read_csv(shared_data / "welivita" / "dataset_and_ratings.csv")
    return pl.concat(
        released.select(
            rater=f"annotator_{arm}",
            situation="dialog_id",
            arm=pl.lit(arm),
            rating=f"rating_{arm}",
            emotion="emotion",
            valence="sentiment",
        )
        for arm in ARMS
    )


@pytest.fixture(scope="module")
def comparison(ratings: pl.DataFrame) -> ArmComparison:
    return compare_arms(ratings, BAD_OKAY_GOOD)


def of(comparison: ArmComparison, subset: str) -> ArmTest:
    return next(test for test in comparison.tests if test.subset == subset)


@pytest.mark.parametrize(
    ("arm", "subset", "counts"),
    [
        ("human", "all", [342, 672, 986]),
        ("human", "positive", [133, 294, 454]),
        ("human", "negative", [209, 378, 532]),
        ("chatgpt_empathy", "all", [142, 563, 1295]),
        ("chatgpt_empathy", "positive", [34, 228, 619]),
        ("chatgpt_empathy", "negative", [108, 335, 676]),
    ],
)
def test_the_published_counts(
    comparison: ArmComparison, arm: str, subset: str, counts: list[int]
) -> None:
    found = next(count for count in comparison.counts if (count.arm, count.subset) == (arm, subset))
    assert list(found.counts.values()) == counts


@pytest.mark.parametrize(
    ("subset", "chi2"), [("all", 96.77), ("positive", 64.10), ("negative", 36.78)]
)
def test_the_published_chi_squares(comparison: ArmComparison, subset: str, chi2: float) -> None:
    found = of(comparison, subset).test
    assert round(found.chi2, 2) == chi2
    assert (found.df, found.correction, found.method) == (1, "yates", "chi-square")


def test_the_published_relative_gain(comparison: ArmComparison) -> None:
    found = of(comparison, "all")
    assert round(found.relative_gain_percent.estimate, 1) == 31.3
    assert found.risk_difference.estimate == 0.1545


EMOTIONS = {
    "apprehensive": 20.72,
    "impressed": 10.62,
    "surprised": 10.33,
    "anxious": 9.20,
    "grateful": 8.36,
    "proud": 7.70,
    "confident": 6.86,
    "annoyed": 6.62,
    "joyful": 6.34,
    "content": 6.02,
    "excited": 5.41,
    "afraid": 3.91,
}


def test_the_published_emotions_are_the_significant_ones(comparison: ArmComparison) -> None:
    emotions = [test for test in comparison.tests if test.kind == "emotion"]
    assert len(emotions) == 32
    found = {
        emotion.subset.removeprefix("emotion:"): round(emotion.test.chi2, 2)
        for emotion in emotions
        if emotion.p < 0.05
    }
    assert found == EMOTIONS


def test_twelve_ten_and_three_emotions_are_significant(comparison: ArmComparison) -> None:
    emotions = [test for test in comparison.tests if test.kind == "emotion"]
    assert {emotion.family_size for emotion in emotions} == {32}
    assert [
        sum(getattr(emotion, way) < 0.05 for emotion in emotions) for way in ("p", "p_bh", "p_holm")
    ] == [12, 10, 3]
    gain = of(comparison, "emotion:apprehensive").relative_gain_percent.estimate
    assert round(gain) == 104


def test_the_rater_iccs_are_the_known_ones(comparison: ArmComparison) -> None:
    found = of(comparison, "all").clustered
    assert (round(found.icc_reference, 2), round(found.icc, 2)) == (0.02, 0.10)


def test_the_plain_test_overstates_by_half(comparison: ArmComparison) -> None:
    found = of(comparison, "all")
    assert found.clustered.design_effect == pytest.approx(1.52, abs=0.005)
    assert found.clustered.p > found.p


def test_every_situation_pairs_the_arms(ratings: pl.DataFrame) -> None:
    found = compare_paired_arms(ratings, BAD_OKAY_GOOD).tests[0]
    assert (found.n, found.dropped, found.good, found.good_reference) == (2000, 0, 1295, 986)


@pytest.mark.parametrize(
    ("good", "chi2"), [(1219, 54.40), (1192, 42.36), (1081, 8.85), (1295, 96.77)]
)
def test_the_other_arms_good_counts_give_their_chi_squares(good: int, chi2: float) -> None:
    from empathylab.stats.arms import independence_test

    found = independence_test([[good, 2000 - good], [986, 2000 - 986]])
    assert round(found.chi2, 2) == chi2
