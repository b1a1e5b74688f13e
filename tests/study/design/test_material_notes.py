"""What `study check` says of content notes, and of what raters see and respondents were told."""

from __future__ import annotations

import dataclasses

import pytest

from empathylab.protocols.reply_templates import prompt_fields
from empathylab.situations import Situation, builtin_set
from empathylab.situations.content_notes import content_note, content_tags, missing_tags
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent, add_situation_set, now
from empathylab.study import parse_study, preset_text
from empathylab.study.demo import demo_study, furnish_demo
from empathylab.study.design.checks import check_study
from empathylab.study.design.material_notes import information_sentence, seen_fields
from empathylab.study.design.materials import choose_situations
from tests.study.examples import BETWEEN, SITUATION_PRESETS

# What the presets and the demonstration of 0.1 said.
BEFORE = (
    "You will read short descriptions of what people went through. Some are happy. Others tell of "
    "fear, loss, illness, conflict or loneliness. You can stop at any time."
)


def preset_tags(name: str) -> set[str]:
    study = parse_study(preset_text(name))
    chosen = choose_situations(study, builtin_set(study.situations.set or "").situations)
    return {tag for item in chosen for tag in item.tags}


@pytest.mark.parametrize("name", SITUATION_PRESETS)
def test_the_content_note_of_a_preset_names_what_its_situations_contain(name: str) -> None:
    study = parse_study(preset_text(name))
    assert study.content_note is not None
    assert preset_tags(name)
    assert missing_tags(study.content_note.in_language("en"), preset_tags(name)) == ()


def test_the_content_note_of_the_demonstration_names_its_hardest_situations() -> None:
    note = demo_study().content_note
    assert note is not None
    tags = {"death of a child", "violence at a school"}
    assert missing_tags(note.in_language("en"), tags) == ()
    assert set(missing_tags(BEFORE, tags)) == tags


def test_the_note_of_0_1_left_most_of_it_out() -> None:
    missing = missing_tags(BEFORE, preset_tags("between-subjects"))
    assert {"death of a child", "suicide", "addiction", "deportation"} <= set(missing)


def test_a_generated_note_names_every_tag_in_both_languages() -> None:
    for language in ("en", "de"):
        note = content_note(content_tags(), language)
        assert missing_tags(note, content_tags(), language) == ()


def test_one_tag_needs_no_list_and_none_needs_no_note() -> None:
    assert content_note(["suicide"]) == "suicide"
    assert content_note(["suicide", "death"]) == "death and grief and suicide"
    assert content_note([]) == ""


def test_a_language_without_a_vocabulary_is_not_judged() -> None:
    assert missing_tags("Rien.", ["death"], "fr") == ()


def noted(lab: Lab, text: str) -> tuple[str, ...]:
    return check_study(parse_study(text), lab, shown_fields=prompt_fields).plan.notes


def with_replies(lab: Lab, prompt: str | None) -> str:
    """A study of dialogues whose arms have replies to that prompt in the lab."""
    whole = builtin_set("dialogues")
    with lab.writing() as connection:
        ids = add_situation_set(connection, whole)
        for name in ("first/model", "second/model"):
            number = add_respondent(connection, name, "model")
            rows = [
                {
                    "situation_id": row,
                    "respondent_id": number,
                    "sample": 0,
                    "prompt": prompt,
                    "text": f"{name} to {key}",
                    "outcome": "valid",
                    "added_at": now(),
                }
                for key, row in ids.items()
            ]
            connection.execute(schema.responses.insert(), rows)
    return BETWEEN


def test_check_warns_of_a_tag_that_the_note_leaves_out(sqlite_lab: Lab) -> None:
    text = BETWEEN.replace("seed: 7", "seed: 7\ncontent_note: Happy things")
    text = text.replace("count: 6", "count: 60")
    study = parse_study(text)
    chosen = choose_situations(study, builtin_set(study.situations.set or "").situations)
    tags = {tag for item in chosen for tag in item.tags}
    assert len(tags) > 5
    [found] = [item for item in noted(sqlite_lab, text) if "content note" in item]
    assert all(tag in found for tag in tags)
    complete = text.replace("Happy things", f"There is {content_note(tags)}")
    assert not any("content note" in item for item in noted(sqlite_lab, complete))


def test_check_finds_the_tags_of_a_draw_in_the_lab(sqlite_lab: Lab) -> None:
    furnish_demo(sqlite_lab)
    study = demo_study()
    assert not any("content note" in note for note in check_study(study, sqlite_lab).plan.notes)
    bare = study.model_copy(
        update={"content_note": dataclasses.replace(study.content_note, versions=(("en", "Hm"),))}
    )
    [found] = [note for note in check_study(bare, sqlite_lab).plan.notes if "content note" in note]
    assert "death of a child" in found


@pytest.mark.parametrize(
    ("prompt", "unseen"),
    [
        ("empathic-listener@1", "Raters see the emotion label and the situation"),
        ("empathic-listener@2", "Raters see the emotion label, which"),
        ("somebody-elses@1", None),
        (None, None),
    ],
)
def test_check_says_what_respondents_were_not_told(
    sqlite_lab: Lab, prompt: str | None, unseen: str | None
) -> None:
    notes = noted(sqlite_lab, with_replies(sqlite_lab, prompt))
    found = [note for note in notes if note.startswith("Raters see")]
    assert bool(found) == (unseen is not None)
    assert all(str(unseen) in item for item in found)


def test_nothing_is_said_where_raters_see_what_respondents_were_told(sqlite_lab: Lab) -> None:
    text = with_replies(sqlite_lab, "empathic-listener@2")
    equal = text.replace("[emotion, situation, utterance]", "[situation, utterance]")
    checked = check_study(parse_study(equal), sqlite_lab, shown_fields=prompt_fields)
    assert not any(note.startswith("Raters see") for note in checked.plan.notes)
    assert checked.information == (
        "Raters saw the situation and what the person says. "
        "Models got the situation and what the person says (empathic-listener@2)."
    )


def test_replies_without_a_known_prompt_are_not_credited_with_that_of_others() -> None:
    study = parse_study(BETWEEN.replace("[emotion, situation, utterance]", "[situation]"))
    prompts = {"one": {"empathic-listener@2"}, "two": set[str]()}
    chosen = [Situation("s", "Text", utterance="Hi", emotion="joy")]
    assert information_sentence(study, chosen, prompts, prompt_fields) == (
        "Raters saw the situation. one got the situation and what the person says "
        "(empathic-listener@2). The prompt of two's replies is not known."
    )


def test_without_an_utterance_the_situation_is_what_the_person_says() -> None:
    post = Situation("p", "Text", topic="work", title="Boss")
    assert seen_fields(("context", "utterance"), [post]) == ("situation",)
    assert seen_fields(("title", "situation"), [post]) == ("title", "situation")
