"""Two runs side by side."""

from __future__ import annotations

import csv
import io

from empathylab.judging.asking import Asking
from empathylab.judging.scoring import plan_scoring, scoring_source
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.protocols import Responding, plan_responding
from empathylab.runs import Job, run
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import run_responses
from tests.helpers.labs import filled
from tests.judging import scoring_judges
from tests.judging.open_studies import show_replies
from tests.view.viewing import viewing

KIND = "That sounds really hard. How are you holding up?"
HIDDEN = "Judges&#39; scores of replies that an open study shows are left out until it is closed."


def refusing(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """Refuses one of the situations."""
    told = " ".join(message.content for message in messages)
    return "I'm sorry, but I can't help with that." if "biopsy" in told else KIND


def responded(lab: Lab, *names: str) -> None:
    """A run of replies to the first situation of each emotion, for each of these models."""
    dialogues = builtin_set("dialogues")
    chosen = Responding(dialogues, dialogues.first_per_group(1))
    for name in names:
        answer = refusing if name.endswith("refusing") else lambda *_: KIND
        run(lab, [Job(ScriptedModel(answer, name=name), [plan_responding(lab, name, chosen)])])


def scored(lab: Lab, number: int) -> None:
    """A judge scores the replies of that run."""
    plan = plan_scoring(run_responses(lab, number), scoring_source(number), Asking())
    run(lab, [Job(ScriptedModel(scoring_judges.good, name="the/judge"), [plan])])


def test_answers_with_different_outcomes_come_first(lab: Lab, database: str | None) -> None:
    responded(lab, "a/kind", "b/refusing")
    with viewing(lab, database=database) as visitor:
        text = visitor.get("/runs/compare?first=1&second=2&csv=answers").text
        page = visitor.get("/runs/compare?first=1&second=2").text
        with lab.writing() as connection:
            connection.execute(schema.answers.update().values(text=KIND * 10))
        long = visitor.get("/runs/compare?first=1&second=2&csv=answers").text
    assert KIND * 10 in long
    rows = list(csv.DictReader(io.StringIO(text)))
    outcomes = [(row["first_outcome"], row["second_outcome"]) for row in rows]
    assert outcomes == [("valid", "refusal"), *[("valid", "valid")] * 31]
    assert rows[0]["key"].startswith("anxious-1/")
    assert rows[0]["first_text"] == KIND
    assert "1–25 of 32" in page
    assert "<dt>Completion tokens</dt>" in page


def test_a_run_is_compared_with_the_newest_other_of_its_instrument(sqlite_lab: Lab) -> None:
    responded(sqlite_lab, "a/one", "a/two", "a/three")
    filled(sqlite_lab, situations=1)
    with viewing(sqlite_lab) as visitor:
        assert 'href="/runs/compare?first=1"' in visitor.get("/runs/1").text
        with sqlite_lab.writing() as connection:
            other = {"situations": "other (version 1)"}
            newest = schema.runs.c.id == 5  # the replies of `filled`
            connection.execute(schema.runs.update().where(newest).values(settings=other))
        page = visitor.get("/runs/compare?first=1").text
        assert visitor.get("/runs/compare?first=99").status_code == 200
        assert visitor.get("/runs/compare?first=99&second=1").status_code == 404
    assert "Run 1 (a/one" in page
    assert "Run 3 (a/three" in page


def test_scores_of_replies_that_an_open_study_shows_are_not_compared(sqlite_lab: Lab) -> None:
    responded(sqlite_lab, "a/one", "a/two")
    scored(sqlite_lab, 1)
    address = "/runs/compare?first=1&second=2"
    with viewing(sqlite_lab) as visitor:
        assert "There are no scores to compare" in visitor.get(address).text
        scored(sqlite_lab, 2)
        assert "scored by the/judge" in visitor.get(address).text
        show_replies(sqlite_lab, [reply.response for reply in run_responses(sqlite_lab, 1)])
        page = visitor.get(address).text
    assert "scored by the/judge" not in page
    assert HIDDEN in page
