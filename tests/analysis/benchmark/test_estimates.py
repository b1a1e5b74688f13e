"""A respondent measured against a study: by people, by both, or by a judge alone."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import polars as pl
import pytest

from empathylab.analysis.benchmark.estimates import measure_respondent, measured_by_people
from empathylab.analysis.benchmark.frames import (
    ReferenceRatings,
    beside,
    measured_replies,
    reference_ratings,
    replies_frame,
)
from empathylab.analysis.benchmark.measurements import Group, Measurement, outcomes
from empathylab.analysis.benchmark.prose import rests_on, what
from empathylab.analysis.benchmark.result import measurement_dict
from empathylab.analysis.benchmark.style_judge import style_predictions
from empathylab.errors import InputError, UnknownName
from empathylab.store import Lab
from empathylab.store.judged_responses import (
    asked_situations,
    models_with_responses,
    new_respondent_responses,
)
from tests.judging.measured import ARMS, PROMPT, STUDY, add_replies, released_lab, situation_ids

NEW = "new/model"
LEVEL = {"human": 1.2, "gpt": 2.8, "llama": 1.9, "mixtral": 2.3, NEW: 2.5}


@pytest.fixture
def reference(sqlite_lab: Lab, tmp_path: Path) -> ReferenceRatings:
    released_lab(sqlite_lab, tmp_path)
    keys = situation_ids(sqlite_lab)
    add_replies(sqlite_lab, NEW, {key: f"A new reply to {key}." for key in keys})
    return reference_ratings(sqlite_lab, STUDY)


@pytest.fixture
def replies(sqlite_lab: Lab, reference: ReferenceRatings) -> pl.DataFrame:
    return replies_frame(measured_replies(sqlite_lab, reference, NEW, PROMPT))


def predicted(reference: ReferenceRatings, replies: pl.DataFrame) -> pl.DataFrame:
    """A judge that gives each respondent one value."""
    rows = pl.concat(
        [
            reference.people.select("response", "respondent"),
            replies.select("response", "respondent"),
        ]
    ).unique("response", maintain_order=True)
    value = pl.col("respondent").replace_strict(LEVEL, return_dtype=pl.Float64)
    return rows.select("response", predicted=value, predicted_top=(value - 1) / 2)


def measured(reference: ReferenceRatings, replies: pl.DataFrame) -> Measurement:
    return measure_respondent(
        reference, NEW, replies, predicted(reference, replies), judge="a/judge"
    )


def test_the_ground_is_what_people_said(reference: ReferenceRatings) -> None:
    assert reference.respondents == ARMS
    assert (reference.lowest, reference.top, reference.top_label) == (1.0, 3.0, "Good")
    assert reference.people.height == 4 * 48


def test_the_highest_point_without_a_word_names_its_scale(reference: ReferenceRatings) -> None:
    bare = dataclasses.replace(reference.dimension, labels=())
    [share, _] = outcomes(dataclasses.replace(reference, dimension=bare))
    assert what(share) == "proportion rated 3 (scale 1 to 3)"
    assert what(outcomes(reference)[0]) == "proportion rated Good"


def test_people_decide_about_their_own_respondents(reference: ReferenceRatings) -> None:
    found = measured_by_people(reference, "gpt")
    head = found.headline
    mine = reference.people.filter(respondent="gpt")
    assert (found.basis, found.judge) == ("people", None)
    assert head.estimate == pytest.approx(mine["top"].mean())
    assert (head.n_ratings, head.n_judged) == (48, 0)
    assert 0 <= head.low < head.estimate < head.high <= 1
    assert {difference.other for difference in found.differences} == {"human", "llama", "mixtral"}


def test_a_judge_alone_is_calibrated_on_the_others(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    found = measured(reference, replies)
    head = found.headline
    assert found.basis == head.basis == "judge"
    assert found.calibrated_on == ARMS
    assert (found.calibration_ratings, found.calibration_people) == (192, 32)
    assert {error.respondent for error in head.errors} == set(ARMS)
    assert head.low <= head.exchangeable_low <= head.same_error_low < head.estimate
    assert head.estimate < head.same_error_high <= head.exchangeable_high <= head.high
    assert (head.n_ratings, head.n_judged) == (0, 48)


def test_a_judge_is_not_calibrated_on_another_arm_of_the_same_author(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    two_arms = dataclasses.replace(reference, arms={"llama": ("llama", NEW)})
    found = measured(two_arms, replies)
    assert found.calibrated_on == tuple(name for name in ARMS if name != "llama")
    assert "llama" not in {difference.other for difference in found.differences}


def test_share_and_mean_are_told_for_all_and_by_valence(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    found = measured(reference, replies)
    groups = [Group(), Group("valence", "negative"), Group("valence", "positive")]
    for group in groups:
        share, mean = found.estimate("share", group), found.estimate("mean", group)
        assert share is not None
        assert mean is not None
        assert 0 <= share.estimate <= 1 <= mean.estimate <= 3
    # With 8 situations each, no emotion has enough.
    assert {estimate.group for estimate in found.estimates} == set(groups)
    assert found.left_out == 6


def test_differences_are_wider_than_the_estimate_itself(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    found = measured(reference, replies)
    mean = found.estimate("mean")
    assert mean is not None
    from_human = next(
        difference
        for difference in found.differences
        if difference.other == "human"
        and difference.outcome.kind == "mean"
        and difference.group == Group()
    )
    human = reference.people.filter(respondent="human")["rating"].mean()
    assert from_human.difference == pytest.approx(mean.estimate - human)  # type: ignore[operator]
    assert (
        from_human.same_error_high - from_human.same_error_low
        > mean.same_error_high - mean.same_error_low
    )


def rated(reference: ReferenceRatings, replies: pl.DataFrame, count: int) -> ReferenceRatings:
    """The reference with so many fresh ratings of the newcomer."""
    fresh = replies.head(count).with_columns(
        rater=pl.format("fresh-{}", pl.int_range(pl.len()) // 4),
        rating=pl.Series([3.0, 2.0, 3.0, 1.0] * count).head(count),
    )
    fresh = fresh.with_columns(top=(pl.col("rating") == 3).cast(pl.Float64))
    people = pl.concat([reference.people, fresh.select(reference.people.columns)])
    return ReferenceRatings(reference.study, reference.dimension, reference.design, people)


def test_fresh_ratings_take_the_judges_place(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    with_people = rated(reference, replies, 24)
    found = measure_respondent(
        with_people, NEW, replies, predicted(reference, replies), judge="a/judge"
    )
    head = found.headline
    assert found.basis == "people and judge"
    assert (head.n_ratings, head.n_judged) == (24, 24)
    assert head.estimate == pytest.approx(0.5)  # the judge says the same of all its replies
    assert math.isnan(head.same_error_low)
    assert NEW not in found.calibrated_on


def test_more_fresh_ratings_make_it_tighter(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    widths = []
    for count in (12, 24, 48):
        with_people = rated(reference, replies, count)
        head = measure_respondent(
            with_people, NEW, replies, predicted(reference, replies), judge="j"
        ).headline
        widths.append(head.high - head.low)
    assert widths[0] > widths[1] > widths[2]


def test_a_few_ratings_are_not_enough_and_this_is_counted(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    with_people = rated(reference, replies, 9)
    found = measure_respondent(
        with_people, NEW, replies, predicted(reference, replies), judge="a/judge"
    )
    assert (found.basis, found.few) == ("judge", 9)


def test_with_one_other_respondent_there_is_no_interval(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path, arms=("human",))
    add_replies(sqlite_lab, NEW, dict.fromkeys(situation_ids(sqlite_lab), "Fine."))
    reference = reference_ratings(sqlite_lab, STUDY)
    replies = replies_frame(measured_replies(sqlite_lab, reference, NEW, PROMPT))
    found = measure_respondent(
        reference, NEW, replies, predicted(reference, replies), judge="a/judge"
    )
    assert math.isnan(found.headline.low)
    assert not math.isnan(found.headline.same_error_low)
    assert all(math.isnan(difference.low) for difference in found.differences)


def test_a_judge_that_rated_only_one_side_is_refused(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    whole = predicted(reference, replies)
    of_new = pl.col("response").is_in(replies["response"].to_list())
    with pytest.raises(InputError, match="rated anything that people rated"):
        measure_respondent(reference, NEW, replies, whole.filter(of_new), judge="j")
    with pytest.raises(InputError, match="rated any of the replies"):
        measure_respondent(reference, NEW, replies, whole.filter(~of_new), judge="j")


def test_the_style_judge_never_sees_who_it_rates(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    found = style_predictions(reference, replies, NEW)
    assert set(found.left_out) == set(ARMS)
    # Another rating of a reply changes nothing that is said of replies to the same situation.
    first = reference.people["situation"][0]
    turned = pl.when(pl.col("situation") == first).then(4 - pl.col("rating"))
    other = ReferenceRatings(
        reference.study,
        reference.dimension,
        reference.design,
        reference.people.with_columns(rating=turned.otherwise("rating")),
    )
    again = style_predictions(other, replies, NEW)
    frames = [
        beside(reference, replies, value.predicted).filter(situation=first)
        for value in (found, again)
    ]
    assert frames[0]["predicted"].to_list() == pytest.approx(frames[1]["predicted"].to_list())
    # Nor is a left-out respondent's rating used in its own turn.
    gpt = pl.when(pl.col("respondent") == "gpt").then(4 - pl.col("rating"))
    without = ReferenceRatings(
        reference.study,
        reference.dimension,
        reference.design,
        reference.people.with_columns(rating=gpt.otherwise("rating")),
    )
    turn = style_predictions(without, replies, NEW).left_out["gpt"]
    assert turn["predicted"].to_list() == pytest.approx(
        found.left_out["gpt"]["predicted"].to_list()
    )


def test_the_style_judge_measures_a_newcomer(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    found = style_predictions(reference, replies, NEW)
    result = measure_respondent(
        reference, NEW, replies, found.predicted, judge="style", left_out=found.left_out
    ).headline
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    assert len(result.errors) == 4


def test_only_replies_to_the_studys_prompt_count(lab: Lab, tmp_path: Path) -> None:
    released_lab(lab, tmp_path, raters=3, per_rater=4)
    first, second, third = situation_ids(lab)[:3]
    add_replies(lab, NEW, {first: "As asked.", second: "As asked."})
    add_replies(lab, NEW, {second: "Otherwise asked.", third: "Otherwise."}, prompt="plain@1")
    reference = reference_ratings(lab, STUDY)
    texts = [reply.text for reply in measured_replies(lab, reference, NEW, PROMPT)]
    assert texts == ["As asked.", "As asked."]
    assert len(new_respondent_responses(lab, reference.study.row, NEW)) == 3
    assert asked_situations(lab, NEW, PROMPT, STUDY) == {first, second}
    assert models_with_responses(lab, PROMPT, STUDY) == (NEW,)


def test_a_study_that_nobody_rated_is_said(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path, raters=2)
    with pytest.raises(UnknownName, match="dimension"):
        reference_ratings(sqlite_lab, STUDY, "warmth")
    with pytest.raises(UnknownName, match="study"):
        reference_ratings(sqlite_lab, "welivita")


def refusing(reference: ReferenceRatings, replies: pl.DataFrame, kept: int) -> pl.DataFrame:
    """The same judge, which has rated only the last of the newcomer's replies."""
    refused = replies["response"].head(len(replies) - kept).to_list()
    return predicted(reference, replies).filter(~pl.col("response").is_in(refused))


def test_what_the_judge_refuses_is_still_rated_by_people(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    with_people = rated(reference, replies, 24)
    alone = measured_by_people(with_people, NEW).headline
    for kept in (40, 25, 24, 1, 0):
        found = measure_respondent(
            with_people, NEW, replies, refusing(reference, replies, kept), judge="a/judge"
        ).headline
        assert found.n_ratings == 24
        assert (found.people_low, found.people_high) == pytest.approx((alone.low, alone.high))
        assert found.n_judged == min(kept, 24)
        assert found.unjudged == (48 - kept if kept else 0)
        assert found.estimate == pytest.approx(0.5)


def test_refusals_that_go_with_the_rating_do_not_pull_the_estimate(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    with_people = rated(reference, replies, 24)
    bad = with_people.people.filter(pl.col("respondent") == NEW, pl.col("rating") < 3)["response"]
    judged = predicted(reference, replies).filter(~pl.col("response").is_in(bad.to_list()))
    head = measure_respondent(with_people, NEW, replies, judged, judge="a/judge").headline
    assert (head.n_ratings, head.unjudged) == (24, 12)
    assert head.estimate == pytest.approx(0.5)


def test_how_much_the_judge_left_out_is_said(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    judged = refusing(reference, replies, 30)
    some = reference.people.filter(respondent="human")["response"].head(5).to_list()
    judged = judged.filter(~pl.col("response").is_in(some))
    found = measure_respondent(reference, NEW, replies, judged, judge="a/judge")
    assert (found.headline.n_judged, found.headline.unjudged, found.situations) == (30, 18, 30)
    assert found.calibration_missed == 5
    said = " ".join(rests_on(found))
    assert "has not rated 18 of the 48 replies" in said
    assert "5 human ratings of the others" in said
    document = measurement_dict(found)
    assert document["estimates"][0]["n_unjudged"] == 18
    assert document["calibration"]["ratings_without_judgement"] == 5
    few = measure_respondent(
        reference, NEW, replies, refusing(reference, replies, 3), judge="a/judge"
    )
    assert "fewer than 10" in " ".join(rests_on(few))


def test_a_panel_with_a_judge_of_the_models_family_says_so(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    found = measure_respondent(
        reference, NEW, replies, predicted(reference, replies), judge="panel"
    )
    panel = dataclasses.replace(found, members=("a/judge", "new/judge"))
    said = [statement for statement in rests_on(panel) if "same family" in statement]
    assert len(said) == 1
    assert said[0].startswith(f"new/judge is {NEW} itself or a model of the same family")
    assert said[0].endswith("panel counts it as one of 2.")
    assert measurement_dict(panel)["panel"] == ["a/judge", "new/judge"]


def test_who_is_put_outside_all_others_is_said_to_be_beyond_what_was_calibrated(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    rows = predicted(reference, replies)
    mine = rows["response"].is_in(replies["response"].to_list())
    above = rows.with_columns(
        predicted=pl.when(mine).then(2.95).otherwise(pl.col("predicted")),
        predicted_top=pl.when(mine).then(0.99).otherwise(pl.col("predicted_top")),
    )
    inside = measure_respondent(reference, NEW, replies, rows, judge="a/judge")
    beyond = measure_respondent(reference, NEW, replies, above, judge="a/judge")
    assert (inside.headline.beyond, beyond.headline.beyond) == (False, True)
    assert any("an untested extrapolation" in statement for statement in rests_on(beyond))
    assert not any("an untested extrapolation" in statement for statement in rests_on(inside))
    document = measurement_dict(beyond)
    assert document["transfer"]["beyond_calibration"] is True
    share = document["estimates"][0]
    assert share["beyond_calibration"] is True
    assert share["low"] <= share["if_like_the_others"][0] <= share["estimate"]
    assert measurement_dict(measured_by_people(reference, "gpt"))["transfer"] is None


def test_a_judge_that_does_not_follow_people_rules_nothing_out(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    # It says of each respondent what people say of another.
    level = {"human": 2.8, "gpt": 1.2, "llama": 2.3, "mixtral": 1.9, NEW: 2.0}
    rows = predicted(reference, replies)
    who = pl.concat(
        [
            reference.people.select("response", "respondent"),
            replies.select("response", "respondent"),
        ]
    )
    names = rows.join(who.unique("response"), on="response", how="left", maintain_order="left")
    value = pl.col("respondent").replace_strict(level, return_dtype=pl.Float64)
    wrong = names.select("response", predicted=value, predicted_top=(value - 1) / 2)
    found = measure_respondent(reference, NEW, replies, wrong, judge="a/judge")
    assert (found.headline.low, found.headline.high) == (0.0, 1.0)
    assert not found.headline.rules_out
    assert any("the interval covers the whole scale" in statement for statement in rests_on(found))


def test_a_sample_of_situations_is_compared_with_others_on_the_same_situations(
    reference: ReferenceRatings, replies: pl.DataFrame
) -> None:
    chosen = reference.people.filter(respondent="gpt").sort("top", "situation")["situation"][:20]
    sampled = replies.filter(pl.col("situation").is_in(chosen.to_list()))
    found = measured(reference, sampled)
    [difference] = [
        difference
        for difference in found.differences
        if difference.other == "gpt"
        and difference.outcome.kind == "share"
        and difference.group == Group()
    ]
    theirs = reference.people.filter(pl.col("situation").is_in(chosen.to_list()), respondent="gpt")[
        "top"
    ]
    estimate = found.estimate("share")
    assert estimate is not None
    assert difference.difference == pytest.approx(estimate.estimate - theirs.mean())
    assert (difference.other_n, difference.situations) == (20, 20)
    everywhere = reference.people.filter(respondent="gpt")["top"].mean()
    assert theirs.mean() != pytest.approx(everywhere)
