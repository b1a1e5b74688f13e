"""Words and sentences."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.style import (
    sentence_lists,
    sentences,
    text_series,
    without_surrogates,
    word_lists,
    words,
)
from empathylab.style.text.segments import segment

TEXTS = st.text(
    st.sampled_from(
        "abcXYZ 019 \n\r\t.,!?…'’\"“”()-–—:;@#*_/\\<>[]`~éßñ你好。！？ありーテスト한국어مرحبا؟हिन्दी"
        "\u200d\u200c\ufe0f\ufe0e\u20e3\u00a0\u2028\x00\x1f😀👍🏽❤🇩🇪👩ℹ\u3000Å\u0301"
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know.", ["i", "don't", "know"]),
        ("I don’t know", ["i", "don't", "know"]),
        ("well-being T-shirts", ["well-being", "t-shirts"]),
        ("rock 'n' roll, 'quoted' dogs'", ["rock", "n", "roll", "quoted", "dogs"]),
        ("either/or and_then", ["either", "or", "and", "then"]),
        ("At 10:30am it was 3.5 or 1,000.", ["at", "10:30am", "it", "was", "3.5", "or", "1,000"]),
        ("See https://a.example/b?c=1. Ok", ["see", "https://a.example/b?c=1", "ok"]),
        ("Write to me@a.example!", ["write", "to", "me@a.example"]),
        ("[a link](https://a.example)", ["a", "link", "https://a.example"]),
        ("**bold** _slanted_ `code`", ["bold", "slanted", "code"]),
        ("我很难过", ["我", "很", "难", "过"]),
        ("ひらがな カタカナ", ["ひ", "ら", "が", "な", "カタカナ"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("مرحبا كيف حالك؟", ["مرحبا", "كيف", "حالك"]),
        ("שלום לך", ["שלום", "לך"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("cafe\u0301 naïve", ["cafe\u0301", "naïve"]),
        ("1️⃣ first ℹ️ ❤️", ["first"]),
        ("👩‍👩‍👧 😀 ... !!! —", []),
        ("a\x00b\x1fc\u200b", ["a", "b", "c"]),
        ("", []),
        ("Sorry", ["sorry"]),
    ],
)
def test_words_are_what_the_rule_says(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_can_be_kept_as_written() -> None:
    assert words("I DON’T", fold=False) == ["I", "DON’T"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Wait... what?", ["Wait... what?"]),
        ("Wait... What?", ["Wait...", "What?"]),
        ("Hm… maybe", ["Hm… maybe"]),
        ("it is late . i am tired", ["it is late .", "i am tired"]),
        ("Dr. Brown saw J. Smith.", ["Dr. Brown saw J. Smith."]),
        ("Eat, e.g. soup. Rest.", ["Eat, e.g. soup.", "Rest."]),
        ("Tea, cake etc. are fine. Go.", ["Tea, cake etc. are fine.", "Go."]),
        ("Tea, cake etc. Go.", ["Tea, cake etc.", "Go."]),
        ("“Why?” she asked.", ["“Why?” she asked."]),
        ("“Why?” She left.", ["“Why?”", "She left."]),
        ("Sorry.I hope so", ["Sorry.", "I hope so"]),
        ("See a.example/B.C now", ["See a.example/B.C now"]),
        ("It costs 3.50 today", ["It costs 3.50 today"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("- one\n- two\n\n1. three\n2. four", ["- one", "- two", "1. three", "2. four"]),
        ("Hi!!! ??? Yes", ["Hi!!!", "Yes"]),
        ("Great! 😀 thanks", ["Great!", "😀 thanks"]),
        ("我很难过。为什么？", ["我很难过。", "为什么？"]),
        ("كيف حالك؟ أنا بخير.", ["كيف حالك؟", "أنا بخير."]),
        ("No end", ["No end"]),
        ("...", []),
        ("", []),
    ],
)
def test_sentences_are_what_the_rule_says(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert without_surrogates("a\ud800b") == "a\ufffdb"
    assert words("so\udfffrry") == ["so", "rry"]
    assert text_series(["\ud83d", None]).to_list() == ["\ufffd", None]


def test_a_missing_text_has_no_words_and_no_sentences() -> None:
    texts = pl.Series([None, "Hi."], dtype=pl.String)
    assert word_lists(texts).to_list() == [[], ["hi"]]
    assert sentence_lists(texts).to_list() == [[], ["Hi."]]


def test_no_texts_have_no_words() -> None:
    none = pl.Series([], dtype=pl.String)
    assert word_lists(none).to_list() == []
    assert sentence_lists(none).to_list() == []


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_pieces_hold_the_same_words_as_whole_texts(texts: list[str]) -> None:
    codes, starts, _ = segment(pl.Series(texts, dtype=pl.String)).word_sequence
    found = segment(pl.Series(texts, dtype=pl.String)).words.folded
    cut = [found.gather(codes[begin:end]).to_list() for begin, end in pairwise(starts)]
    assert cut == [words(text) for text in texts]


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_sentences_hold_all_words_and_one_at_least(text: str) -> None:
    found = sentences(text)
    assert all(words(sentence) for sentence in found)
    assert [word for sentence in found for word in words(sentence)] == words(text)
