"""Texts that nobody expects go through every analysis of style."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style.authorship.predictability import predictability
from empathylab.style.distinctive import distinctive_terms
from empathylab.style.openings import recurrences
from empathylab.style.repetition import repetition
from empathylab.style.self_similarity import self_similarity
from empathylab.style.tactics.tagging import tactic_table, tactic_templates, tactic_uses
from empathylab.style.text.tokens import text_series

HARD = [
    "lone \ud83d surrogate",
    "zero\u200dwidth\u200cjoiners\u200b here",
    "control \x00 \x07 \x1b[31m characters",
    "\u202eright to left override\u202c",
    "كيف حالك اليوم؟ أنا معك",
    "我很难过。你呢？",
    "👨‍👩‍👧‍👦👍🏽🇫🇷",
    "…",
    "a",
    " \n\t ",
    "e\u0301" * 40,
    "Are you okay?",
    "```code``` **bold** [link](https://example.org)",
]
ANALYSES: list[Callable[[pl.DataFrame], object]] = [
    distinctive_terms,
    lambda frame: predictability(frame, folds=3),
    repetition,
    self_similarity,
    recurrences,
    lambda frame: recurrences(frame, where="closing"),
    lambda frame: tactic_uses(tactic_table(frame)),
    lambda frame: tactic_templates(tactic_table(frame)),
]
NAMES = [
    *("distinctive", "predictability", "repetition", "self-similarity"),
    *("openings", "closings", "uses", "templates"),
]


def frame(texts: list[str], respondents: int = 2) -> pl.DataFrame:
    parts = [
        pl.DataFrame(
            {
                "respondent": [f"r{number}"] * len(texts),
                "situation": [f"s{place}" for place in range(len(texts))],
                "text": text_series(f"{text}{' yes!' * number}" for text in texts),
            }
        )
        for number in range(respondents)
    ]
    return pl.concat(parts)


@pytest.mark.parametrize("analysis", ANALYSES, ids=NAMES)
def test_hard_texts_go_through(analysis: Callable[[pl.DataFrame], object]) -> None:
    assert analysis(frame(HARD))


@pytest.mark.parametrize("analysis", ANALYSES, ids=NAMES)
def test_identical_texts_go_through(analysis: Callable[[pl.DataFrame], object]) -> None:
    same = frame(["one"] * 8).with_columns(text=pl.lit("I am so sorry."))
    assert analysis(same)


@pytest.mark.slow
@pytest.mark.parametrize("analysis", ANALYSES, ids=NAMES)
def test_a_text_of_a_megabyte_goes_through(analysis: Callable[[pl.DataFrame], object]) -> None:
    long = "I am so sorry to hear about it. What happened then? " * 20_000
    assert analysis(frame([long, *(f"Oh no, number {n}." for n in range(11))]))


@pytest.mark.parametrize("analysis", ANALYSES, ids=NAMES)
def test_a_missing_column_is_said(analysis: Callable[[pl.DataFrame], object]) -> None:
    with pytest.raises(InputError, match="there is no column 'text'; got 'respondent, situation'"):
        analysis(frame(HARD).drop("text"))
