"""What a rater will see, and how long it takes."""

from __future__ import annotations

import pytest

from empathylab.scales import builtin_scales
from empathylab.situations import Situation, builtin_set
from empathylab.study import PRESETS, ParticipantPath, parse_study, preset_text
from empathylab.study.assignment.batches import study_slots
from empathylab.study.blocks.pages import Asked, Option, PageContent, Part
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.design.preview import page_seconds, preview_study, words_on
from tests.study.examples import between, ids, scales

SITUATIONS = {name: Situation(name, f"Text of {name}", emotion="sad") for name in ids(6)}


def test_every_page_is_a_row() -> None:
    slot = study_slots(between(), ids(6))["one"][0]
    shown = preview_study(ParticipantPath(between(), scales()), slot=slot, situations=SITUATIONS)
    assert [(row.number, row.page) for row in shown.rows] == [
        *((1, "consent"), (2, "demographics"), (3, "reading 1 of 2"), (4, "reading 2 of 2")),
        *((5, "example"), (6, "check 1 of 2"), (7, "scale 1 of 2"), (8, "scale 2 of 2")),
        *((9, "rate 1 of 2"), (10, "attention"), (11, "rate 2 of 2"), (12, "comment")),
        (13, "debrief"),
    ]
    assert shown.rows[8].shows == f"sad · Text of {slot.items[0].situation} · (a reply)"
    assert shown.rows[8].asks == "empathy: Bad / Okay / Good"


def test_questions_and_words_are_counted() -> None:
    shown = preview_study(ParticipantPath(between(), scales()))
    # consent 1, demographics 3, check 2, scale 16, ratings 2, attention 1, comment 1
    assert shown.questions == 26
    assert shown.words == sum(row.words for row in shown.rows)
    assert shown.minutes == pytest.approx(sum(row.seconds for row in shown.rows) / 60)


def test_replies_are_shown_where_they_are_known() -> None:
    slot = study_slots(between(), ids(6))["one"][0]
    replies = {(item.situation, "one"): "Oh dear" for item in slot.items}
    shown = preview_study(
        ParticipantPath(between(), scales()), slot=slot, situations=SITUATIONS, replies=replies
    )
    assert shown.rows[8].shows.endswith("Oh dear")


def test_a_scale_without_wording_is_shown_by_number() -> None:
    shown = preview_study(ParticipantPath(between(), builtin_scales()))
    assert shown.rows[6].content.asks[0].rows[0].label == "(item 1)"


def test_the_time_of_a_page_is_the_sum_derived_by_hand() -> None:
    option = (Option("1", "one word"), Option("2", "two"))
    page = PageContent(
        *("rate", 1, 1, "Title", "a b c d"),
        parts=(Part("reply", "e f"),),
        asks=(Asked("x", "choice", "g", option), Asked("y", "choice", "h", option)),
    )
    # 4 + 2 words of text, 2 labels, 3 words of options, which count once: 11.
    assert words_on(page) == 11
    assert page_seconds(page) == pytest.approx(2 + 11 / 238 * 60 + 2 * 4)


def test_a_page_takes_at_least_its_least_time() -> None:
    page = PageContent(*("imagine", 1, 1, "", "a"), least_seconds=30)
    assert page_seconds(page) == 32


def test_writing_takes_longer_than_choosing() -> None:
    page = PageContent(*("write", 1, 1, "", ""), asks=(Asked("reply", "paragraph", ""),))
    assert page_seconds(page, writing_words=100) == 202
    assert page_seconds(page) == 62


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_looked_at_on_a_fresh_machine(name: str) -> None:
    study = parse_study(preset_text(name))
    wanted = study.situations
    chosen = choose_situations(study, builtin_set(str(wanted.set)) if wanted else ())
    slot = next(iter(study_slots(study, [item.id for item in chosen]).values()))[0]
    shown = preview_study(
        ParticipantPath(study, choose_scales(study, builtin_scales())),
        slot=slot,
        situations={item.id: item for item in chosen},
    )
    assert 5 < shown.minutes < 30
    assert all(row.shows or row.asks for row in shown.rows)
