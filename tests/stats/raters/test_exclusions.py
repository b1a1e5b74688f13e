from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.raters.exclusions import (
    Exclusions,
    FailedAttention,
    Inconsistent,
    Rule,
    StraightLining,
    TooFast,
    apply_exclusions,
    declared,
    rules_from,
    with_and_without,
)

RATERS = pl.DataFrame(
    {
        "rater": ["a", "b", "c", "d"],
        "arm": ["human", "human", "model", "model"],
        "seconds": [600, 100, 500, None],
        "failed_attention": [0, 0, 2, 1],
        "inconsistencies": [0, 5, 4, 0],
    }
)
RATINGS = pl.DataFrame(
    {
        "rater": ["a"] * 5 + ["b"] * 5 + ["c"] * 5 + ["d"] * 2,
        "rating": [*(1, 2, 3, 1, 2), *(3, 3, 3, 3, 3), *(2, 2, 2, 2, 1), *(1, 1)],
    }
)


def excluded(*rules: Rule) -> list[str]:
    return [item.rater for item in apply(*rules).excluded]


def apply(*rules: Rule) -> Exclusions:
    return apply_exclusions(RATINGS, RATERS, rules)


def test_who_failed_an_attention_check_is_left_out() -> None:
    assert excluded(FailedAttention()) == ["c", "d"]
    assert excluded(FailedAttention(most=1)) == ["c"]


def test_failing_may_be_true_or_false() -> None:
    flagged = RATERS.with_columns(failed_attention=pl.Series([True, False, False, None]))
    found = apply_exclusions(RATINGS, flagged, [FailedAttention()])
    assert [item.rater for item in found.excluded] == ["a"]


def test_who_was_too_fast_in_seconds_is_left_out() -> None:
    assert excluded(TooFast(seconds=120)) == ["b"]


def test_who_was_too_fast_by_the_median_is_left_out() -> None:
    # The median of 100, 500 and 600 is 500, in both arms together.
    assert excluded(TooFast(fraction_of_median=0.21)) == ["b"]
    assert excluded(TooFast(fraction_of_median=0.2)) == []


def test_who_gave_one_rating_only_is_left_out() -> None:
    assert excluded(StraightLining()) == ["b"]
    assert excluded(StraightLining(share=0.8)) == ["b", "c"]


def test_who_gave_a_rating_many_times_on_end_is_left_out() -> None:
    assert excluded(StraightLining(share=None, longest=4)) == ["b", "c"]
    assert excluded(StraightLining(share=None, longest=5)) == ["b"]


def test_few_ratings_are_not_judged() -> None:
    count = apply(StraightLining()).counts[1]
    assert (count.arm, count.unknown) == ("model", 1)
    assert excluded(StraightLining(fewest=2)) == ["b", "d"]


def test_whose_answers_contradict_each_other_is_left_out() -> None:
    assert excluded(Inconsistent()) == ["b"]


def test_counts_tell_which_rule_and_arm() -> None:
    found = apply(TooFast(seconds=120), StraightLining(), FailedAttention())
    counts = {(count.rule, count.arm): (count.excluded, count.only) for count in found.counts}
    assert counts == {
        (TooFast(seconds=120), "human"): (1, 0),
        (TooFast(seconds=120), "model"): (0, 0),
        (StraightLining(), "human"): (1, 0),
        (StraightLining(), "model"): (0, 0),
        (FailedAttention(), "human"): (0, 0),
        (FailedAttention(), "model"): (2, 2),
    }
    assert (found.raters, found.kept) == ({"human": 2, "model": 2}, {"human": 1, "model": 0})
    assert found.excluded[0].reasons == (
        TooFast(seconds=120),
        StraightLining(),
    )


def test_a_missing_time_keeps_the_rater_and_is_counted() -> None:
    found = apply(TooFast(seconds=1000))
    assert "d" not in [item.rater for item in found.excluded]
    assert [count.unknown for count in found.counts] == [0, 1]


def test_times_that_are_all_missing_exclude_nobody() -> None:
    unknown = RATERS.with_columns(seconds=pl.lit(None, dtype=pl.Float64))
    found = apply_exclusions(RATINGS, unknown, [TooFast(fraction_of_median=0.5)])
    assert found.excluded == ()
    assert [count.unknown for count in found.counts] == [2, 2]


def test_whether_arms_lose_alike_is_tested() -> None:
    assert apply(FailedAttention()).alike.p == pytest.approx(1 / 3)


def test_no_rules_exclude_nobody() -> None:
    assert excluded() == []


def test_the_analysis_is_made_with_and_without() -> None:
    found = with_and_without(RATINGS, apply(StraightLining()), lambda frame: frame.height)
    assert (found.everybody, found.kept) == (17, 12)


def test_rules_that_leave_nobody_are_refused() -> None:
    with pytest.raises(InputError, match="leave no rating"):
        everybody = apply(StraightLining(share=0.1, fewest=1))
        with_and_without(RATINGS, everybody, lambda frame: frame.height)


def test_rules_go_through_json_and_back() -> None:
    rules = [TooFast(fraction_of_median=0.3), StraightLining(longest=8), Inconsistent(most=3)]
    assert rules_from(json.loads(json.dumps(declared(rules)))) == rules


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"rule": "too fst", "seconds": 3}, "Did you mean 'too fast'"),
        ({"rule": "too fast", "second": 3}, "Did you mean 'seconds'"),
        ({}, "there is no exclusion rule ''"),
    ],
)
def test_an_unknown_rule_or_setting_gets_the_nearest_name(
    rule: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnknownName, match=message):
        rules_from([rule])


@pytest.mark.parametrize("given", [{}, {"seconds": 1, "fraction_of_median": 0.5}, {"seconds": 0}])
def test_too_fast_needs_one_limit(given: dict[str, float]) -> None:
    with pytest.raises(InputError, match="either seconds or a fraction"):
        TooFast(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"share": None}, {"share": 1.2}, {"longest": 1}])
def test_straight_lining_needs_a_limit(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="share above 0"):
        StraightLining(**given)


def test_a_rule_about_a_column_that_is_missing_is_refused() -> None:
    with pytest.raises(UnknownName, match="seconds"):
        apply_exclusions(RATINGS, RATERS.drop("seconds"), [TooFast(seconds=3)])


def test_frames_without_raters_are_refused() -> None:
    with pytest.raises(UnknownName, match="rater"):
        apply_exclusions(RATINGS.drop("rater"), RATERS, [])


def test_failing_may_be_yes_or_no() -> None:
    flagged = RATERS.with_columns(failed_attention=pl.Series(["Yes", "no", " no", None]))
    found = apply_exclusions(RATINGS, flagged, [FailedAttention()])
    assert [item.rater for item in found.excluded] == ["a"]


def test_a_column_of_words_is_no_attention_check() -> None:
    flagged = RATERS.with_columns(failed_attention=pl.Series(["DE", "FR", None, "DE"]))
    with pytest.raises(InputError, match="needs numbers, or yes and no"):
        apply_exclusions(RATINGS, flagged, [FailedAttention()])


def test_raters_of_several_arms_are_counted_together() -> None:
    within = RATERS.with_columns(arm=pl.lit(None, pl.String))
    found = apply_exclusions(RATINGS, within, [TooFast(seconds=120)])
    assert (found.raters, found.kept) == ({"several arms": 4}, {"several arms": 3})
    assert found.excluded[0].arm == "several arms"
