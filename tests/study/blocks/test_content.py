"""What a page is given, and that nothing in it tells the arm."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from empathylab.errors import InputError
from empathylab.scales import builtin_scale
from empathylab.situations import Situation
from empathylab.study import ParticipantPath, Study, parse_study, preset_text
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.blinding import opaque_id, person_key, same_id
from empathylab.study.blocks.content import page_content
from empathylab.study.blocks.pages import Mistake, PageContent
from empathylab.study.design.definition import Arm
from empathylab.study.session.flow import study_steps
from tests.study.examples import (
    APPRAISAL,
    BETWEEN,
    KEY,
    SITUATION_PRESETS,
    altered,
    appraisal,
    between,
    ids,
    scales,
    within,
)

SITUATION = Situation(
    "secret-situation-7",
    "It rained on the wedding.",
    emotion="sad",
    valence="negative",
    factor="secret-factor",
    utterance="We danced in the mud.",
    counterpart="The sun shone.",
    title="Rain",
    context=("Hello", "Hi"),
)


def page(key: str, study: Study | None = None, person: str = "p", **given: Any) -> PageContent:
    course = ParticipantPath(study or between(), scales(), 2, person)
    answers = {"tutorial/check/1": {}} if key == "tutorial/check/2" else {}
    step = next(step for step in study_steps(course, answers) if step.key == key)
    return page_content(course, step, language="en", **given)


def pages(study: Study, person: str, reply: str) -> list[PageContent]:
    """All pages of one person, with the same reply on each page of work."""
    course = ParticipantPath(study, scales(), 2, person)
    return [
        page_content(course, step, language="en", situation=SITUATION, replies=[reply])
        for step in study_steps(course, {})
    ]


def test_a_rating_page_shows_what_the_block_says_and_the_reply() -> None:
    content = page("rate/1", situation=SITUATION, replies=["How lovely!"])
    assert [(part.role, part.text) for part in content.parts] == [
        ("emotion", "sad"),
        ("situation", "It rained on the wedding."),
        ("utterance", "We danced in the mud."),
        ("reply", "How lovely!"),
    ]
    [asked] = content.asks
    assert [(option.value, option.label) for option in asked.options] == [
        *(("1", "Bad"), ("2", "Okay"), ("3", "Good")),
    ]


def test_what_was_said_before_is_shown_turn_by_turn() -> None:
    text = BETWEEN.replace("[emotion, situation, utterance]", "[title, context]")
    content = page("rate/1", parse_study(text), situation=SITUATION)
    assert [part.role for part in content.parts] == ["title", "context", "context"]


@pytest.mark.parametrize("study", [between(), within(3), appraisal()], ids=lambda item: item.design)
def test_no_page_names_an_arm_a_respondent_a_situation_or_a_slot(study: Study) -> None:
    renamed = {
        f"secret-arm-{number}": Arm(respondent=f"secret/model-{number}") for number in range(3)
    }
    hidden = altered(study, arms=renamed if study.rated else {}, name="secret-study")
    for content in pages(hidden, "secret-person", "How lovely!"):
        assert "secret" not in repr(dataclasses.asdict(content))


def test_a_page_is_the_same_whichever_arm_the_reply_is_from() -> None:
    one = between(arms={"one": Arm(respondent="first/model")})
    two = between(arms={"two": Arm(respondent="second/model")})
    assert pages(one, "p", "How lovely!") == pages(two, "p", "How lovely!")


def test_the_pages_of_every_preset_name_no_respondent() -> None:
    for name in SITUATION_PRESETS:
        study = parse_study(preset_text(name))
        for content in pages(study, "p", "How lovely!"):
            words = repr(dataclasses.asdict(content)).lower()
            for telling in ("smollm", "local/", "language model", "machine", "artificial"):
                assert telling not in words, f"{name}: {content.page}"


def test_a_right_answer_is_never_on_the_page() -> None:
    content = page("tutorial/check/1")
    assert [ask.name for ask in content.asks] == ["question-1", "question-2"]
    assert content.parts == ()


def test_a_second_attempt_explains_what_was_wrong() -> None:
    content = page(
        "tutorial/check/2", answers={"tutorial/check/1": {"question-1": 2, "question-2": 2}}
    )
    assert content.mistakes == (Mistake("Is it clear", "No", "It is."),)
    both_right = page(
        "tutorial/check/2", answers={"tutorial/check/1": {"question-1": 1, "question-2": 2}}
    )
    assert both_right.mistakes == ()


def test_a_worked_example_shows_reply_rating_and_reason() -> None:
    content = page("tutorial/example/1")
    assert [part.role for part in content.parts] == ["situation", "reply", "rating", "note"]


def test_a_scale_shows_its_items_and_its_own_instruction() -> None:
    content = page("scale/2")
    assert content.text == builtin_scale("teq").instruction
    [table] = content.asks
    assert [row.label for row in table.rows] == [f"Statement {index}" for index in range(9, 17)]
    assert table.options[0].label == "never"


def test_the_content_note_stands_at_the_consent_and_before_the_work() -> None:
    study = parse_study(BETWEEN.replace("seed: 7", "seed: 7\ncontent_note: Sad things"))
    assert page("consent", study).parts[0].text == "Sad things"
    note = page("rate/note", study)
    assert (note.parts[0].text, note.asks) == ("Sad things", ())
    assert page("rate/1", study, situation=SITUATION).parts[0].role == "emotion"


def test_imagining_takes_its_least_time() -> None:
    assert page("imagine/1", appraisal(), situation=SITUATION).least_seconds == 5


def test_imagining_may_ask_for_words_and_writing_asks_for_a_reply() -> None:
    asking = parse_study(APPRAISAL.replace("seconds: 5", "question: What goes on in you?"))
    assert [ask.name for ask in page("imagine/1", asking).asks] == ["words"]
    writing = parse_study(
        APPRAISAL[: APPRAISAL.index("  - block: scale")]
        + "  - block: write\n    text: Reply\n  - block: debrief\n    text: Bye\n"
    )
    assert [ask.name for ask in page("write/1", writing).asks] == ["reply"]


def test_half_of_the_people_see_the_points_the_other_way_round_and_always_so() -> None:
    [dimension] = between().dimensions
    study = between(dimensions=(altered(dimension, direction="random"),))
    first = [page("rate/1", study, str(person)).asks[0].options[0].label for person in range(200)]
    # Binomial, n = 200, p = ½; the draw is fixed, so it never flickers.
    assert 80 < first.count("Good") < 120
    for person in range(20):
        assert page("rate/2", study, str(person)).asks[0].options[0].label == first[person]


def test_an_id_cannot_be_made_without_the_key() -> None:
    assert opaque_id(KEY, "a") != opaque_id(KEY[::-1], "a")
    assert opaque_id(KEY, "a", "b") != opaque_id(KEY, "ab")


def test_a_short_key_is_refused() -> None:
    with pytest.raises(InputError, match="16 bytes or more; got '3 bytes'"):
        opaque_id(b"abc", "a")


def test_an_id_is_the_hmac_that_openssl_computes() -> None:
    # printf '["a", "1"]' | openssl dgst -sha256 -hmac "$KEY" -binary | base32, in lower case
    assert opaque_id(KEY, "a", 1) == "lfod2pxwuzp7trzzboqe"


@given(st.text(max_size=60))
def test_any_platform_id_becomes_a_pseudonym_of_plain_letters(platform_id: str) -> None:
    found = person_key(KEY, "prolific", platform_id)
    assert len(found) == 20
    assert found.isascii()
    assert found.isalnum()
    assert person_key(KEY, "mturk", platform_id) != found


def test_ids_are_compared_as_they_are() -> None:
    assert same_id("abc", "abc")
    assert not same_id("abc", "abd")
    assert not same_id("abc", "ä")


def test_a_slot_is_only_known_to_the_server() -> None:
    slot = study_slots(between(), ids(4))["one"][0]
    content = repr(page("rate/1", situation=SITUATION, replies=["x"]))
    assert all(item.situation not in content for item in slot.items)
