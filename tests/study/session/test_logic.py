"""Conditions, screening, drawn attention checks, feedback, and rating and writing in one study."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.study import Study, parse_study
from empathylab.study.blocks.questions.conditions import condition
from empathylab.study.design.planning import needed_raters
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import Finished, Moved, Page, Saved, StudyService
from tests.study.examples import ids
from tests.study.service_examples import careful, opened, rows_of, someone, step_on, walk

LOGIC = """\
name: logic
version: 1
title: Logic
languages: [en]
design: between
seed: 5
arms: {one: first/model, two: second/model}
situations: {set: dialogues, count: 4}
batch_size: 2
ratings_per_response: 2
dimensions:
  - {name: empathy, question: How empathetic, labels: [Bad, Okay, Good]}
attention_pool:
  - {question: Choose B, options: [A, B], answer: B}
  - {question: Choose D, options: [C, D], answer: D}
  - {question: Choose F, options: [E, F], answer: F}
recruitment: {platform: open, codes: {screened-out: NOT-YOU}}
blocks:
  - block: consent
    text: Take part?
  - block: demographics
    screen_out_if: age < 18 or country == "Elsewhere"
    fields:
      - {name: age, label: Your age, kind: number, minimum: 1, maximum: 99}
      - {name: country, label: Country, kind: dropdown, options: [Germany, Elsewhere]}
      - name: uses
        label: What do you use
        kind: multi-select
        required: false
        options: [Chat, Mail]
  - block: questions
    id: older
    show_if: age >= 60 and not uses contains "Chat"
    fields:
      - {name: job, label: Your job, kind: text}
  - block: tutorial
    pages: [Read this]
    check:
      attempts: 3
      questions:
        - {question: "Sure?", options: ["Yes", "No"], answer: "Yes", explanation: It says so.}
        - {question: "Ready?", options: ["Yes", "No"], answer: "No"}
  - block: write
    text: What would you say?
  - block: rate
  - {block: attention, inside: rate, after: 1}
  - {block: attention}
  - block: debrief
    text: Thank you
"""


def study(text: str = LOGIC) -> Study:
    return parse_study(text, file="logic.yaml")


@pytest.fixture
def service(sqlite_lab: Lab) -> StudyService:
    return opened(sqlite_lab, study())[0]


def come(service: StudyService, name: str, **answers: str) -> str:
    """Someone who has consented and answered the demographics."""
    person = someone(service, name)
    step_on(service, person)
    given = {"age": "30", "country": "Germany", **answers}
    assert isinstance(service.submit(person, "demographics", given), Saved)
    return person


@pytest.mark.parametrize(
    ("text", "answers", "holds"),
    [
        ("age >= 60", {"age": 60}, True),
        ("age >= 60", {"age": 59.5}, False),
        ("age >= 60", {}, False),
        ("age >= 60", {"age": "60"}, False),
        ("not age >= 60", {}, True),
        ("age > 1 and age < 5", {"age": 3}, True),
        ("age < 1 or age < 5 and age > 3", {"age": 0}, True),
        ("(age < 1 or age < 5) and age > 3", {"age": 0}, False),
        ("land in ['A', \"B b\"]", {"land": "B b"}, True),
        ("land in ['A', 'B']", {"land": "C"}, False),
        ("how-often != 'Never'", {"how-often": "Daily"}, True),
        ("uses contains 'Chat'", {"uses": ["Mail", "Chat"]}, True),
        ("uses contains 'Chat'", {"uses": []}, False),
        ("score == -1.5", {"score": -1.5}, True),
    ],
)
def test_a_condition_holds_by_the_answers(
    text: str, answers: dict[str, object], holds: bool
) -> None:
    assert condition(text).holds(answers) is holds


@pytest.mark.parametrize(
    "text",
    [
        *("age", "age >=", "age >= x", "age = 3", "age >= 3 age", "(age > 1", "in ['A']"),
        *("age > 1 and", "__import__('os')", "age.real > 1", "not", "land in 'A'", "age > 1;"),
        *("land in []", "not " * 30 + "age > 1", "a" * 2000 + " > 1"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        condition(text)
    quoted = text.replace("'", "''")
    changed = LOGIC.replace("""age >= 60 and not uses contains "Chat\"""", f"'{quoted}'")
    with pytest.raises(UserError, match=r"logic.yaml line 33: 'blocks\[3\]\.show_if' must be"):
        study(changed)


@pytest.mark.parametrize(
    ("show_if", "message"),
    [
        ("agee > 1", "line 33.*no question 'agee'.*age"),
        ("job == 'nurse'", "line 33.*'job' is asked later"),
        ("age > 99", r"line 33.*no answer to 'age' \(\d+ to 99\)"),
        ("age < 1", "line 33.*no answer to 'age'"),
        ("age == 'old'", "no answer to 'age'"),
        ("country == 'Germani'", r"no answer to 'country' \(Germany, Elsewhere\)"),
        ("country > 3", "no answer to 'country'"),
        ("uses == 'Chat'", "no answer to 'uses'"),
        ("uses contains 'Fax'", "no answer to 'uses'"),
    ],
)
def test_a_condition_that_cannot_be_met_is_named_with_its_line(show_if: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        study(LOGIC.replace("""age >= 60 and not uses contains "Chat\"""", show_if))


def test_ratings_are_never_hidden() -> None:
    with pytest.raises(UserError, match="left out of a block rate: everyone sees it"):
        study(LOGIC.replace("  - block: rate", "  - block: rate\n    show_if: age > 50"))


def test_a_block_is_shown_by_earlier_answers_and_stays_so(service: StudyService) -> None:
    young = come(service, "a")
    assert service.view(young).step == "tutorial/1"  # type: ignore[union-attr]
    old = come(service, "b", age="61")
    assert service.view(old).step == "older"  # type: ignore[union-attr]
    # A second tab, or a browser that goes back, cannot change what has been decided.
    moved = service.submit(old, "demographics", {"age": "20", "country": "Germany"})
    assert isinstance(moved, Moved)
    assert isinstance(service.submit(young, "older", {"job": "nurse"}), Moved)
    again = StudyService(service.lab, "logic")  # another process, after a kill
    assert again.view(old).step == "older"  # type: ignore[union-attr]
    chatting = come(service, "c", age="61", **{"uses.Chat": "Chat"})
    assert service.view(chatting).step == "tutorial/1"  # type: ignore[union-attr]


def test_screening_ends_with_its_code_and_takes_no_place(service: StudyService) -> None:
    for name, answers in (("a", {"age": "17"}), ("b", {"country": "Elsewhere"})):
        person = come(service, name, **answers)
        seen = service.view(person)
        assert isinstance(seen, Finished)
        assert (seen.outcome, seen.completion.code) == ("screened-out", "NOT-YOU")
    assert [row["arm"] for row in rows_of(service.lab, schema.slots)] == [None, None]
    assert service.view(come(service, "c", age="18")).step == "tutorial/1"  # type: ignore[union-attr]


def test_feedback_says_what_was_wrong_and_attempts_go_on(service: StudyService) -> None:
    person = come(service, "a")
    step_on(service, person)
    service.submit(person, "tutorial/check/1", {"question-1": "2", "question-2": "2"})
    page = service.view(person)
    assert isinstance(page, Page)
    [mistake] = page.content.mistakes
    assert (mistake.question, mistake.answer, mistake.explanation) == ("Sure?", "No", "It says so.")
    assert (page.content.number, page.content.of) == (2, 3)


def test_checks_are_drawn_without_repeats_and_differ_between_people(
    service: StudyService, tmp_path: Path
) -> None:
    drawn = []
    for name in "abcd":
        person = come(service, name)
        asked = []
        while isinstance(page := service.view(person), Page):
            given = careful(service.study, page)
            if page.content.page == "attention":
                asked.append(page.content.asks[0].label)
                assert service.view(person).content == page.content  # type: ignore[union-attr]
                given = {"question": "1" if name == "a" else "2"}
            assert isinstance(service.submit(person, page.step, given), Saved)
        drawn.append(tuple(asked))
    assert all(len(set(item)) == 2 for item in drawn)
    assert len(set(drawn)) > 1
    failed = [row["details"]["failed_attention"] for row in rows_of(service.lab, schema.raters)]
    assert failed == [2, 0, 0, 0]
    service.actions.close()
    export_study(service.lab, "logic", tmp_path / "out")
    checks = pl.read_csv(tmp_path / "out" / "attention.csv")
    pool = [item.question.in_language("en") for item in service.study.attention_pool]
    first = checks.filter(rater=checks["rater"][0])
    assert [pool[number - 1] for number in first["asked"]] == list(drawn[0])
    assert first["right"].to_list() == [False, False]
    # Writing and rating are in one study, and every table says where in it something stood.
    written = pl.read_csv(tmp_path / "out" / "written_replies.csv")
    assert written.filter(rater=written["rater"][0])["position"].to_list() == [1, 2]
    pages = pl.read_csv(tmp_path / "out" / "pages.csv")
    mine = pages.filter(rater=pages["rater"][0])
    assert mine["position"].to_list() == list(range(1, mine.height + 1))
    ratings = pl.read_csv(tmp_path / "out" / "ratings.csv")
    assert ratings.filter(rater=ratings["rater"][0])["position"].to_list() == [1, 2]


def test_a_pool_that_is_too_small_is_refused() -> None:
    small = LOGIC.replace("  - {question: Choose D, options: [C, D], answer: D}\n", "").replace(
        "  - {question: Choose F, options: [E, F], answer: F}\n", ""
    )
    with pytest.raises(UserError, match="has 1 questions for 2 checks"):
        study(small)


@pytest.mark.parametrize(
    ("check", "noted"),
    [
        ("{question: Q, options: [Bad, Okay, Good], answer: Good}", "a common rating"),
        ("{question: Q, options: [Bad, Okay, Good], answer: Bad}", ""),
        ("{question: Q, options: [X, Y], answer: X}", "the first option"),
        ("{question: Q, options: [X, Y], answer: Y}", ""),
    ],
)
def test_a_check_that_asks_for_a_common_answer_is_noted(check: str, noted: str) -> None:
    changed = study(LOGIC.replace("{question: Choose B, options: [A, B], answer: B}", check))
    notes = [note for note in needed_raters(changed, ids(4)).notes if "people who do not" in note]
    assert [noted in note for note in notes] == ([True] if noted else [])


def test_writing_within_subjects_meets_each_situation_once(sqlite_lab: Lab) -> None:
    text = LOGIC.replace("design: between", "design: within")
    service, _ = opened(sqlite_lab, study(text))
    person = come(service, "a")
    walk(service, person)
    [place] = rows_of(sqlite_lab, schema.slots)
    assert place["status"] == "finished"
    with sqlite_lab.reading() as connection:
        steps = [row.step for row in connection.execute(schema.page_answers.select())]
    assert [step for step in steps if step.startswith(("write", "rate"))] == [
        *("write/1", "write/2"),
        *("rate/1", "rate/2", "rate/3", "rate/4"),
    ]
