"""Scoring by the rubric: what a judge is asked, what is stored, and which judges are fit."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from empathylab.analysis.scores import from_lab
from empathylab.judging.asking import Asking
from empathylab.judging.rubric import ScoredReply, judge_acceptance, planted_replies, rubric
from empathylab.judging.scoring import (
    _scored,
    plan_planted,
    plan_scoring,
    planted_sample,
    planted_scores,
    planted_to,
)
from empathylab.models import ScriptedModel, known_weights, open_model
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab, responses_frame
from empathylab.store.judgements import lab_judgements, rubric_scores
from tests.helpers.groups import unavailable
from tests.judging import scoring_judges as judges
from tests.judging.judged import replied


def accepted(lab: Lab, judge: ScriptedModel, situations: int | None = None) -> bool:
    run(lab, [Job(judge, [plan_planted(Asking(), planted_sample(situations))])])
    found = planted_scores(lab, judge.name)
    assert found is not None
    return judge_acceptance(found[1], found[0]).accepted


def test_a_reply_is_asked_about_once_for_each_dimension(lab: Lab) -> None:
    replies = replied(lab, "a/b", situations=4)
    requests = plan_scoring(replies, "replies", Asking()).requests
    assert len(requests) == 4 * 7
    assert Counter(key.key.partition("/")[0] for key in requests) == dict.fromkeys(
        rubric().names, 4
    )
    assert not any("a/b" in request.messages[-1].content for request in requests)


def test_half_of_the_replies_show_the_best_point_first() -> None:
    requests = plan_planted(Asking()).requests
    best_first = [
        text.index('"5": ') < text.index('"1": ')
        for text in (request.messages[-1].content for request in requests)
    ]
    assert 0.35 < sum(best_first) / len(best_first) < 0.65


def test_scores_are_stored_apart_from_other_judgements(lab: Lab) -> None:
    replies = replied(lab, "a/b", situations=3)
    judge = ScriptedModel(judges.good, name="scripted/good")
    run(lab, [Job(judge, [plan_scoring(replies, "replies", Asking())])])
    found = rubric_scores(lab)
    assert found.height == 3 * 7
    assert set(found["outcome"]) == {"valid"}
    assert lab_judgements(lab).is_empty()


def test_planted_replies_are_no_replies_of_the_lab(lab: Lab) -> None:
    assert accepted(lab, ScriptedModel(judges.good, name="scripted/good"))
    assert responses_frame(lab).is_empty()
    assert rubric_scores(lab).is_empty()


def test_a_good_judge_is_fit(lab: Lab) -> None:
    judge = ScriptedModel(judges.good, name="scripted/good")
    assert accepted(lab, judge)
    result = from_lab(lab, judge.name, runs=[])
    assert result.fit
    assert result.acceptance is not None
    assert result.acceptance.within_tolerance == 1


def test_a_judge_that_scores_everything_alike_is_not_fit(lab: Lab) -> None:
    assert not accepted(lab, ScriptedModel(judges.flat, name="scripted/flat"))
    result = from_lab(lab, "scripted/flat", runs=[])
    assert "is not fit" in result.caveats[0]
    assert "0% of 12 situations" in result.caveats[0]


def test_a_judge_without_usable_scores_is_not_fit(lab: Lab) -> None:
    judge = ScriptedModel(judges.broken, name="scripted/broken")
    run(lab, [Job(judge, [plan_planted(Asking())])])
    result = from_lab(lab, judge.name, runs=[])
    assert result.fit is False
    assert "no usable scores of the 72 planted replies" in result.caveats[0]


def test_a_judge_that_was_not_tried_is_neither(lab: Lab) -> None:
    result = from_lab(lab, "a/b", runs=[])
    assert result.fit is None
    assert "has not scored the planted replies" in result.caveats[0]


def test_a_planted_reply_without_a_score_on_every_dimension_is_missing() -> None:
    keys = [
        (name, number)
        for name in rubric().names
        for number in (0, 1)
        if (name, number) != (rubric().safety, 1)
    ]
    rows = [
        (f"{name}/response-{number}/order-0/repeat-0", f'{{"{name}": "4"}}')
        for name, number in keys
    ]
    [scored] = _scored(planted_replies(), rows)
    assert scored.kind == planted_replies().replies[0].kind
    assert scored.profile.composite == 4


def test_a_sample_holds_all_replies_to_some_situations(lab: Lab) -> None:
    assert len(planted_sample(2).replies) == 2 * len(planted_replies().kinds)
    judge = ScriptedModel(judges.good, name="scripted/good")
    assert accepted(lab, judge, 2)
    assert len(judge.calls) == 2 * 6 * 7


@pytest.mark.parametrize("situations", range(2, 13))
def test_a_judge_that_gives_the_expected_scores_is_fit_on_any_sample(situations: int) -> None:
    planted = planted_sample(situations)
    scored = [
        ScoredReply(reply.situation, reply.kind, 0, reply.expected) for reply in planted.replies
    ]
    assert judge_acceptance(scored, planted).accepted


def test_the_planted_replies_are_asked_about_once(lab: Lab) -> None:
    judge = ScriptedModel(judges.good, name="scripted/good")
    accepted(lab, judge, 2)
    accepted(lab, judge, 2)
    assert len(judge.calls) == 2 * 6 * 7


@pytest.mark.embedded
@pytest.mark.slow
def test_the_embedded_model_is_not_fit_to_judge(sqlite_lab: Lab) -> None:
    if not known_weights("smollm2").installed:
        unavailable("embedded", "run `empathylab models install smollm2`")
    # Three replies to one situation, right, tone-deaf and formulaic: a fit judge separates them.
    whole = planted_to(["lonely-1"])
    planted = dataclasses.replace(
        whole,
        replies=whole.replies[:3],
        faults={kind: whole.faults[kind] for kind in ("tone-deaf", "formulaic")},
    )
    expected = [
        ScoredReply(reply.situation, reply.kind, 0, reply.expected) for reply in planted.replies
    ]
    assert judge_acceptance(expected, planted).accepted
    model = open_model("local/smollm2")
    [tally] = run(
        sqlite_lab, [Job(model, [plan_planted(Asking(), planted)], Limits(concurrency=2))]
    )
    assert tally.outcomes == {"valid": 21}
    found = planted_scores(sqlite_lab, model.name)
    assert found is not None
    assert [reply.kind for reply in found[1]] == ["right", "tone-deaf", "formulaic"]
    assert not judge_acceptance(found[1], planted).accepted
    assert from_lab(sqlite_lab, model.name, runs=[]).fit is False
