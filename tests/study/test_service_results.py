"""What finished work becomes: ratings, administrations and replies that analyses read."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from empathylab.scales import builtin_scale
from empathylab.store import Lab, responses_frame, schema
from empathylab.store.administrations import read_appraisals
from empathylab.store.inserts import add_respondent
from empathylab.store.ratings import rater_answers_frame, raters_frame, ratings_frame
from empathylab.store.studies.results import FinishedWork, GivenReply, add_finished_work
from empathylab.study import parse_study, preset_text
from empathylab.study.session.service import Finished, Page, StudyService, launch
from tests.study.examples import SITUATION_PRESETS, appraisal, between
from tests.study.service_examples import (
    START,
    Clock,
    furnish,
    opened,
    rows_of,
    someone,
    step_on,
    walk,
)

WRITE = """\
name: writers
version: 1
title: Replies
languages: [en]
seed: 5
situations: {set: dialogues, count: 2}
batch_size: 2
people_per_situation: 2
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: write
    text: What would you say?
    shows: [situation]
  - block: debrief
    text: Thank you
"""


def rate_all(service: StudyService, person: str, value: str) -> None:
    """Goes to the end and rates everything alike."""
    while True:
        page = walk(service, person, until="rate")
        if isinstance(page, Finished):
            return
        service.submit(person, page.step, {"empathy": value}, {})


def test_nothing_is_rated_before_the_end(lab: Lab) -> None:
    service, _ = opened(lab)
    walk(service, someone(service, "ann"), until="comment")
    assert rows_of(lab, schema.ratings) == []
    assert rows_of(lab, schema.raters) == []


def test_ratings_are_of_the_very_replies_that_were_shown(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    shown = []
    while isinstance(page := walk(service, person, until="rate"), Page):
        shown.append(next(part.text for part in page.content.parts if part.role == "reply"))
        service.submit(person, page.step, {"empathy": str(len(shown))}, {})
    ratings = ratings_frame(lab, "small")
    assert ratings["text"].to_list() == shown
    assert ratings["rating"].to_list() == [1.0, 2.0]
    assert ratings["label"].to_list() == ["Bad", "Okay"]
    assert ratings["rater"].unique().to_list() == [person]


def test_what_was_said_about_oneself_becomes_columns_and_totals(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="attention")
    service.submit(person, "attention", {"question": "1"}, {})
    walk(service, person)
    [rater] = raters_frame(lab, "small").to_dicts()
    # Every item answered 2 of 0 to 4; reversed items too.
    assert rater["teq"] == 2.0 * builtin_scale("teq").items
    assert (rater["age"], rater["sex"], rater["failed_attention"]) == (30.0, "male", 1.0)
    assert rater["seconds"] > 0
    assert len(rater_answers_frame(lab, "small")) == builtin_scale("teq").items


def test_a_shuffled_scale_keeps_the_order_in_which_it_was_shown(lab: Lab) -> None:
    service, _ = opened(lab, appraisal())
    person = someone(service, "ann")
    shown: dict[str, list[int]] = {}
    while isinstance(page := service.view(person), Page):
        if page.content.page == "scale":
            names = [row.value for ask in page.content.asks for row in ask.rows]
            shown[page.step] = [int(name.removeprefix("item-")) for name in names]
        step_on(service, person)
    rows = rows_of(lab, schema.administrations)
    assert [(row["phase"], row["item_order"]) for row in rows] == [
        ("default", shown["before"]),
        ("evoked", shown["after"]),
    ]
    assert shown["before"] != sorted(shown["before"])
    assert rows[0]["situation_id"] is None
    slot = service.launched.slots["everyone"][0]
    assert rows[1]["situation_id"] == service.launched.situation_rows[slot.items[0].situation]
    # A rater's answers are not those of a respondent that is measured.
    assert read_appraisals(lab).administrations.is_empty()


def test_written_replies_are_responses_of_people(lab: Lab) -> None:
    service, _ = opened(lab, parse_study(WRITE))
    for name in ("ann", "bob"):
        walk(service, someone(service, name))
    assert responses_frame(lab).is_empty()  # while the study is open
    service.actions.close()
    replies = responses_frame(lab).filter(respondent="human")
    assert replies["kind"].unique().to_list() == ["human"]
    assert replies["text"].unique().to_list() == ["I am so sorry to hear it"]
    per_situation = replies.group_by("situation").agg("sample").sort("situation")
    assert per_situation["sample"].to_list() == [[0, 1], [0, 1]]
    details = rows_of(lab, schema.responses)[-1]["details"]
    assert (details["study"], details["version"]) == ("writers", 1)


def test_replies_are_numbered_one_after_the_other_across_studies(lab: Lab) -> None:
    service, clock = opened(lab, parse_study(WRITE))
    launch(lab, parse_study(WRITE.replace("name: writers", "name: others")), now=clock())
    situation = next(iter(service.launched.situation_rows.values()))
    with lab.writing() as connection:
        add_respondent(connection, "human", "human")
    # By a person who finishes in one study, and one who does so meanwhile in the other.
    with ThreadPoolExecutor(1) as pool:
        with lab.writing() as connection:
            add_finished_work(connection, 1, {}, written(situation, "ann"), clock())
            after = pool.submit(finish_elsewhere, lab, situation, clock())
            time.sleep(0.3)  # long enough to read which number is free, if nothing kept it
        after.result()
    replies = rows_of(lab, schema.responses)
    assert sorted(reply["sample"] for reply in replies) == [0, 1]


def written(situation: int, person: str) -> FinishedWork:
    return FinishedWork(person, {}, None, (), (), (GivenReply(situation, "Oh dear", 1),))


def finish_elsewhere(lab: Lab, situation: int, at: datetime) -> None:
    with lab.writing() as connection:
        add_finished_work(connection, 2, {}, written(situation, "bob"), at)


def test_what_simulated_raters_write_is_no_human_reply(lab: Lab) -> None:
    service, _ = opened(lab, parse_study(WRITE))
    for world in ("simulated", "test"):
        walk(service, someone(service, "ann", world=world))
    assert responses_frame(lab).is_empty()
    service.actions.forget(platform_id="ann")
    assert rows_of(lab, schema.page_answers) == []


def test_simulated_raters_and_trials_are_marked_and_left_out(lab: Lab) -> None:
    service, _ = opened(lab)
    for world in ("simulated", "test"):
        walk(service, someone(service, "bot", world=world))
    assert [row["details"]["marks"] for row in rows_of(lab, schema.raters)] == [
        {"world": "simulated"},
        {"world": "test"},
    ]
    assert len(rows_of(lab, schema.ratings)) == 4
    assert ratings_frame(lab, "small").is_empty()
    assert raters_frame(lab, "small").is_empty()
    assert rater_answers_frame(lab, "small").is_empty()


def test_versions_are_analysed_apart(lab: Lab) -> None:
    service, clock = opened(lab)
    walk(service, someone(service, "ann"))
    later, _ = opened(lab, between(version=2), clock=clock)
    for name in ("bob", "cleo"):
        walk(later, someone(later, name))
    assert len(ratings_frame(lab, "small")) == 4
    assert len(ratings_frame(lab, "small@1")) == 2
    assert len(ratings_frame(lab, "small@2")) == 4


@pytest.mark.parametrize("preset", SITUATION_PRESETS)
def test_every_preset_is_launched_and_finished(sqlite_lab: Lab, preset: str) -> None:
    study = parse_study(preset_text(preset))
    assert study.situations.set is not None
    furnish(
        sqlite_lab,
        *(arm.respondent for arm in study.arms.values()),
        chosen=study.situations.set,
    )
    launch(sqlite_lab, study, now=START)
    service = StudyService(sqlite_lab, study.name, clock=Clock())
    assert isinstance(walk(service, someone(service, "ann")), Finished)
    rated = len(study.dimensions) * sum(
        arm.finished * len(service.launched.slots[arm.arm][0].items)
        for arm in service.actions.status().arms
    )
    assert service.actions.status().ratings == rated


def test_analyze_ratings_works_on_a_study_that_the_lab_ran(sqlite_lab: Lab) -> None:
    from empathylab.cli import app

    service, _ = opened(sqlite_lab)
    for number in range(12):
        person = someone(service, str(number))
        walk(service, person, until="rate")
        first = rows_of(sqlite_lab, schema.slots)[-1]["arm"] == "one"
        rate_all(service, person, "3" if first else str(1 + number % 2))
    walk(service, someone(service, "bot", world="simulated"))
    service.actions.close()
    command = ["analyze", "ratings", "--study", "small", "--lab", str(sqlite_lab.folder), "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.stderr
    said: dict[str, Any] = json.loads(result.stdout)
    assert "one" in json.dumps(said)
    assert "two" in json.dumps(said)
    counts = ratings_frame(sqlite_lab, "small").group_by("arm", "label").len().sort("arm", "label")
    assert counts.filter(arm="one").rows() == [("one", "Good", 12)]
