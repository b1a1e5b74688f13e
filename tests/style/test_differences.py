"""Differences between respondents per feature, with the situation as the cluster."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.style import differences
from empathylab.style.differences import (
    FeatureDifference,
    feature_differences,
    feature_profile,
)

A = [3.0, 5, 4, 8, 6, 7, 2, 9]
B = [2.0, 4, 5, 5, 3, 6, 2, 4]


def frame(**sides: dict[str, float | None]) -> pl.DataFrame:
    rows = [
        {"respondent": name, "situation": situation, "marks": value}
        for name, values in sides.items()
        for situation, value in values.items()
    ]
    return pl.DataFrame(rows, schema={"respondent": str, "situation": str, "marks": float})


def numbered(values: list[float], start: int = 0) -> dict[str, float | None]:
    return {f"s{start + i}": value for i, value in enumerate(values)}


def only(features: pl.DataFrame) -> FeatureDifference:
    [found] = feature_differences(features)
    return found


def test_shared_situations_are_paired_as_in_r() -> None:
    # tests/reference/style_clusters.R: t.test(a, b, paired = TRUE).
    found = only(frame(one=numbered(A), other=numbered(B)))
    assert found.paired
    assert (found.n, found.against_n, found.dropped) == (8, 8, 0)
    assert found.difference == pytest.approx(1.625)
    assert (found.p, found.low, found.high) == pytest.approx(
        (0.0481262385378, 0.0176579551592, 3.2323420448408), rel=1e-9
    )


def test_half_of_what_the_one_with_fewer_answered_is_enough_for_pairs() -> None:
    found = only(frame(one=numbered(A), other=numbered(B) | numbered(A + B, start=8)))
    assert (found.paired, found.n) == (True, 8)


def test_situations_not_shared_are_compared_by_welchs_test_as_in_r() -> None:
    # tests/reference/style_clusters.R: t.test(a, b[1:6]).
    found = only(frame(one=numbered(A), other=numbered(B[:6], start=50)))
    assert not found.paired
    assert (found.n, found.against_n) == (8, 6)
    assert (found.p, found.low, found.high) == pytest.approx(
        (0.230726252976, -0.972174132025, 3.638840798692), rel=1e-9
    )


def test_the_permutation_p_counts_all_flips() -> None:
    # Differences 1 1 −1 3 3 1 0 5 sum to 13; of the 2⁷ flips of the seven that are not 0, the sum
    # is ±15 for 2, and ±13 for those that flip exactly one 1 (8): 10 / 128.
    found = only(frame(one=numbered(A), other=numbered(B)))
    assert found.p_permutation == pytest.approx(10 / 128)


def test_samples_of_one_situation_count_once() -> None:
    once = frame(one=numbered(A), other=numbered(B))
    often = pl.concat([once, *[once.filter(pl.col("situation") == "s3")] * 5])
    assert only(often).p == pytest.approx(only(once).p)


def test_responses_without_counterpart_are_dropped_and_counted() -> None:
    found = only(frame(one=numbered([*A, 100.0, 200.0]), other=numbered(B)))
    assert (found.paired, found.n, found.dropped) == (True, 8, 2)
    assert found.mean == pytest.approx(sum(A) / 8)


def test_a_pair_with_a_missing_value_is_dropped() -> None:
    with_gap = {**numbered(B), "s0": None}
    found = only(frame(one=numbered(A), other=with_gap))
    assert (found.n, found.dropped) == (7, 2)


def test_the_effect_is_the_difference_over_the_mean_sd() -> None:
    found = only(frame(one=numbered(A), other=numbered(B)))
    within = math.sqrt((np.var(A, ddof=1) + np.var(B, ddof=1)) / 2)
    # The correction for 7 degrees of freedom, Γ(3.5) / (√3.5 Γ(3)).
    factor = math.gamma(3.5) / (math.sqrt(3.5) * math.gamma(3))
    assert found.effect == pytest.approx(factor * 1.625 / within)
    assert found.effect_low < found.effect < found.effect_high


def test_corrections_run_over_all_features_and_pairs() -> None:
    one = frame(one=numbered(A), other=numbered(B), third=numbered(A[::-1]))
    found = feature_differences(one.with_columns(doubled=pl.col("marks") * 2))
    assert len(found) == 6
    smallest = min(found, key=lambda each: each.p)
    assert smallest.p_holm == pytest.approx(min(1.0, 6 * smallest.p))


def test_against_one_respondent_gives_only_those_pairs() -> None:
    features = frame(one=numbered(A), other=numbered(B), third=numbered(A[::-1]))
    found = feature_differences(features, against="other")
    assert [(each.respondent, each.against) for each in found] == [
        ("one", "other"),
        ("third", "other"),
    ]


def test_sides_that_never_vary_are_told_apart_by_permutation() -> None:
    found = only(frame(one=numbered([1.0] * 8), other=numbered([0.0] * 8)))
    assert found.p == found.p_permutation == pytest.approx(2 / 2**8)


def test_constants_that_differ_in_the_last_digit_have_no_effect_size() -> None:
    # The mean of ten times 0.1 is not 0.1: what is left must not be taken for a spread.
    found = only(frame(one=numbered([0.1] * 10), other=numbered([0.7] * 10)))
    assert math.isnan(found.effect)


def test_sides_that_are_the_same_constant_have_p_1() -> None:
    found = only(frame(one=numbered([2.0] * 8), other=numbered([2.0] * 8)))
    assert (found.difference, found.p, found.p_permutation) == (0, 1, 1)
    assert math.isnan(found.effect)


def test_a_respondent_with_one_response_gives_no_p_from_t() -> None:
    found = only(frame(one={"s0": 3.0}, other=numbered(B)))
    assert not found.paired
    assert math.isnan(found.p)
    assert math.isnan(found.p_holm)


def test_one_respondent_alone_has_no_differences() -> None:
    assert feature_differences(frame(one=numbered(A))) == []


def test_no_responses_have_no_differences() -> None:
    assert feature_differences(frame()) == []


def test_the_seed_makes_it_repeatable() -> None:
    features = frame(one=numbered(A * 3), other=numbered(B * 3))
    first, again = (feature_differences(features, seed=5) for _ in range(2))
    assert first == again


def test_the_permutation_p_of_a_pair_does_not_depend_on_who_else_is_compared() -> None:
    generator = np.random.default_rng(3)
    sides = {name: numbered(list(generator.normal(size=30))) for name in "abc"}
    sides["elsewhere"] = numbered(list(generator.normal(size=25)), start=90)
    found = {(f.respondent, f.against): f for f in feature_differences(frame(**sides))}
    assert len(found) == 6
    for one, other in found:
        alone = only(frame(**{one: sides[one], other: sides[other]}))
        assert found[one, other].p_permutation == alone.p_permutation
        assert alone.p_permutation == pytest.approx(alone.p, abs=0.04)


def test_features_a_few_at_a_time_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    features = pl.DataFrame(
        {
            "respondent": np.repeat(["one", "other", "third"], 40),
            "situation": [f"s{number}" for number in [*range(40), *range(40), *range(90, 130)]],
            "marks": generator.normal(size=120),
            "words": generator.integers(0, 9, 120),
            "rare": [None if number % 5 else number / 3 for number in range(120)],
        }
    )
    whole = feature_differences(features, permutations=99)
    monkeypatch.setattr(differences, "_CELLS_AT_ONCE", 2 * 120)
    assert repr(feature_differences(features, permutations=99)) == repr(whole)
    monkeypatch.setattr(differences, "_CELLS_TOGETHER", 1)  # and each pair by itself
    assert repr(feature_differences(features, permutations=99)) == repr(whole)
    assert [found.dropped for found in whole[:3]] == [0, 0, 64]


def test_an_unknown_respondent_is_named_with_its_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'other'"):
        feature_differences(frame(one=numbered(A), other=numbered(B)), against="othr")


def test_a_missing_column_is_said() -> None:
    with pytest.raises(InputError, match="there is no column 'situation'"):
        feature_differences(pl.DataFrame({"respondent": ["a"]}))


def test_a_feature_that_is_no_number_is_said() -> None:
    features = frame(one=numbered(A)).with_columns(kind=pl.lit("x"))
    with pytest.raises(InputError, match="a feature must be numeric"):
        feature_differences(features, columns=["kind"])


def test_a_profile_is_the_distance_from_the_mean_of_all_by_hand() -> None:
    # Means 5.5 and 3.875, so 4.6875 in the middle.
    one, other = feature_profile(frame(one=numbered(A), other=numbered(B)))
    spread = np.std([*A, *B], ddof=1)
    assert (one.mean, other.mean) == (5.5, 3.875)
    assert one.standing == -other.standing == pytest.approx(0.8125 / spread)
    # R: t.test(c(3, 5, 4, 8, 6, 7, 2, 9))$conf.int prints 3.45217533 7.54782467.
    assert (one.high - one.low) * spread == pytest.approx(7.54782467 - 3.45217533, abs=1e-7)
    assert one.n == 8


def test_the_middle_does_not_depend_on_how_many_responses_each_has() -> None:
    few, many = feature_profile(frame(few=numbered([1.0, 3]), many=numbered([5.0, 7] * 20)))
    assert few.standing == pytest.approx(-many.standing)


def test_a_feature_that_never_varies_has_no_standing() -> None:
    [one] = feature_profile(frame(one=numbered([2.0] * 4)))
    assert math.isnan(one.standing)
    assert one.mean == 2


def test_no_responses_have_no_profile() -> None:
    assert feature_profile(frame()) == []
