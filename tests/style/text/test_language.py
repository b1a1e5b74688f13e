"""Whether a text is in English."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.style.text.language import english


@pytest.mark.parametrize(
    "text",
    [
        "I'm so sorry to hear that.",
        "Congrats!!",
        "lol",
        "Unbelievable.",
        "Poor little guy",
        "Sounds great, die hard fans will love it!",
        "My abuela makes that too, qué rico!",
        "",
        "…",
        "👍🏽",
    ],
)
def test_english_and_very_short_texts_pass(text: str) -> None:
    assert english(pl.Series([text]))[0]


@pytest.mark.parametrize(
    "text",
    [
        "Das tut mir sehr leid, ich bin für dich da.",
        "Ich will dir so gern helfen, das war nicht leicht.",
        "Lo siento mucho.",
        "Je suis vraiment désolé pour toi.",
        "Lo siento mucho, tiene que ser muy difícil.",
        "Mi dispiace molto per la tua perdita.",
        "Sinto muito, isso deve ser difícil para você.",
        "Wat erg voor je, ik ben er voor je.",
        "我很难过。你呢？",
        "كيف حالك اليوم؟ أنا معك",
        "Bardzo mi przykro z powodu twojej straty.",
    ],
)
def test_other_languages_do_not(text: str) -> None:
    assert not english(pl.Series([text]))[0]


def test_a_missing_text_passes() -> None:
    assert english(pl.Series([None], dtype=pl.String)).to_list() == [True]


@pytest.mark.shared_data
def test_published_english_replies_pass(welivita_responses: pl.DataFrame) -> None:
    assert english(welivita_responses["text"]).mean() > 0.997
