from __future__ import annotations

import math

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arms import BAD_OKAY_GOOD, ArmTest, RatingScale, compare_arms
from empathylab.stats.notes import note
from tests.stats.arms.reference_files import R, rated


def alpha(subset: str) -> ArmTest:
    found = compare_arms(rated(), BAD_OKAY_GOOD).tests
    return next(item for item in found if (item.subset, item.arm) == (subset, "alpha"))


def rows(arm: str, ratings: list[float | None], **columns: object) -> pl.DataFrame:
    n = len(ratings)
    return pl.DataFrame(
        {
            "rater": [f"{arm}-{k // 2}" for k in range(n)],
            "situation": [f"s{k}" for k in range(n)],
            "arm": [arm] * n,
            "rating": pl.Series(ratings, dtype=pl.Float64),
        }
    ).with_columns(**{name: pl.lit(value) for name, value in columns.items()})


def test_counts_and_percentages_by_hand() -> None:
    frame = pl.concat([rows("human", [1, 2, 3, 3]), rows("model", [3, 3, 3, 1])])
    count = compare_arms(frame, BAD_OKAY_GOOD).counts[0]
    assert (count.arm, count.n, count.raters) == ("human", 4, 2)
    assert count.counts == {"Bad": 1, "Okay": 1, "Good": 2}
    assert count.percent == {"Bad": 25, "Okay": 25, "Good": 50}
    assert count.good_share.estimate == 0.5


def test_the_two_by_two_test_is_the_one_of_r() -> None:
    found = alpha("all")
    assert [found.good, found.n - found.good] == R["square"][0]
    assert found.test.chi2 == pytest.approx(R["yates"]["statistic"], rel=1e-12)
    assert found.test.correction == "yates"
    assert tuple(found.odds_ratio) == pytest.approx(R["odds_ratio"], rel=1e-6)
    assert found.ranks.p == pytest.approx(R["wilcoxon"]["p"], rel=1e-10)
    # tests/reference/cr2.R made the number.
    assert found.clustered.se == pytest.approx(0.06965243955138, rel=1e-9)


def test_all_arms_at_once_are_tested_as_r_does() -> None:
    overall = compare_arms(rated(), BAD_OKAY_GOOD).overall[0]
    assert overall.arms == ("human", "alpha", "beta")
    assert overall.categories.chi2 == pytest.approx(R["full"]["statistic"], rel=1e-12)
    assert overall.ranks.statistic == pytest.approx(R["kruskal"]["statistic"], rel=1e-10)
    assert overall.clustered.p == pytest.approx(R["rao_scott_full"]["p"], rel=1e-8)


def test_a_family_is_all_arms_on_the_subsets_of_one_kind() -> None:
    tests = compare_arms(rated(), BAD_OKAY_GOOD).tests
    sizes = {test.kind: test.family_size for test in tests}
    assert sizes == {"all": 2, "valence": 4, "emotion": 8}
    smallest = min((test for test in tests if test.kind == "emotion"), key=lambda item: item.p)
    assert smallest.p_holm == pytest.approx(8 * smallest.p)
    assert smallest.p_bonferroni == pytest.approx(8 * smallest.p)


def test_the_clustered_test_is_corrected_over_the_same_family() -> None:
    tests = compare_arms(rated(), BAD_OKAY_GOOD).tests
    smallest = min(
        (test for test in tests if test.kind == "emotion"), key=lambda item: item.clustered.p
    )
    assert smallest.clustered_p_holm == pytest.approx(8 * smallest.clustered.p)


def test_subsets_are_named_as_the_contract_says() -> None:
    names = list(dict.fromkeys(test.subset for test in compare_arms(rated(), BAD_OKAY_GOOD).tests))
    assert names == [
        "all",
        "negative",
        "positive",
        "emotion:afraid",
        "emotion:joyful",
        "emotion:proud",
        "emotion:sad",
    ]


def test_valences_add_up_to_all() -> None:
    parts = [alpha(name) for name in ("positive", "negative")]
    assert sum(part.good for part in parts) == alpha("all").good


def test_another_reference_turns_the_comparison_round() -> None:
    found = compare_arms(rated(), BAD_OKAY_GOOD, reference="alpha").tests[0]
    assert (found.arm, found.reference) == ("human", "alpha")
    assert found.risk_difference.estimate == pytest.approx(-alpha("all").risk_difference.estimate)


def test_columns_are_given_by_role() -> None:
    renamed = rated().rename({"arm": "source", "rating": "score", "rater": "worker"})
    found = compare_arms(renamed, BAD_OKAY_GOOD, arm="source", rating="score", rater="worker")
    assert found.tests[0].p == alpha("all").p


def test_dimensions_may_have_scales_of_their_own() -> None:
    five = RatingScale.between(1, 5, name="warmth", good_from=4)
    frame = pl.concat(
        [
            rows("human", [1, 2, 3, 3], dimension="empathy"),
            rows("model", [3, 3, 3, 1], dimension="empathy"),
            rows("human", [1, 4, 5, 3], dimension="warmth"),
            rows("model", [5, 5, 4, 1], dimension="warmth"),
        ]
    )
    found = compare_arms(frame, {"empathy": BAD_OKAY_GOOD, "warmth": five})
    assert [(test.dimension, test.good) for test in found.tests] == [("empathy", 3), ("warmth", 3)]
    assert [test.family_size for test in found.tests] == [1, 1]


def test_a_scale_of_a_hundred_points_is_cut_at_its_threshold() -> None:
    scale = RatingScale.between(1, 100, good_from=60)
    frame = pl.concat([rows("human", [10, 59, 60, 90]), rows("model", [61, 75, 99, 20])])
    found = compare_arms(frame, scale)
    assert found.counts[0].counts == {"below 60": 2, "60 or more": 2}
    assert found.tests[0].good == 3
    assert found.tests[0].test.method == "Fisher exact"


def test_rows_with_a_gap_are_dropped_and_counted() -> None:
    frame = pl.concat([rows("human", [1, 2, 3, None]), rows("model", [3, math.nan, 3, 1])])
    found = compare_arms(frame, BAD_OKAY_GOOD)
    assert found.dropped == {"empathy": 2}
    assert [count.n for count in found.counts] == [3, 3]


def test_ratings_may_be_text_that_reads_as_numbers() -> None:
    frame = rated().with_columns(pl.col("rating").cast(pl.String))
    assert compare_arms(frame, BAD_OKAY_GOOD).tests[0].p == alpha("all").p


def test_words_instead_of_numbers_are_refused() -> None:
    frame = rated().with_columns(rating=pl.lit("Good"))
    with pytest.raises(InputError, match="must contain numbers; got 'Good'"):
        compare_arms(frame, BAD_OKAY_GOOD)


def test_a_rating_the_scale_does_not_have_is_refused() -> None:
    frame = pl.concat([rows("human", [1, 2]), rows("model", [4, 3])])
    with pytest.raises(InputError, match=r"must be one of 1, 2, 3; got 4.0"):
        compare_arms(frame, BAD_OKAY_GOOD)


def test_a_rating_without_a_dimension_is_refused() -> None:
    frame = rated().with_columns(dimension=pl.lit(None, dtype=pl.String))
    with pytest.raises(InputError, match="336 ratings have no dimension"):
        compare_arms(frame, BAD_OKAY_GOOD)


def test_no_ratings_are_refused() -> None:
    with pytest.raises(InputError, match="there are no ratings"):
        compare_arms(rated().clear(), BAD_OKAY_GOOD)


def test_an_unknown_reference_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'human'"):
        compare_arms(rated(), BAD_OKAY_GOOD, reference="humans")


def test_a_missing_column_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'rating'"):
        compare_arms(rated(), BAD_OKAY_GOOD, rating="ratings")


def test_a_constant_rating_has_no_test_and_says_why() -> None:
    frame = pl.concat([rows("human", [2, 2, 2, 2]), rows("model", [2, 2, 2, 2])])
    found = compare_arms(frame, BAD_OKAY_GOOD).tests[0]
    assert math.isnan(found.p)
    assert math.isnan(found.p_holm)
    assert found.test.note == note("one_column")
    assert found.family_size == 0


def test_an_emotion_that_one_arm_lacks_does_not_count_in_the_family() -> None:
    frame = pl.concat(
        [
            rows("human", [1, 2, 3, 3], emotion="sad"),
            rows("model", [3, 3, 3, 1], emotion="sad"),
            rows("model", [3, 3, 3, 1], emotion="proud"),
        ]
    )
    found = [test for test in compare_arms(frame, BAD_OKAY_GOOD).tests if test.kind == "emotion"]
    assert [(item.subset, item.family_size) for item in found] == [
        ("emotion:proud", 1),
        ("emotion:sad", 1),
    ]
    assert math.isnan(found[0].p)
    assert math.isnan(found[0].risk_difference.estimate)


def test_one_rater_per_arm_leaves_no_clustered_test() -> None:
    frame = pl.concat(
        [rows("human", [1, 2]), rows("model", [3, 3])],
    )
    found = compare_arms(frame, BAD_OKAY_GOOD).tests[0]
    assert math.isnan(found.clustered.p)
    assert found.clustered.note == note("arm_with_one_rater")


def test_a_reference_alone_has_counts_and_no_tests() -> None:
    found = compare_arms(rows("human", [1, 2, 3]), BAD_OKAY_GOOD)
    assert len(found.counts) == 1
    assert found.tests == ()
    assert math.isnan(found.overall[0].categories.p)
