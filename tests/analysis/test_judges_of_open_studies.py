"""What is shown of judges' scores of replies that an open study shows, in every output."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select, update

from empathylab.analysis import overview, scores
from empathylab.analysis.pairs import from_lab as compare
from empathylab.analysis.scores.gates import Conditions, Measured, check_gates
from empathylab.analysis.scores.prose import HIDDEN_SCORES
from empathylab.errors import InputError
from empathylab.judging.asking import Asking
from empathylab.judging.scoring import plan_scoring, scoring_source
from empathylab.models import ScriptedModel
from empathylab.protocols import Responding, plan_responding
from empathylab.report import render
from empathylab.runs import Job, run
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import judged_study, run_responses, study_responses
from empathylab.store.judgements import rubric_scores
from empathylab.store.studies.embargo import responses_in_open_studies
from empathylab.store.transfer import lab_records, run_records
from empathylab.study.session.service import StudyService, launch
from tests.helpers.command_line import empathylab
from tests.judging import scoring_judges
from tests.judging.open_studies import rate_by_people, show_replies
from tests.study.examples import between
from tests.study.service_examples import START, furnish
from tests.view.test_compared_runs import responded, scored

FIRST, SECOND, JUDGING = 1, 2, 3
"""Two runs of replies, and the judge's run about the first."""


def replies(lab: Lab, run: int) -> list[int]:
    return [reply.response for reply in run_responses(lab, run)]


@pytest.fixture
def judged(sqlite_lab: Lab) -> Lab:
    """Two models' replies with a judge's scores of them, none of which a study shows."""
    responded(sqlite_lab, "a/one", "b/two")
    scored(sqlite_lab, FIRST)
    scored(sqlite_lab, SECOND)
    return sqlite_lab


def close(lab: Lab) -> None:
    with lab.writing() as connection:
        connection.execute(update(schema.studies).values(status="closed"))


@pytest.mark.parametrize("paused", [False, True])
def test_the_report_has_no_scores_of_the_arms_of_an_open_study(
    sqlite_lab: Lab, paused: bool
) -> None:
    dialogues = builtin_set("dialogues")
    for name in ("first/model", "second/model"):
        model = ScriptedModel(scoring_judges.model, name=name)
        everything = Responding(dialogues, dialogues.situations)
        run(sqlite_lab, [Job(model, [plan_responding(sqlite_lab, name, everything)])])
    furnish(sqlite_lab)
    launch(sqlite_lab, between(), now=START)
    service = StudyService(sqlite_lab, "small")
    judge = ScriptedModel(scoring_judges.good, name="the/judge")
    shown = study_responses(sqlite_lab, judged_study(sqlite_lab, "small").row)
    for number in (FIRST, SECOND):
        mine = tuple(reply for reply in run_responses(sqlite_lab, number) if reply in shown)
        plan = plan_scoring(mine, scoring_source(number), Asking())
        run(sqlite_lab, [Job(judge, [plan])])
    if paused:
        service.actions.pause()
    data = overview.from_lab(sqlite_lab)
    assert data.scores == ()
    assert HIDDEN_SCORES in data.unrated
    assert "scored by the/judge" not in render(data)
    service.actions.close()
    data = overview.from_lab(sqlite_lab)
    assert [item.n for item in data.scores[0].respondents] == [6, 6]
    assert HIDDEN_SCORES not in data.unrated


def test_hidden_scores_are_said_and_are_not_taken_for_failures_of_the_judge(judged: Lab) -> None:
    whole = replies(judged, FIRST)
    show_replies(judged, whole[:5])
    result = scores.from_lab(judged, "the/judge", runs=[FIRST])
    [mine] = result.respondents
    assert (mine.n, result.replies[FIRST].hidden) == (len(whole) - 5, 5)
    said = f"5 of {len(whole)} replies of a/one have hidden scores. {HIDDEN_SCORES}"
    assert said in result.caveats


def test_a_gate_fails_for_hidden_scores_and_says_so(judged: Lab) -> None:
    whole = replies(judged, FIRST)
    show_replies(judged, whole)
    result = scores.from_lab(judged, "the/judge", runs=[FIRST])
    measured = Measured("a/one", (FIRST,), len(whole), len(whole))
    [gate] = check_gates(Conditions({"replies.empathy": 1.0}), [measured], {"a/one": result})
    assert not gate.passed
    assert gate.value is None
    assert gate.reason.endswith(HIDDEN_SCORES.rstrip("."))


def test_scores_by_the_rubric_are_compared_once_the_study_is_closed_or_for_a_reason(
    judged: Lab,
) -> None:
    study = show_replies(judged, replies(judged, FIRST)[:1])
    with pytest.raises(InputError, match="study running: the study is still open"):
        compare(judged, "a/one", "b/two", on="judge")
    result = compare(judged, "a/one", "b/two", on="judge", peek="The board asks", who="me")
    audit = schema.audit
    with judged.reading() as connection:
        [kept] = connection.execute(select(audit).where(audit.c.study_id == study)).all()
    assert (kept.who, kept.action, kept.details["reason"]) == ("me", "peek", "The board asks")
    close(judged)
    closed = compare(judged, "a/one", "b/two", on="judge")
    assert result.difference.n_pairs == closed.difference.n_pairs


def test_scores_of_replies_that_people_rated_in_a_closed_study_are_shown(judged: Lab) -> None:
    shown = replies(judged, FIRST)[:4]
    earlier = show_replies(judged, shown[:2], name="earlier", status="closed")
    show_replies(judged, shown)
    rate_by_people(judged, earlier, shown[:1])
    assert set(responses_in_open_studies(judged)) == set(shown[1:])
    visible = set(rubric_scores(judged, [FIRST])["response"])
    assert visible & set(shown) == set(shown[:1])


def test_answers_of_a_judge_about_an_open_study_are_not_passed_on(judged: Lab) -> None:
    whole = replies(judged, FIRST)
    show_replies(judged, whole[:5])
    with judged.reading() as connection:
        for records in (run_records(connection, JUDGING), lab_records(connection)):
            mine = {row["id"] for row in records["answers"] if row["run_id"] == JUDGING}
            assert len(mine) == (len(whole) - 5) * 7
            judgements = [row for row in records["judgements"] if row["answer_id"] in mine]
            assert {row["response_id"] for row in judgements} == set(whole[5:])


def test_answers_of_a_judge_about_an_open_study_are_not_printed(
    judged: Lab, tmp_path: Path
) -> None:
    show_replies(judged, replies(judged, FIRST)[:1])
    lab = ("--lab", judged.folder)
    assert empathylab("runs", "show", JUDGING, *lab).exit_code == 0
    for command in (("show", JUDGING, "--answers", 3), ("export", JUDGING, tmp_path / "a.jsonl")):
        done = empathylab("runs", *command, *lab)
        assert done.exit_code == 2
        assert "run 3: the answers of this judge are hidden" in done.stderr
    assert not (tmp_path / "a.jsonl").exists()
    close(judged)
    assert empathylab("runs", "show", JUDGING, "--answers", 3, *lab).exit_code == 0
