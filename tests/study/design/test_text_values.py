"""Values of the file in its texts, and texts that say what the study contradicts."""

from __future__ import annotations

import re

import pytest

from empathylab.errors import UserError
from empathylab.study import PRESETS, Study, parse_study, preset_text, protocol_hash
from empathylab.study.design.checks import check_study
from empathylab.study.design.claims import claim_warnings
from empathylab.study.design.protocol import block_texts, to_dict
from empathylab.study.design.reading import study_from_dict
from empathylab.study.design.text_values import VALUES

FILE = """\
name: small
version: 1
title: Rated replies
languages: [en]
seed: 5
situations: {set: dialogues, count: 24}
batch_size: 6
arms: {one: people, two: openai/gpt-4o-mini}
dimensions:
  - {name: empathy, question: How empathetic, labels: [Bad, Good]}
time_limits: {abandon_after: 25, finish_within: 30}
retention: {platform_ids: 30, comments: 60}
contact: Ann, ann@example.org
recruitment: {platform: open, minutes: 4, payment: £2.40}
blocks:
  - block: consent
    text: |
      CONSENT
  - block: rate
    shows: [situation]
  - block: debrief
    text: |
      DEBRIEF
"""


def study(consent: str = "Yes?", debrief: str = "Thanks", **replaced: str) -> Study:
    text = FILE.replace("CONSENT", consent).replace("DEBRIEF", debrief)
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    return parse_study(text, file="small.yaml")


def warnings(study: Study, minutes: float | None = 4, *, invented: bool = True) -> list[str]:
    return list(claim_warnings(study, minutes, invented=invented))


def test_every_value_is_filled_in() -> None:
    text = " ".join(f"{name}={{{{ {name} }}}}" for name in VALUES)
    found = block_texts(study(text).blocks[0])[0]
    assert found.split("=", 1)[1] == (
        "6 situations=6 replies_per_situation=1 minutes=4 payment=£2.40 time_limit=30 "
        "retention_days=30 comment_days=60 title=Rated replies contact=Ann, ann@example.org"
    )


def test_within_subjects_items_are_replies_to_all_situations() -> None:
    text = FILE.replace("batch_size: 6", "batch_size: 6\ndesign: within").replace(
        "CONSENT", "{{situations}} posts, {{replies_per_situation}} each: {{items}}"
    )
    assert "6 posts, 2 each: 12" in block_texts(parse_study(text).blocks[0])


def test_languages_are_filled_each_with_its_own_words() -> None:
    text = preset_text("appraisal").replace("languages: [en]", "languages: [en, de]")
    text = re.sub(r"^blocks:.*", "", text, flags=re.DOTALL | re.MULTILINE)
    both = {"title": "{en: Feelings, de: Gefühle}", "contact": '{en: "Ann", de: "Änn"}'}
    for key, value in both.items():
        text = re.sub(rf"^{key}: .*$", f"{key}: {value}", text, flags=re.MULTILINE)
    text = re.sub(r"^(content_note|help): >-\n(  .*\n)+", "", text, flags=re.MULTILINE)
    text += """blocks:
  - block: consent
    text: {en: "{{title}}, {{contact}}", de: "{{title}}, {{contact}}"}
  - block: imagine
    text: {en: Imagine it, de: Stellen Sie es sich vor}
    shows: [situation]
  - block: debrief
    text: {en: Thanks, de: Danke}
"""
    found = parse_study(text)
    assert block_texts(found.blocks[0]) == ["Feelings, Ann", "Gefühle, Änn"]


@pytest.mark.parametrize(
    ("consent", "message"),
    [
        ("{{item}} replies", r"small.yaml line 17, 'blocks\[1\].text': .*'item'.*mean 'items'"),
        ("{{%PROLIFIC_PID%}}", r"small.yaml line 17, .*there is no value for a text"),
        ("{{ }}", r"small.yaml line 17, .*there is no value for a text ''"),
    ],
)
def test_an_unknown_name_is_refused_with_its_line(consent: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        study(consent)


def test_a_value_that_the_file_does_not_have_is_refused() -> None:
    with pytest.raises(UserError, match=r"line 17: .*\{\{minutes\}\}.*Add recruitment.minutes"):
        study("{{minutes}}", **{", minutes: 4": ""})


def test_the_hash_is_that_of_the_words_that_people_read() -> None:
    filled, written = study("Rate {{items}} replies."), study("Rate 6 replies.")
    assert protocol_hash(filled) == protocol_hash(written)
    assert protocol_hash(study_from_dict(to_dict(filled))) == protocol_hash(written)
    other = study("Rate {{items}} replies.", **{"batch_size: 6": "batch_size: 8"})
    assert "Rate 8 replies." in block_texts(other.blocks[0])


def test_a_launched_study_keeps_braces_that_it_was_launched_with() -> None:
    data = to_dict(study())
    blocks: list[dict[str, object]] = data["blocks"]  # type: ignore[assignment]
    blocks[0]["text"] = "Take {{anything}}?"
    assert block_texts(study_from_dict(data).blocks[0]) == ["Take {{anything}}?"]


@pytest.mark.parametrize("name", PRESETS)
def test_the_presets_promise_nothing_that_is_not_so(name: str) -> None:
    checked = check_study(parse_study(preset_text(name)))
    about = [note for note in checked.plan.notes if "[[" not in note and "rated once" not in note]
    assert about == []
    assert "{{" not in " ".join(
        text for block in checked.study.blocks for text in block_texts(block)
    )


def test_true_texts_are_not_warned_of() -> None:
    consent = (
        "You rate 6 replies to 6 situations in about 4 minutes. We delete the link after 30 days."
    )
    debrief = "They were written by people or by language models (GPT-4o mini). All is invented."
    assert warnings(study(consent, debrief)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("You rate 10 replies.", "'10 replies', but one participant rates 6"),
        ("You rate ten replies.", "'ten replies', but one participant rates 6"),
        ("Sie bewerten 10 Antworten.", "'10 Antworten', but one participant rates 6"),
        ("You read 8 short situations.", "'8 short situations', but one participant gets 6"),
        ("It takes 15 minutes.", "'15 minutes', but the estimate is 4 minutes"),
        ("大约需要15分钟左右。", "'15分钟', but the estimate is 4 minutes"),
        ("Deleted after 90 days.", "'90 days', but retention deletes platform ids after 30 days"),
        ("Written by GPT-4 and Claude 3.", "names 'Claude 3', but no arm shows its replies"),
        ("Written by GPT-5.", "names 'GPT-5', but no arm shows its replies"),
        ("These were real people.", "'real people', but the built-in situations are invented"),
    ],
)
def test_a_text_that_the_study_contradicts_is_warned_of(text: str, said: str) -> None:
    for block, found in (("consent", study(text)), ("debrief", study("Yes?", text))):
        (warning,) = warnings(found)
        assert warning.startswith(f"The block {block!r} ")
        assert said in warning


def test_claims_about_authors_and_situations_are_compared_with_the_arms() -> None:
    people = study(debrief="A language model wrote some.", **{"openai/gpt-4o-mini": "human-b"})
    assert "every arm shows replies of people" in warnings(people)[0]
    models = study(debrief="Some were written by people.", **{"one: people": "one: x/y"})
    assert "every arm shows replies of a model" in warnings(models)[0]
    invented = study(debrief="The people in the situations are invented.")
    assert warnings(invented) == []
    assert "not from a built-in set" in warnings(invented, invented=False)[0]


def test_times_are_compared_with_the_estimate() -> None:
    assert warnings(study(), None) == []
    late = warnings(study(), 40)
    assert "finish_within is 30 minutes, less than the estimate of 40" in late[0]
    assert "recruitment.minutes is 4, but the estimate is 40" in late[1]


def test_batches_that_are_not_what_was_asked_for_are_said() -> None:
    odd = study(**{"count: 24": "count: 25"})
    assert any("Batches have 5 items, not the 6" in note for note in check_study(odd).plan.notes)
    even = check_study(study()).plan.notes
    assert not any("Batches have" in note for note in even)


@pytest.mark.parametrize(("rating", "expected"), [("Good", 0), ("3 (good)", 0), ("Great", 1)])
def test_the_rating_of_an_example_is_on_the_scale(rating: str, expected: int) -> None:
    tutorial = (
        "- block: tutorial\n    pages: [Read this]\n    examples:\n      - {situation: It rains, "
        f"reply: Oh, rating: {rating}, explanation: It cares}}\n  - block: rate"
    )
    found = warnings(study(**{"- block: rate": tutorial}))
    said = (
        f"Example 1 of the block 'tutorial' has the rating '{rating}', but the labels are Bad, "
        "Good."
    )
    assert found == [said] * expected
