"""Judges' answers, read: what they choose, or why nothing is chosen."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from empathylab.judging.reading import read_judgement
from empathylab.models import Completion

ONE = {"empathy": ("Bad", "Okay", "Good")}
TWO = {"empathy": ("Bad", "Okay", "Good"), "help": ("1", "2", "3")}


@pytest.mark.parametrize(
    "text",
    [
        '{"empathy": "Good"}',
        'Here you are: {"empathy": "good"}. Bye.',
        '```json\n{"Empathy": " Good. "}\n```',
        '{"ratings": {"empathy": "Good"}}',
        '<think>{"empathy": "Bad"}? No.</think>{"empathy": "Good"}',
        '{"empathy": "Bad"}? No.</think>{"empathy": "Good"}',
        '{"empathy": "Good"}\n{"empathy": "Good"}',
        "Good",
        '"Good".',
    ],
)
def test_a_point_is_found(text: str) -> None:
    assert read_judgement(Completion(text), ONE).chosen == {"empathy": "Good"}


@pytest.mark.parametrize(
    ("text", "outcome", "problem"),
    [
        ("", "empty", "there is no text"),
        ("<think>Well", "empty", "there is no text"),
        ('{"empathy": "Great"}', "out_of_range", "'Great' is not a point of empathy"),
        ('{"empathy": 7}', "out_of_range", "'7' is not a point of empathy"),
        ('{"empathy": 3}', "out_of_range", "'3' is not a point of empathy"),
        ('{"empathy": null}', "incomplete", "no answer to empathy"),
        ('{"empathy": ["Good"]}', "out_of_range", "is not a point of empathy"),
        ('{"empathy": "Good"} or {"empathy": "Bad"}', "ambiguous", "in several ways"),
        ('{"empathy": "Good", "empathy": "Bad"}', "ambiguous", "in several ways"),
        ('{"empathy": "Go', "unparseable", "no JSON object"),
        ("It is Good, I think.", "unparseable", "no JSON object"),
        ('{"warmth": "Good"}', "unparseable", "no JSON object"),
        ("I'm sorry, but I can't rate this reply.", "refusal", "declines"),
        ('{"empathy": "I cannot rate this."}', "refusal", "declines to rate"),
    ],
)
def test_what_is_no_point_is_kept_apart_with_its_reason(
    text: str, outcome: str, problem: str
) -> None:
    read = read_judgement(Completion(text), ONE)
    assert read.outcome == outcome
    assert problem in (read.problem or "")
    assert read.chosen == {}


def test_the_endpoints_own_refusal_is_one() -> None:
    told = Completion('{"empathy": "Good"}', refusal="Our policy forbids it.")
    assert read_judgement(told, ONE).outcome == "refusal"
    stopped = Completion('{"empathy": "Good"}', finish_reason="content_filter")
    assert read_judgement(stopped, ONE).outcome == "refusal"


def test_an_answer_that_ends_midway_is_truncated() -> None:
    read = read_judgement(Completion('{"empathy": "Go', finish_reason="length"), ONE)
    assert read.outcome == "truncated"
    assert "token limit" in (read.problem or "")


def test_a_whole_answer_at_the_limit_counts() -> None:
    read = read_judgement(Completion('{"empathy": "Good"}', finish_reason="length"), ONE)
    assert read.outcome == "valid"


def test_every_dimension_must_be_answered() -> None:
    read = read_judgement(Completion('{"empathy": "Good"}'), TWO)
    assert (read.outcome, read.problem, read.chosen) == ("incomplete", "no answer to help", {})


def test_a_point_alone_is_not_enough_for_two_dimensions() -> None:
    assert read_judgement(Completion("Good"), TWO).outcome == "unparseable"


def test_one_wrong_dimension_makes_the_answer_unusable() -> None:
    read = read_judgement(Completion('{"empathy": "Good", "help": "9"}'), TWO)
    assert (read.outcome, read.chosen) == ("out_of_range", {})


@pytest.mark.parametrize("number", ["2", 2, 2.0, " 2 "])
def test_a_point_that_bears_a_number_may_be_given_as_one(number: object) -> None:
    text = json.dumps({"empathy": "Bad", "help": number})
    assert read_judgement(Completion(text), TWO).chosen == {"empathy": "Bad", "help": "2"}


def test_the_judges_reason_is_kept() -> None:
    read = read_judgement(Completion('{"reason": "Warm words.", "empathy": "Good"}'), ONE)
    assert (read.outcome, read.said) == ("valid", "Warm words.")


@given(st.text(max_size=300))
def test_no_text_breaks_the_reading_or_invents_a_point(text: str) -> None:
    read = read_judgement(Completion(text), TWO)
    assert (read.outcome == "valid") == bool(read.chosen)


def test_a_flood_of_text_is_not_read() -> None:
    assert read_judgement(Completion("{" * 200_000), ONE).outcome == "unparseable"
