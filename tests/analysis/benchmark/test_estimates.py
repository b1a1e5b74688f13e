"""A respondent measured against a study: by people, by both, or by a judge alone."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import polars as pl
import pytest

from empathylab.analysis.benchmark.document import against_document
from empathylab.analysis.benchmark.estimates import against, measured_by_people
from empathylab.analysis.benchmark.frames import (
    Ground,
    beside,
    measured_replies,
    replies_frame,
    study_ground,
)
from empathylab.analysis.benchmark.measurements import Against, Group
from empathylab.analysis.benchmark.prose import rests_on
from empathylab.analysis.benchmark.style_judge import style_told
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
def ground(sqlite_lab: Lab, tmp_path: Path) -> Ground:
    released_lab(sqlite_lab, tmp_path)
    keys = situation_ids(sqlite_lab)
    add_replies(sqlite_lab, NEW, {key: f"A new reply to {key}." for key in keys})
    return study_ground(sqlite_lab, STUDY)


@pytest.fixture
def replies(sqlite_lab: Lab, ground: Ground) -> pl.DataFrame:
    return replies_frame(measured_replies(sqlite_lab, ground, NEW, PROMPT))


def told(ground: Ground, replies: pl.DataFrame) -> pl.DataFrame:
    """A judge that gives each respondent one value."""
    rows = pl.concat(
        [ground.people.select("response", "respondent"), replies.select("response", "respondent")]
    ).unique("response", maintain_order=True)
    value = pl.col("respondent").replace_strict(LEVEL, return_dtype=pl.Float64)
    return rows.select("response", told=value, told_top=(value - 1) / 2)


def measured(ground: Ground, replies: pl.DataFrame) -> Against:
    return against(ground, NEW, replies, told(ground, replies), judge="a/judge")


def test_the_ground_is_what_people_said(ground: Ground) -> None:
    assert ground.respondents == ARMS
    assert (ground.lowest, ground.top, ground.top_label) == (1.0, 3.0, "Good")
    assert ground.people.height == 4 * 48


def test_people_decide_about_their_own_respondents(ground: Ground) -> None:
    found = measured_by_people(ground, "gpt")
    head = found.headline
    mine = ground.people.filter(respondent="gpt")
    assert (found.basis, found.judge) == ("people", None)
    assert head.estimate == pytest.approx(mine["top"].mean())
    assert (head.n_ratings, head.n_judged) == (48, 0)
    assert 0 <= head.low < head.estimate < head.high <= 1
    assert {one.other for one in found.differences} == {"human", "llama", "mixtral"}


def test_a_judge_alone_is_calibrated_on_the_others(ground: Ground, replies: pl.DataFrame) -> None:
    found = measured(ground, replies)
    head = found.headline
    assert found.basis == head.basis == "judge"
    assert found.calibrated_on == ARMS
    assert (found.calibration_ratings, found.calibration_people) == (192, 32)
    assert {one.respondent for one in head.errors} == set(ARMS)
    assert head.low <= head.like_low <= head.alike_low < head.estimate
    assert head.estimate < head.alike_high <= head.like_high <= head.high
    assert (head.n_ratings, head.n_judged) == (0, 48)


def test_share_and_mean_are_told_for_all_and_by_valence(
    ground: Ground, replies: pl.DataFrame
) -> None:
    found = measured(ground, replies)
    groups = [Group(), Group("valence", "negative"), Group("valence", "positive")]
    for group in groups:
        share, mean = found.estimate("share", group), found.estimate("mean", group)
        assert share is not None
        assert mean is not None
        assert 0 <= share.estimate <= 1 <= mean.estimate <= 3
    # With 8 situations each, no emotion has enough.
    assert {one.group for one in found.estimates} == set(groups)
    assert found.left_out == 6


def test_differences_are_wider_than_the_estimate_itself(
    ground: Ground, replies: pl.DataFrame
) -> None:
    found = measured(ground, replies)
    mean = found.estimate("mean")
    assert mean is not None
    from_human = next(
        one
        for one in found.differences
        if one.other == "human" and one.outcome.kind == "mean" and one.group == Group()
    )
    human = ground.people.filter(respondent="human")["rating"].mean()
    assert from_human.difference == pytest.approx(mean.estimate - human)  # type: ignore[operator]
    assert from_human.alike_high - from_human.alike_low > mean.alike_high - mean.alike_low


def rated(ground: Ground, replies: pl.DataFrame, count: int) -> Ground:
    """The ground with so many fresh ratings of the newcomer."""
    fresh = replies.head(count).with_columns(
        rater=pl.format("fresh-{}", pl.int_range(pl.len()) // 4),
        rating=pl.Series([3.0, 2.0, 3.0, 1.0] * count).head(count),
    )
    fresh = fresh.with_columns(top=(pl.col("rating") == 3).cast(pl.Float64))
    people = pl.concat([ground.people, fresh.select(ground.people.columns)])
    return Ground(ground.study, ground.dimension, ground.design, people)


def test_fresh_ratings_take_the_judges_place(ground: Ground, replies: pl.DataFrame) -> None:
    with_people = rated(ground, replies, 24)
    found = against(with_people, NEW, replies, told(ground, replies), judge="a/judge")
    head = found.headline
    assert found.basis == "people and judge"
    assert (head.n_ratings, head.n_judged) == (24, 24)
    assert head.estimate == pytest.approx(0.5)  # the judge says the same of all its replies
    assert math.isnan(head.alike_low)
    assert NEW not in found.calibrated_on


def test_more_fresh_ratings_make_it_tighter(ground: Ground, replies: pl.DataFrame) -> None:
    widths = []
    for count in (12, 24, 48):
        with_people = rated(ground, replies, count)
        head = against(with_people, NEW, replies, told(ground, replies), judge="j").headline
        widths.append(head.high - head.low)
    assert widths[0] > widths[1] > widths[2]


def test_a_few_ratings_are_not_enough_and_this_is_counted(
    ground: Ground, replies: pl.DataFrame
) -> None:
    with_people = rated(ground, replies, 9)
    found = against(with_people, NEW, replies, told(ground, replies), judge="a/judge")
    assert (found.basis, found.few) == ("judge", 9)


def test_with_one_other_respondent_there_is_no_interval(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path, arms=("human",))
    add_replies(sqlite_lab, NEW, dict.fromkeys(situation_ids(sqlite_lab), "Fine."))
    ground = study_ground(sqlite_lab, STUDY)
    replies = replies_frame(measured_replies(sqlite_lab, ground, NEW, PROMPT))
    found = against(ground, NEW, replies, told(ground, replies), judge="a/judge")
    assert math.isnan(found.headline.low)
    assert not math.isnan(found.headline.alike_low)
    assert all(math.isnan(one.low) for one in found.differences)


def test_a_judge_that_rated_only_one_side_is_refused(ground: Ground, replies: pl.DataFrame) -> None:
    whole = told(ground, replies)
    of_new = pl.col("response").is_in(replies["response"].to_list())
    with pytest.raises(InputError, match="rated nothing that people rated"):
        against(ground, NEW, replies, whole.filter(of_new), judge="j")
    with pytest.raises(InputError, match="rated none of the replies"):
        against(ground, NEW, replies, whole.filter(~of_new), judge="j")


def test_the_style_judge_never_sees_who_it_rates(ground: Ground, replies: pl.DataFrame) -> None:
    found = style_told(ground, replies, NEW)
    assert set(found.left_out) == set(ARMS)
    # Another rating of a reply changes nothing that is said of replies to the same situation.
    first = ground.people["situation"][0]
    turned = pl.when(pl.col("situation") == first).then(4 - pl.col("rating"))
    other = Ground(
        ground.study,
        ground.dimension,
        ground.design,
        ground.people.with_columns(rating=turned.otherwise("rating")),
    )
    again = style_told(other, replies, NEW)
    frames = [beside(ground, replies, one.told).filter(situation=first) for one in (found, again)]
    assert frames[0]["told"].to_list() == pytest.approx(frames[1]["told"].to_list())
    # Nor is a left-out respondent's rating used in its own turn.
    gpt = pl.when(pl.col("respondent") == "gpt").then(4 - pl.col("rating"))
    without = Ground(
        ground.study,
        ground.dimension,
        ground.design,
        ground.people.with_columns(rating=gpt.otherwise("rating")),
    )
    turn = style_told(without, replies, NEW).left_out["gpt"]
    assert turn["told"].to_list() == pytest.approx(found.left_out["gpt"]["told"].to_list())


def test_the_style_judge_measures_a_newcomer(ground: Ground, replies: pl.DataFrame) -> None:
    found = style_told(ground, replies, NEW)
    result = against(
        ground, NEW, replies, found.told, judge="style", left_out=found.left_out
    ).headline
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    assert len(result.errors) == 4


def test_only_replies_to_the_studys_prompt_count(lab: Lab, tmp_path: Path) -> None:
    released_lab(lab, tmp_path, raters=3, per_rater=4)
    first, second, third = situation_ids(lab)[:3]
    add_replies(lab, NEW, {first: "As asked.", second: "As asked."})
    add_replies(lab, NEW, {second: "Otherwise asked.", third: "Otherwise."}, prompt="plain@1")
    ground = study_ground(lab, STUDY)
    texts = [one.text for one in measured_replies(lab, ground, NEW, PROMPT)]
    assert texts == ["As asked.", "As asked."]
    assert len(new_respondent_responses(lab, ground.study.row, NEW)) == 3
    assert asked_situations(lab, NEW, PROMPT, STUDY) == {first, second}
    assert models_with_responses(lab, PROMPT, STUDY) == (NEW,)


def test_a_study_that_nobody_rated_is_said(sqlite_lab: Lab, tmp_path: Path) -> None:
    released_lab(sqlite_lab, tmp_path, raters=2)
    with pytest.raises(UnknownName, match="dimension"):
        study_ground(sqlite_lab, STUDY, "warmth")
    with pytest.raises(UnknownName, match="study"):
        study_ground(sqlite_lab, "welivita")


def refusing(ground: Ground, replies: pl.DataFrame, kept: int) -> pl.DataFrame:
    """The same judge, which has rated only the last of the newcomer's replies."""
    refused = replies["response"].head(len(replies) - kept).to_list()
    return told(ground, replies).filter(~pl.col("response").is_in(refused))


def test_what_the_judge_refuses_is_still_rated_by_people(
    ground: Ground, replies: pl.DataFrame
) -> None:
    with_people = rated(ground, replies, 24)
    alone = measured_by_people(with_people, NEW).headline
    for kept in (40, 25, 24, 1, 0):
        found = against(
            with_people, NEW, replies, refusing(ground, replies, kept), judge="a/judge"
        ).headline
        assert found.n_ratings == 24
        assert (found.people_low, found.people_high) == pytest.approx((alone.low, alone.high))
        assert found.n_judged == min(kept, 24)
        assert found.unjudged == (48 - kept if kept else 0)
        assert found.estimate == pytest.approx(0.5)


def test_refusals_that_go_with_the_rating_do_not_pull_the_estimate(
    ground: Ground, replies: pl.DataFrame
) -> None:
    with_people = rated(ground, replies, 24)
    bad = with_people.people.filter(pl.col("respondent") == NEW, pl.col("rating") < 3)["response"]
    judged = told(ground, replies).filter(~pl.col("response").is_in(bad.to_list()))
    head = against(with_people, NEW, replies, judged, judge="a/judge").headline
    assert (head.n_ratings, head.unjudged) == (24, 12)
    assert head.estimate == pytest.approx(0.5)


def test_how_much_the_judge_left_out_is_said(ground: Ground, replies: pl.DataFrame) -> None:
    judged = refusing(ground, replies, 30)
    some = ground.people.filter(respondent="human")["response"].head(5).to_list()
    judged = judged.filter(~pl.col("response").is_in(some))
    found = against(ground, NEW, replies, judged, judge="a/judge")
    assert (found.headline.n_judged, found.headline.unjudged, found.situations) == (30, 18, 30)
    assert found.calibration_missed == 5
    said = " ".join(rests_on(found))
    assert "has not rated 18 of the 48 replies" in said
    assert "5 ratings of the others" in said
    document = against_document(found)
    assert document["estimates"][0]["n_unjudged"] == 18
    assert document["calibration"]["ratings_without_judgement"] == 5
    few = against(ground, NEW, replies, refusing(ground, replies, 3), judge="a/judge")
    assert "fewer than 10" in " ".join(rests_on(few))


def test_a_panel_with_a_judge_of_the_models_family_says_so(
    ground: Ground, replies: pl.DataFrame
) -> None:
    found = against(ground, NEW, replies, told(ground, replies), judge="panel")
    panel = dataclasses.replace(found, members=("a/judge", "new/judge"))
    said = [one for one in rests_on(panel) if "its family" in one]
    assert len(said) == 1
    assert said[0].startswith(f"new/judge is {NEW} itself or of its family")
    assert said[0].endswith("panel counts it as one of 2.")
    assert against_document(panel)["panel"] == ["a/judge", "new/judge"]


def test_who_is_put_outside_all_others_is_said_to_be_beyond_what_was_calibrated(
    ground: Ground, replies: pl.DataFrame
) -> None:
    rows = told(ground, replies)
    mine = rows["response"].is_in(replies["response"].to_list())
    above = rows.with_columns(
        told=pl.when(mine).then(2.95).otherwise(pl.col("told")),
        told_top=pl.when(mine).then(0.99).otherwise(pl.col("told_top")),
    )
    inside = against(ground, NEW, replies, rows, judge="a/judge")
    beyond = against(ground, NEW, replies, above, judge="a/judge")
    assert (inside.headline.beyond, beyond.headline.beyond) == (False, True)
    assert any("beyond what was calibrated" in one for one in rests_on(beyond))
    assert not any("beyond what was calibrated" in one for one in rests_on(inside))
    document = against_document(beyond)
    assert document["transfer"]["beyond_calibration"] is True
    share = document["estimates"][0]
    assert share["beyond_calibration"] is True
    assert share["low"] <= share["if_like_the_others"][0] <= share["estimate"]
    assert against_document(measured_by_people(ground, "gpt"))["transfer"] is None


def test_a_judge_that_does_not_follow_people_rules_nothing_out(
    ground: Ground, replies: pl.DataFrame
) -> None:
    # It says of each respondent what people say of another.
    level = {"human": 2.8, "gpt": 1.2, "llama": 2.3, "mixtral": 1.9, NEW: 2.0}
    rows = told(ground, replies)
    who = pl.concat(
        [ground.people.select("response", "respondent"), replies.select("response", "respondent")]
    )
    names = rows.join(who.unique("response"), on="response", how="left", maintain_order="left")
    value = pl.col("respondent").replace_strict(level, return_dtype=pl.Float64)
    wrong = names.select("response", told=value, told_top=(value - 1) / 2)
    found = against(ground, NEW, replies, wrong, judge="a/judge")
    assert (found.headline.low, found.headline.high) == (0.0, 1.0)
    assert not found.headline.rules_out
    assert any("no point of the scale is ruled out" in one for one in rests_on(found))
