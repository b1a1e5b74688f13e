"""Judgements in the lab: which belong together, and what people's analyses see of them."""

from __future__ import annotations

import polars as pl
import pytest
from sqlalchemy import delete, update

from empathylab.errors import InputError, UnknownName
from empathylab.judging.asking import Asking
from empathylab.judging.instruments import study_instrument
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import ScriptedModel
from empathylab.runs import Job, run
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import (
    JudgedResponse,
    judged_study,
    responses_to_judge,
    select_responses,
    set_responses,
    study_responses,
)
from empathylab.store.judgements import lab_judgements, lab_preferences
from empathylab.store.ratings import lab_studies, raters_frame, ratings_frame
from empathylab.store.studies.embargo import studies_showing
from empathylab.study.session.service import launch
from tests.judging.judged import ONE, TWO, always, replied
from tests.study.examples import altered, between
from tests.study.service_examples import furnish, opened, someone, walk


def judge(
    lab: Lab,
    replies: tuple[JudgedResponse, ...],
    point: str = "Good",
    name: str = "the/judge",
    **given: object,
) -> None:
    study = given.pop("study", None)
    fresh = bool(given.pop("fresh", False))
    judging = Judging(ONE, replies, "x", study, Asking(**given))  # type: ignore[arg-type]
    model = ScriptedModel(always({"empathy": point}), name=name)
    run(lab, [Job(model, [plan_judging(judging)], fresh=fresh)])


def test_an_empty_lab_has_frames_with_all_columns(lab: Lab) -> None:
    frame = lab_judgements(lab)
    assert frame.height == 0
    assert {
        *("judge", "study", "set", "situation", "response", "respondent", "dimension", "value"),
        *("label", "repeat", "order", "probabilities", "outcome", "position"),
    } <= set(frame.columns)
    assert lab_preferences(lab).height == 0


def test_a_larger_run_counts_what_a_smaller_one_judged_once(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    judge(lab, replies[:2])
    judge(lab, replies)
    frame = lab_judgements(lab)
    assert sorted(frame["response"]) == sorted(reply.response for reply in replies)


def test_asked_afresh_the_newest_answer_counts(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    judge(lab, replies, "Bad")
    judge(lab, replies[:1], "Good")  # at temperature 0 the answers are taken over
    assert set(lab_judgements(lab)["label"]) == {"Bad"}
    judge(lab, replies, "Good", fresh=True)
    assert lab_judgements(lab)["label"].to_list() == ["Good"] * 3


def test_only_the_way_of_asking_used_last_counts(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    judge(lab, replies, "Bad", temperature=1.0)
    judge(lab, replies[:1], "Good", temperature=0.5)
    assert lab_judgements(lab)["label"].to_list() == ["Good"]
    judge(lab, replies, "Bad", temperature=1.0)  # nothing to ask, but used last
    assert lab_judgements(lab)["label"].to_list() == ["Bad"] * 3


def test_a_way_of_asking_that_holds_more_of_what_matters_is_preferred(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    ids = [reply.response for reply in replies]
    judge(lab, replies, "Bad", temperature=1.0)
    judge(lab, replies[:1], "Good", temperature=0.5)
    frame = lab_judgements(lab, about=[ids])
    assert frame["label"].to_list() == ["Bad"] * 3
    assert frame["ways"].to_list() == [2] * 3
    # Of equals the last used; and no group may be missing.
    assert lab_judgements(lab, about=[ids[:1]])["label"].to_list() == ["Good"]
    judge(lab, replies[:2], "Okay", temperature=0.7)
    assert lab_judgements(lab, about=[ids[:2], ids[2:]])["label"].to_list() == ["Bad"] * 3
    assert lab_judgements(lab, about=[ids[:2]])["label"].to_list() == ["Okay"] * 2


def test_a_dimension_asked_later_leaves_the_others_as_they_are(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    model = ScriptedModel(always({"empathy": "Good", "help": "Yes"}))
    for name in ("empathy", "help"):
        asked = TWO.only([name], where="test")
        run(lab, [Job(model, [plan_judging(Judging(asked, replies, "x"))])])
    assert lab_judgements(lab)["label"].to_list() == ["Good"] * 3 + ["Yes"] * 3


def test_each_judge_of_a_panel_has_its_own(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    judge(lab, replies, "Bad", name="one/judge")
    judge(lab, replies, "Good", name="other/judge", temperature=1.0)
    counts = lab_judgements(lab).group_by("judge", "label").len().sort("judge").rows()
    assert counts == [("one/judge", "Bad", 3), ("other/judge", "Good", 3)]


def test_peoples_analyses_see_no_judge(lab: Lab) -> None:
    service, _ = opened(lab, between())
    walk(service, someone(service, "anna"))
    before = ratings_frame(lab, "small"), raters_frame(lab, "small"), lab_studies(lab)
    study = judged_study(lab, "small")
    judge(lab, study_responses(lab, study.row), study=study.row)
    after = ratings_frame(lab, "small"), raters_frame(lab, "small"), lab_studies(lab)
    assert before[0].equals(after[0])
    assert before[1].equals(after[1])
    assert before[2] == after[2]
    assert lab_judgements(lab, "small").height == 12


def test_a_studys_judgements_are_apart_from_those_of_its_set(lab: Lab) -> None:
    opened(lab, between())
    study = judged_study(lab, "small")
    judge(lab, study_responses(lab, study.row), study=study.row)
    judge(lab, set_responses(lab, "dialogues")[:5], "Bad")
    assert lab_judgements(lab, "small").height == 12
    assert set(lab_judgements(lab, "small")["study"]) == {"small"}
    alone = lab_judgements(lab).filter(pl.col("study").is_null())
    assert alone.height == 5


def test_a_launched_study_is_judged_on_what_its_raters_see(lab: Lab) -> None:
    service, _ = opened(lab, between())
    study = judged_study(lab, "small")
    replies = study_responses(lab, study.row)
    assert len(replies) == 12
    assert {reply.respondent for reply in replies} == {"first/model", "second/model"}
    assert study_instrument(study).dimensions[0].question == "How empathetic?"
    assert service.study.name == study.name


def test_a_newcomer_is_judged_on_the_studys_situations(lab: Lab) -> None:
    opened(lab, between())
    furnish(lab, "new/model")
    study = judged_study(lab, "small")
    frozen = study_responses(lab, study.row)
    alone = responses_to_judge(lab, study, ["new/model"])
    assert {item.respondent for item in alone} == {"new/model"}
    assert {item.situation for item in alone} == {item.situation for item in frozen}
    beside = responses_to_judge(lab, study, ["new/model", "first/model"])
    assert len(beside) == 12
    assert responses_to_judge(lab, study, []) == frozen
    with pytest.raises(UnknownName, match="there is no respondent with replies 'no/model'"):
        responses_to_judge(lab, study, ["no/model"])


def test_of_a_newcomers_replies_the_newest_is_judged(sqlite_lab: Lab) -> None:
    opened(sqlite_lab, between())
    furnish(sqlite_lab, "new/model")
    furnish(sqlite_lab, "new/model")
    study = judged_study(sqlite_lab, "small")
    found = responses_to_judge(sqlite_lab, study, ["new/model"])
    all_of_them = [
        response.response
        for response in set_responses(sqlite_lab, "dialogues")
        if response.respondent == "new/model"
    ]
    assert len(found) == 6
    assert min(item.response for item in found) > sorted(all_of_them)[len(all_of_them) // 2 - 1]


def test_an_older_version_is_named_with_its_number(lab: Lab) -> None:
    _, clock = opened(lab, between())
    launch(lab, altered(between(), version=2), now=clock())
    assert judged_study(lab, "small").row != judged_study(lab, "small@1").row
    assert judged_study(lab, "small@2").name == "small"
    with pytest.raises(UnknownName, match="there is no study 'small@3'"):
        judged_study(lab, "small@3")


def test_an_unknown_study_names_the_nearest(sqlite_lab: Lab) -> None:
    opened(sqlite_lab, between())
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        lab_judgements(sqlite_lab, "smal")


def test_respondents_must_have_replies(sqlite_lab: Lab) -> None:
    replies = replied(sqlite_lab, "a/model", "human")
    kept = select_responses(replies, ["human"], where="set dialogues")
    assert {item.respondent for item in kept} == {"human"}
    with pytest.raises(UnknownName, match="there is no respondent with replies 'humans'"):
        select_responses(replies, ["humans"], where="set dialogues")
    with pytest.raises(InputError, match="there are no replies to judge"):
        select_responses((), [], where="set dialogues")


def test_a_response_is_under_way_while_a_study_shows_it(lab: Lab) -> None:
    opened(lab, between())
    mine = [response.response for response in study_responses(lab, judged_study(lab, "small").row)]
    others = [
        response.response
        for response in set_responses(lab, "dialogues")
        if response.response not in mine
    ]
    number = judged_study(lab, "small").row
    assert studies_showing(lab, mine[:1]) == {number}
    assert studies_showing(lab, others) == set()
    with lab.writing() as connection:
        connection.execute(update(schema.studies).values(status="closed"))
    assert studies_showing(lab, mine) == set()


def test_judgements_go_with_the_response_they_are_about(lab: Lab) -> None:
    replies = replied(lab, "a/model")
    judge(lab, replies)
    with lab.writing() as connection:
        table = schema.responses
        connection.execute(delete(table).where(table.c.id == replies[0].response))
    assert lab_judgements(lab).height == 2
