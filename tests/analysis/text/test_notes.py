"""Every code that `stats` returns has a sentence, and every sentence a code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import empathylab.stats
from empathylab.analysis.ratings.exclusions import rule_text
from empathylab.analysis.text.notes import OCCASIONS, TEXTS, note_text
from empathylab.stats.notes import Note, note
from empathylab.stats.raters.exclusions import (
    FailedAttention,
    Inconsistent,
    StraightLining,
    TooFast,
)

BY_HAND = {"aliased_columns", "content_unknown", "empty_left_out", "unused_categories"}
"""Codes whose sentence depends on more than a template."""


def test_each_code_has_a_sentence_and_each_sentence_a_code() -> None:
    files = [*Path(empathylab.stats.__file__).parent.rglob("*.py")]
    files += [*Path(empathylab.stats.__file__).parents[1].glob("analysis/benchmark/estimates.py")]
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    words = set(re.findall(r'"([a-z]+(?:_[a-z0-9]+)+)"', source)) | set(
        re.findall(r'\bnote\("([a-z_]+)"', source)
    )
    assert set(TEXTS) <= words
    assert set(re.findall(r'\bnote\(\s*"([a-z_]+)"', source)) - BY_HAND <= set(TEXTS)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            note("empty_left_out", rows=1, columns=2),
            "1 empty row left out; 2 empty columns left out",
        ),
        (
            note("unused_categories", column="rating", categories=("4", "5")),
            "'rating': no rating is 4 or 5; the model has no such category",
        ),
        (
            note("aliased_columns", columns=("b", "c")),
            (
                "b, c were left out, because they are constant or determined by other columns; "
                "remove them from the formula."
            ),
        ),
        (
            note("content_unknown", because="one_item_order"),
            "Item content and item position cannot be separated: only one item order was used.",
        ),
        (
            note("content_free", answers="middle", content=0.034),
            "Answers stay near the middle: item content explains 3% of their variance.",
        ),
        (note("arm_with_one_rater"), "an arm has a single rater"),
        (None, ""),
    ],
)
def test_notes_in_words(given: Note | None, sentence: str) -> None:
    assert note_text(given) == sentence


def test_units_can_be_named_otherwise() -> None:
    words = OCCASIONS | {"rating": "reply", "ratings": "replies"}
    constant = note_text(note("constant_between_raters"), **words)
    assert constant == "the replies do not vary between situations"
    assert note_text(note("arm_without_rating"), **words) == "an occasion has no reply"


def test_exclusion_rules_in_words() -> None:
    assert [rule_text(rule) for rule in (FailedAttention(), FailedAttention(most=2))] == [
        "failed an attention check",
        "failed more than 2 attention checks",
    ]
    assert rule_text(TooFast(seconds=1)) == "took less than 1 second"
    assert rule_text(TooFast(fraction_of_median=1 / 3)) == "took less than 0.333 of the median time"
    assert rule_text(StraightLining(share=0.9)) == "gave the same rating in 90% of cases or more"
    assert rule_text(StraightLining(longest=5)) == (
        "always gave the same rating or gave the same rating 5 or more times in a row"
    )
    assert rule_text(Inconsistent(most=1)) == "contradicted their own answers more than 1 time"
