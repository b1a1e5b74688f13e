"""A study with live replies from its launch to recipients, onlookers and judges side by side."""

from __future__ import annotations

import json

import pytest

from empathylab.analysis import overview, recipients
from empathylab.analysis.recipients.stimuli import reply_release
from empathylab.errors import InputError
from empathylab.export.lab_tables import lab_tables
from empathylab.judging.instruments import study_instrument
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import ScriptedModel
from empathylab.runs import Job, run
from empathylab.store import Lab
from empathylab.store.judged_responses import judged_study, study_responses
from empathylab.study import parse_study
from empathylab.study.session.service import Finished, Page, StudyService, launch
from tests.helpers.command_line import as_json
from tests.study.service_examples import Clock, someone

HELPED = """\
name: helped
version: 1
title: Being helped
languages: [en]
seed: 7
recruitment: {platform: open, codes: {completed: DONE, interrupted: SORRY, safety: CARE}}
help: Call 123.
live:
  authors:
    model: {text: That sounds hard., written_by: model}
    person: {text: Thank you for telling me., written_by: person}
  labels:
    ai: {text: This reply was written by an AI., claims: model}
    human: {text: This reply was written by a person., claims: person}
  people_per_condition: 6
  delay: {minimum: 1, maximum: 2}
blocks:
  - {block: consent, text: "Take part?"}
  - {block: feel, id: early, scale: mood, phase: before}
  - {block: tell, text: Tell us., minimum_words: 3, maximum_words: 50}
  - {block: reply}
  - {block: feel, scale: mood}
  - block: questions
    fields:
      - {name: heard, label: Heard, kind: choice, options: ["1", "2", "3", "4", "5"]}
      - {name: share, label: Share, kind: choice, options: ["yes", "no"]}
  - {block: debrief, title: The end, text: Thank you., reveals: "The label may have been false."}
"""
ONLOOKERS = """\
name: onlookers
version: 1
title: Replies of others
languages: [en]
design: between
seed: 3
arms: {received: replies}
situations: {set: replies}
batch_size: 16
ratings_per_response: 2
dimensions: [{name: heard, question: Heard, labels: ["1", "2", "3", "4", "5"]}]
recruitment: {platform: open}
blocks:
  - {block: consent, text: "Take part?"}
  - {block: rate, shows: [situation]}
  - {block: debrief, title: The end, text: Thank you}
"""


def opened(lab: Lab, text: str) -> tuple[StudyService, Clock]:
    clock, study = Clock(), parse_study(text)
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock), clock


def help_everybody(lab: Lab) -> list[tuple[bool, int]]:
    """24 people; those with the model's reply feel heard. Every third does not share it."""
    service, clock = opened(lab, HELPED)
    heard = []
    for number in range(24):
        person = someone(service, f"person {number}")
        service.submit(person, "consent", {"agree": "yes"})
        answers(service, person, 3)
        service.submit(person, "tell", {"story": f"Something sad happened to me, {number}."})
        clock.skip(seconds=5)
        page = service.view(person)
        assert isinstance(page, Page), page
        by_model = any("sounds hard" in part.text for part in page.content.parts)
        service.submit(person, page.step, {})
        answers(service, person, 5 if by_model else 4)
        heard.append((by_model, 3 + 2 * by_model - number % 2))
        shares = "no" if number % 3 == 2 else "yes"
        given = {"heard": str(heard[-1][1]), "share": shares}
        service.submit(person, "questions", given)
        service.submit(person, "debrief/reveal", {"data": "keep"})
        assert isinstance(service.view(person), Finished)
    hidden = overview.from_lab(lab)
    assert (hidden.recipients, len(hidden.unrated)) == ((), 1)  # its progress alone
    service.actions.close()
    return heard


def answers(service: StudyService, person: str, value: int) -> None:
    page = service.view(person)
    assert isinstance(page, Page), page
    service.submit(person, page.step, {f"item-{item}": str(value) for item in range(1, 9)})


def test_replies_of_a_live_study_are_analysed_and_rated_by_others(sqlite_lab: Lab) -> None:
    lab = sqlite_lab
    heard = help_everybody(lab)
    result = recipients.from_lab(lab, "helped")
    assert set(result.table.outcomes) == {"heard", "mood unpleasant", "mood pleasant"}
    assert result.design["participants"] == 24
    assert set(result.table.before) == {"mood unpleasant", "mood pleasant"}
    cells = {(cell.response, cell.label): cell for cell in result.outcomes[0].cells}
    assert {cell.n for cell in cells.values()} == {6}
    author = next(effect for effect in result.outcomes[0].effects if effect.term == "response")
    assert (author.level, author.reference) == ("model", "person")
    # Twelve each, so the effect is the difference of the plain means.
    by_model, by_person = ([one for ai, one in heard if ai is kind] for kind in (True, False))
    assert author.estimate == pytest.approx((sum(by_model) - sum(by_person)) / 12)
    assert "replies by AI higher than replies by people" in str(result.conclusions[0])
    assert result.outcomes[0].groups == ()  # one text each: no replier varies
    tables = lab_tables(lab).tables
    exported = tables["recipients"]
    assert set(exported["participant"]) == set(tables["raters"]["rater"])  # to be joined by it
    assert exported.filter(outcome="heard")["value"].sum() == sum(by_model + by_person)

    with pytest.raises(InputError, match="no participant answered share with perhaps"):
        reply_release(lab, "helped", name="replies", consent=("share", "perhaps"))
    command = ("data", "stimuli", "replies", "--study", "helped", "--consent", "share=yes")
    [row] = as_json(*command, "--lab", lab.folder)["stimuli"]
    assert (row["situations"], row["responses"]) == (16, 16)

    service, _ = opened(lab, ONLOOKERS)
    for number in range(2):
        person = someone(service, f"onlooker {number}")
        service.submit(person, "consent", {"agree": "yes"})
        for turn in range(16):
            page = service.view(person)
            assert isinstance(page, Page), page
            service.submit(person, page.step, {"heard": str(1 + turn % 5)})
    service.actions.close()
    study = judged_study(lab, "onlookers")
    plan = plan_judging(
        Judging(study_instrument(study), study_responses(lab, study.row), "study", study.row)
    )
    run(lab, [Job(ScriptedModel([json.dumps({"heard": "4"})], name="the/judge"), [plan])])

    found = {
        (item.first, item.second): item
        for item in recipients.from_lab(lab, "helped").agreement
        if item.outcome == item.dimension == "heard"
    }
    assert set(found) == {
        ("recipients", "onlookers"),
        ("recipients", "the/judge"),
        ("onlookers", "the/judge"),
    }
    onlookers = found["recipients", "onlookers"]
    assert (onlookers.n, onlookers.participants) == (16, 16)
    assert -1 < onlookers.correlation < 1
