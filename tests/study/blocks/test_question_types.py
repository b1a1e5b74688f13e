"""Question types: what is stored, what is refused, what is exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from empathylab.analysis import ratings
from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.store.ratings import lab_study, preferences_frame
from empathylab.study import ParticipantPath, parse_study
from empathylab.study.blocks.content import check_answer
from empathylab.study.blocks.forms import Accepted, Refused
from empathylab.study.bots import Settings, served, walk
from empathylab.study.exports.folders import export_study
from empathylab.study.session.flow import study_steps
from empathylab.study.web import visit_token
from tests.helpers.command_line import empathylab
from tests.study.examples import scales
from tests.study.question_examples import ABOUT, EVERY_QUESTION, STORED
from tests.study.service_examples import opened, rows_of, someone
from tests.study.service_examples import walk as walk_by_hand

STUDY = parse_study(EVERY_QUESTION)
PATH = ParticipantPath(STUDY, scales(), 4, "somebody")
RATED = {
    "empathy": "7",
    "warmth": "65",
    "heard": "1",
    "helped": "3",
    "why": "It listens",
    "traits.Kind": "Kind",
}


def answered(key: str, given: dict[str, Any]) -> Accepted | Refused:
    step = next(step for step in study_steps(PATH, {}) if step.key == key)
    return check_answer(PATH, step, given)


def test_right_answers_are_stored_by_question() -> None:
    assert answered("about", ABOUT) == Accepted(STORED)
    rated = {"empathy": 7, "warmth": 65, "heard": 1, "helped": 3, "why": "It listens"}
    assert answered("rate/1", RATED) == Accepted(rated | {"traits": ["Kind"]})
    assert answered("compare/2", {"preference": "tie"}) == Accepted({"preference": "tie"})


@pytest.mark.parametrize(
    ("changed", "name", "code"),
    [
        ({"country": "France"}, "country", "not-an-option"),
        ({"country": ""}, "country", "missing"),
        ({"country": ["CH", "Germany"]}, "country", "twice"),
        ({"devices.Phone": "", "devices.Tablet": ""}, "devices", "missing"),
        ({"devices.Phone": "Tablet"}, "devices", "not-an-option"),
        ({"devices.Toaster": "Toaster"}, "devices", "not-an-option"),
        ({"devices.Phone": ["Phone", "Phone"]}, "devices", "twice"),
        (
            {"devices.A laptop or a desktop computer": "A laptop or a desktop computer"},
            "devices",
            "too-many-choices",
        ),
        ({"mood": "101"}, "mood", "not-on-slider"),
        ({"mood": "-1"}, "mood", "not-on-slider"),
        ({"mood": "50.5"}, "mood", "not-on-slider"),
        ({"mood": "high"}, "mood", "not-on-slider"),
        ({"mood": ""}, "mood", "missing"),
        ({"mood": ["5", "6"]}, "mood", "twice"),
        ({"matters.Warmth": "1"}, "matters", "same-place"),
        ({"matters.Warmth": "4"}, "matters", "not-an-option"),
        ({"matters.Warmth": "0"}, "matters", "not-an-option"),
        ({"matters.Warmth": "first"}, "matters", "not-an-option"),
        ({"matters.Warmth": ""}, "matters", "unranked"),
        ({"matters.Speed": "1"}, "matters", "not-an-option"),
        (
            {f"matters.{value}": "" for value in ("Warmth", "Advice", "Honesty")},
            "matters",
            "missing",
        ),
        ({"habits.talk": ""}, "habits", "missing-rows"),
        ({"habits.talk": "Daily"}, "habits", "not-an-option"),
        ({"habits.sing": "Often"}, "habits", "not-an-option"),
        ({"habits.talk": ["Often", "Never"]}, "habits", "twice"),
        ({"diary": "word " * 61}, "diary", "too-many-words"),
        ({"diary": "w" * 10_001}, "diary", "too-long"),
    ],
)
def test_a_bad_answer_is_refused(changed: dict[str, Any], name: str, code: str) -> None:
    refused = answered("about", ABOUT | changed)
    assert isinstance(refused, Refused)
    assert {one: found.code for one, found in refused.problems.items()} == {name: code}


@pytest.mark.parametrize(
    ("changed", "name", "code"),
    [
        ({"warmth": "64"}, "warmth", "not-on-slider"),
        ({"warmth": ""}, "warmth", "missing"),
        ({"heard": "4"}, "heard", "not-an-option"),
        ({"why": "Nice"}, "why", "too-short"),
        ({"traits.Cruel": "Cruel"}, "traits", "not-an-option"),
    ],
)
def test_a_bad_answer_about_a_reply_is_refused(
    changed: dict[str, Any], name: str, code: str
) -> None:
    refused = answered("rate/1", RATED | changed)
    assert isinstance(refused, Refused)
    assert {one: found.code for one, found in refused.problems.items()} == {name: code}


def test_a_preference_is_one_of_the_replies() -> None:
    assert isinstance(answered("compare/1", {"preference": "third"}), Refused)
    without = parse_study(EVERY_QUESTION.replace("more empathy?", "more empathy?\n    ties: false"))
    path = ParticipantPath(without, scales(), 4, "somebody")
    step = next(step for step in study_steps(path, {}) if step.key == "compare/1")
    assert isinstance(check_answer(path, step, {"preference": "tie"}), Refused)


def test_unfinished_parts_are_kept_as_a_draft(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, STUDY)
    person = someone(service, "a")
    walk_by_hand(service, person, until="questions")
    service.save_draft(person, "about", {"matters.Warmth": "2", "habits.talk": "Never"})
    page = service.view(person)
    assert page.draft == {"matters": {"Warmth": 2}, "habits": {"talk": "Never"}}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("kind: ranking", "kind: rankin", "rankin"),
        ("maximum: 2\n", "maximum: 4\n", "line 40.*'blocks.2..fields.3..maximum' must be from 1"),
        ("step: 5", "step: 7", "line 21.*a step that leads from 0 to 100"),
        ("options: [Warmth, Advice, Honesty]", "options: [Warmth, Warmth]", "two options 'Warmth'"),
        ("name: why", "name: warmth", "the page already asks 'warmth'"),
        ("design: within", "design: between", "several replies to the same situation"),
    ],
)
def test_a_wrong_entry_in_the_file_is_named(before: str, after: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_study(EVERY_QUESTION.replace(before, after), file="study.yaml")


def test_bots_answer_every_type_and_everything_is_exported(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(sqlite_lab, STUDY)
    token = visit_token("simulated", service.secret)
    with served(service) as address:
        crowd = ["careful", "fast", "straightliner", "backtracker"]
        met = walk(f"{address}?visit={token}", crowd, Settings())  # type: ignore[arg-type]
    assert (met.lost, dict(met.errors), met.ends["Every question"]) == (0, {}, 4)
    person = someone(service, "a")
    walk_by_hand(service, person, until="questions")
    service.submit(person, "about", ABOUT)
    walk_by_hand(service, person)
    export_study(sqlite_lab, STUDY.name, tmp_path / "open")
    assert not (tmp_path / "open" / "preferences.csv").exists()
    assert not (tmp_path / "open" / "answers.csv").exists()
    service.actions.close()
    export_study(sqlite_lab, STUDY.name, tmp_path / "out")
    read = {
        path.stem: pl.read_csv(path)
        for path in (tmp_path / "out").iterdir()
        if path.suffix == ".csv"
    }
    [rater] = read["raters"].to_dicts()
    assert (rater["devices_1"], rater["devices_2"], rater["devices_3"]) == (1, 1, 0)
    assert (rater["matters_1"], rater["matters_3"], rater["habits_1"]) == (2, 1, "Often")
    assert (rater["country"], rater["mood"]) == ("CH", 70)
    ratings = read["ratings"]
    assert ratings["position"].unique().sort().to_list() == [1, 2, 3, 4]
    assert set(ratings.filter(dimension="warmth")["rating"]) == {100}
    pairs = read["preferences"]
    assert pairs["position"].to_list() == [1, 2]
    assert all({row["first"], row["second"]} == {"one", "two"} for row in pairs.to_dicts())
    answers = read["answers"]
    assert answers.filter(question="why")["answer"].unique().to_list() == [
        "I am so sorry to hear it"
    ]
    assert answers.filter(question="traits", part="Rushed")["answer"].to_list() == ["1"] * 4
    meanings = {(row["table"], row["column"]): row for row in read["data_dictionary"].to_dicts()}
    assert meanings["raters", "matters_1"]["meaning"].endswith("Rank (1 = first) of: Warmth")
    assert meanings["raters", "devices_3"]["meaning"].endswith("computer")
    assert "why (What made you rate it so?)" in meanings["answers", "question"]["values"]
    assert "warmth: 0 to 100" in meanings["ratings", "rating"]["values"]
    study = lab_study(sqlite_lab, STUDY.name)
    assert {dimension.name: (dimension.values, dimension.ends) for dimension in study.dimensions}[
        "warmth"
    ] == (
        (),
        (0.0, 100.0),
    )
    assert preferences_frame(sqlite_lab, STUDY.name)["outcome"].to_list() == ["second"] * 2
    assert len(rows_of(sqlite_lab, schema.ratings)) == 5 * 4 * 4


def test_a_study_of_comparisons_alone_names_their_analysis(tmp_path: Path) -> None:
    study = parse_study(
        """\
name: pairs
version: 1
title: Which reply is better
languages: [en]
design: within
seed: 11
arms: {one: first/model, two: second/model}
situations: {set: dialogues, count: 2}
batch_size: 2
dimensions: [{name: empathy, question: Which one, labels: [Bad, Good]}]
recruitment: {platform: open}
blocks:
  - {block: consent, text: Take part}
  - {block: compare, question: Which is more empathetic}
  - {block: debrief, text: Thanks}
"""
    )
    with Lab.open(tmp_path / "lab") as lab:
        service, _ = opened(lab, study)
        walk_by_hand(service, someone(service, "a"))
        service.actions.close()
        with pytest.raises(UserError, match="analyze preferences --study pairs"):
            ratings.from_lab(lab)
    shown = empathylab("data", "show", "pairs", "--lab", tmp_path / "lab").stdout
    assert "The analysis: empathylab analyze preferences --study pairs" in shown


def test_a_condition_on_a_single_question_is_refused_with_the_way_out() -> None:
    text = EVERY_QUESTION.replace("kind: number,", "kind: number, show_if: 'mood > 50',")
    with pytest.raises(UserError, match="a single question cannot have `show_if`") as refused:
        parse_study(text)
    assert "its own block `questions`" in str(refused.value)
