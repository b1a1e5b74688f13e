"""A lab's judgements beside people's ratings, on both databases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.calibration import CalibrationPlan, calibrate
from empathylab.analysis.judges.frames import judged_from_lab
from empathylab.errors import InputError
from empathylab.judging.asking import Asking
from empathylab.judging.instruments import study_instrument
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.runs import Job, run
from empathylab.situations.sources.rating_tables import ratings_from
from empathylab.situations.sources.reply_tables import replies_from
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.judged_responses import judged_study, study_responses
from empathylab.tables import parse_csv, read_table
from tests.helpers.welivita import write_release


def good(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
    return json.dumps({"empathy": "Good"})


def lost(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """A judge that has nothing to say of the human replies."""
    human = "The human reply" in messages[-1].content
    return "I would rather not." if human else json.dumps({"empathy": "Okay"})


@pytest.fixture
def released(lab: Lab, tmp_path: Path) -> Lab:
    write_release(tmp_path / "r.csv", raters=3, per_rater=4)
    release = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
    import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
    return lab


def judge(lab: Lab, answer: object, name: str) -> None:
    study = judged_study(lab, "welivita-2024")
    replies = study_responses(lab, study.row)
    judging = Judging(study_instrument(study), replies, f"study {study.name}", study.row)
    run(lab, [Job(ScriptedModel(answer, name=name), [plan_judging(judging)])])  # type: ignore[arg-type]


def test_each_judgement_meets_the_ratings_of_its_response(released: Lab) -> None:
    judge(released, good, "the/judge")
    judged = judged_from_lab(released)
    assert judged.study == "welivita-2024"
    assert (len(judged.people), len(judged.judges), len(judged.responses)) == (24, 24, 24)
    assert set(judged.people["response"]) == set(judged.judges["response"])
    assert judged.judges["rating"].unique().to_list() == [3]
    assert judged.scales == {"empathy": (1, 2, 3)}
    assert judged.responses["words"].null_count() == 0
    assert judged.responses["emotion"].null_count() == 0


def test_answers_that_could_not_be_used_are_left_out_and_counted(released: Lab) -> None:
    judge(released, lost, "the/judge")
    judged = judged_from_lab(released)
    assert len(judged.judges) == 12
    assert judged.dropped == 12


def test_a_judge_asked_in_several_ways_is_said_and_not_mixed(released: Lab) -> None:
    judge(released, good, "the/judge")
    study = judged_study(released, "welivita-2024")
    some = study_responses(released, study.row)[:6]
    other = Asking(seed=9, reason=True)
    judging = Judging(study_instrument(study), some, "study", study.row, other)
    run(released, [Job(ScriptedModel(lost, name="the/judge"), [plan_judging(judging)])])
    judged = judged_from_lab(released)
    assert judged.setups == {"the/judge": 2}
    assert judged.judges["rating"].unique().to_list() == [3]
    notes = analyse_judged(judged, plan=CalibrationPlan(resamples=0), style=False).notes
    assert any("the/judge was asked with 2 setups" in note for note in notes)


def test_choices_of_a_lab_are_held_against_the_ratings_of_both_replies(released: Lab) -> None:
    study = judged_study(released, "welivita-2024")
    replies = study_responses(released, study.row)

    def first(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
        return json.dumps({"empathy": "first"})

    comparing = Comparing(study_instrument(study), replies, "study", study.row)
    run(released, [Job(ScriptedModel(first, name="the/judge"), [plan_comparing(comparing)])])
    judged = judged_from_lab(released)
    assert judged.comparisons["first_response"].null_count() == 0
    cards = calibrate(judged, CalibrationPlan(resamples=0))
    found = cards[0].preferences
    assert found is not None
    assert found.choices.n + found.even == judged.comparisons.height
    # One that goes by place alone is right in one order of each pair, and never consistent.
    assert found.choices.n == 0 or found.choices.share == 0.5
    assert (found.consistent.n, found.inconsistent) == (0, found.choices.n / 2)


def test_choices_asked_in_several_ways_are_those_with_the_most_rated_pairs(released: Lab) -> None:
    study = judged_study(released, "welivita-2024")
    replies = study_responses(released, study.row)

    def first(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
        return json.dumps({"empathy": "first"})

    keys = {replies[0].situation.id}
    few = tuple(reply for reply in replies if reply.situation.id in keys)
    for chosen, asking in ((replies, Asking()), (few, Asking(seed=9))):
        comparing = Comparing(study_instrument(study), chosen, "study", study.row, asking)
        run(released, [Job(ScriptedModel(first, name="the/judge"), [plan_comparing(comparing)])])
    judged = judged_from_lab(released)
    assert judged.comparisons["situation"].n_unique() > 1
    assert judged.setups == {"the/judge": 2}


def test_models_of_an_imported_table_are_judges_and_no_people(lab: Lab) -> None:
    rows = [
        f"s{number},x,Reply {number}.,Text {number}.,{rater},{kind},{value}"
        for number in range(5)
        for rater, kind, value in (("ann", "person", number % 3 + 1), ("the/judge", "model", 2))
    ]
    head = "situation,respondent,text,situation_text,rater,rater_kind,rating"
    table = parse_csv("\n".join([head, *rows]).encode(), where="m.csv")
    brought = replies_from(table, where="m.csv", situation_set=None, set_id="m", title="m")
    study = ratings_from(table, where="m.csv", name="mixed", title="Mixed")
    release = replace(brought, study=study)
    import_release(lab, release, kind="ratings", source="m.csv", fingerprint="1")
    judged = judged_from_lab(lab, "mixed")
    assert judged.people["rater"].unique().to_list() == ["ann"]
    assert judged.judge_names == ["the/judge"]
    assert set(judged.judges["response"]) == set(judged.people["response"])
    assert judged.judges["rating"].to_list() == [2] * 5


def test_a_lab_without_a_study_says_so(lab: Lab) -> None:
    with pytest.raises(InputError, match="the lab has no rated study"):
        judged_from_lab(lab)
