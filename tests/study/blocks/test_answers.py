"""What a submitted page may hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.study import ParticipantPath, Step, Study, parse_study
from empathylab.study.blocks.content import check_answer, valid_values
from empathylab.study.blocks.forms import Accepted, Refused, clean_text, problem
from empathylab.study.session.flow import study_steps
from tests.study.examples import APPRAISAL, BETWEEN, between, scales

WRITING = APPRAISAL[: APPRAISAL.index("  - block: scale")] + (
    "  - block: write\n    text: Reply\n    minimum_words: 3\n    maximum_words: 5\n"
    "  - block: debrief\n    text: Thank you\n"
)


def page(key: str, study: Study | None = None) -> tuple[ParticipantPath, Step]:
    course = ParticipantPath(study or between(), scales(), 2, "p")
    return course, next(step for step in study_steps(course, {}) if step.key == key)


def accepted(key: str, given: dict[str, str], study: Study | None = None) -> dict[str, Any]:
    answer = check_answer(*page(key, study), given)
    assert isinstance(answer, Accepted), answer
    return dict(answer.values)


def refused(key: str, given: dict[str, str], study: Study | None = None) -> dict[str, str]:
    answer = check_answer(*page(key, study), given)
    assert isinstance(answer, Refused), answer
    return {name: problem.code for name, problem in answer.problems.items()}


def test_a_rating_is_a_number_of_its_dimension() -> None:
    assert accepted("rate/1", {"empathy": "3"}) == {"empathy": 3}


@pytest.mark.parametrize("value", ["0", "4", "2.0", "Good", "１", "1e0", "-1", "nan", "1\n2"])
def test_a_rating_that_is_no_point_is_refused(value: str) -> None:
    assert refused("rate/1", {"empathy": value}) == {"empathy": "not-an-option"}


def test_what_the_page_does_not_ask_for_is_never_kept() -> None:
    given = {"empathy": "1", "arm": "two", "empathy2": "9", "__proto__": "x"}
    assert accepted("rate/1", given) == {"empathy": 1}


def test_a_page_left_empty_says_what_is_missing() -> None:
    assert refused("rate/1", {}) == {"empathy": "missing"}
    assert refused("demographics", {}) == {"age": "missing", "sex": "missing"}


def test_what_is_optional_may_be_left_out() -> None:
    given = {"age": "44", "sex": "male", "town": "  "}
    assert accepted("demographics", given) == {"age": 44, "sex": "male"}


def test_a_number_must_lie_within_its_bounds() -> None:
    answer = check_answer(*page("demographics"), {"age": "17", "sex": "male"})
    assert isinstance(answer, Refused)
    assert answer.problems["age"] == problem("out-of-range", least=18, most=99)


@pytest.mark.parametrize("value", ["forty", "1,234", "inf", "NaN", "0x20", "4 4", "1" * 400])
def test_what_is_no_number_is_refused(value: str) -> None:
    assert refused("demographics", {"age": value, "sex": "male"}) == {"age": "not-a-number"}


def test_a_choice_that_is_not_offered_is_refused() -> None:
    given = {"age": "30", "sex": "Female"}
    assert refused("demographics", given) == {"sex": "not-an-option"}


def test_a_scale_asks_for_the_items_of_its_page_only() -> None:
    given = {f"item-{number}": "4" for number in range(1, 17)}
    assert accepted("scale/2", given) == {f"item-{number}": 4 for number in range(9, 17)}


def test_a_draft_keeps_what_is_right_so_far() -> None:
    given = {"item-1": "0", "item-2": "9", "item-3": ""}
    assert valid_values(*page("scale/1"), given) == {"item-1": 0}


def test_consent_is_yes_or_no_and_never_assumed() -> None:
    assert accepted("consent", {"agree": "no"}) == {"agree": "no"}
    assert refused("consent", {"agree": "on"}) == {"agree": "not-an-option"}
    assert refused("consent", {}) == {"agree": "missing"}


def test_a_page_that_is_only_read_has_no_values() -> None:
    assert accepted("tutorial/1", {"x": "y"}) == {}
    assert accepted("tutorial/example/1", {}) == {}
    study = between(content_note=between().title)
    assert accepted("rate/note", {"empathy": "1"}, study) == {}


def test_checks_are_answered_by_the_number_of_an_option() -> None:
    assert accepted("tutorial/check/1", {"question-1": "1", "question-2": "2"}) == {
        "question-1": 1,
        "question-2": 2,
    }
    assert accepted("attention", {"question": "2"}) == {"question": 2}
    assert refused("attention", {"question": "3"}) == {"question": "not-an-option"}


def test_a_reply_has_its_number_of_words() -> None:
    study = parse_study(WRITING)
    assert accepted("write/1", {"reply": " so  sorry to hear "}, study) == {
        "reply": "so  sorry to hear"
    }
    assert refused("write/1", {"reply": "so sorry"}, study) == {"reply": "too-short"}
    assert refused("write/1", {"reply": "a b c d e f"}, study) == {"reply": "too-many-words"}
    assert refused("write/1", {"reply": "a b " + "c" * 50_000}, study) == {"reply": "too-long"}


def test_a_comment_that_is_too_long_is_refused_rather_than_cut() -> None:
    assert refused("comment", {"comment": "x" * 10_001}) == {"comment": "too-long"}
    assert accepted("comment", {"comment": "x" * 10_000})["comment"] == "x" * 10_000


def test_a_comment_that_is_required_cannot_be_blank() -> None:
    study = parse_study(BETWEEN.replace("text: Anything else?", "text: Well?\n    required: true"))
    assert refused("comment", {"comment": " \n "}, study) == {"comment": "missing"}


def test_an_imagined_situation_may_ask_for_words() -> None:
    study = parse_study(APPRAISAL.replace("seconds: 5", "question: What goes on in you?"))
    assert refused("imagine/1", {}, study) == {"words": "missing"}
    assert accepted("imagine/1", {"words": "Quiet."}, study) == {"words": "Quiet."}


def test_text_is_cleaned_of_what_a_database_does_not_take() -> None:
    assert clean_text("a\x00b\r\nc\rd\ud800\x1b[0m ") == "ab\nc\nd[0m"
    assert clean_text("e\u0301") == "\u00e9"


PAGES = [step.key for step in study_steps(ParticipantPath(between(), scales(), 2, "p"), {})]
NAMES = ["empathy", "agree", "age", "sex", "town", "item-1", "question", "question-1", "comment"]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PAGES), st.dictionaries(st.sampled_from(NAMES), st.text(max_size=30)))
def test_any_form_is_taken_or_refused_and_what_is_taken_can_be_stored(
    key: str, given_values: dict[str, str]
) -> None:
    answer = check_answer(*page(key), given_values)
    if isinstance(answer, Accepted):
        stored = json.dumps(dict(answer.values), ensure_ascii=False)
        assert "\x00" not in stored
        stored.encode("utf-8")
    else:
        assert answer.problems
