"""Texts with something taken away."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.style.authorship.ablations import (
    punctuation_only,
    without_case,
    without_emoji,
    without_length,
    without_punctuation,
)


def series(*texts: str) -> pl.Series:
    return pl.Series("text", texts)


def test_punctuation_goes_and_words_stay() -> None:
    found = without_punctuation(series("I don’t know…  really?!", "50% (of $5)"))
    assert found.to_list() == ["I dont know really", "50 of 5"]


def test_punctuation_goes_and_emoji_stay() -> None:
    assert without_punctuation(series("Oh no! 😢")).to_list() == ["Oh no 😢"]


@pytest.mark.parametrize(
    "emoji",
    ["😊", "👍🏽", "👨‍👩‍👧", "🇫🇷", "❤️", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
    ids=lambda emoji: "-".join(map(hex, map(ord, emoji))),
)
def test_emoji_go_as_a_whole(emoji: str) -> None:
    assert without_emoji(series(f"Well done {emoji} you", f"{emoji}")).to_list() == [
        "Well done you",
        "",
    ]


def test_texts_without_emoji_stay_as_they_are() -> None:
    texts = series("two  spaces ", "10 o'clock :)")
    assert without_emoji(texts).equals(texts)


def test_case_goes() -> None:
    assert without_case(series("SO Sorry")).to_list() == ["so sorry"]


def test_only_the_marks_are_left() -> None:
    assert punctuation_only(series("Oh, no! (Really?)", "plain")).to_list() == [",!(?)", ""]


def responses(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")


def test_responses_are_cut_to_the_shortest_of_their_situation() -> None:
    found = without_length(
        responses(("a", "1", "That is hard. Poor you!"), ("b", "1", "Oh dear, how sad."))
    )
    assert found["text"].to_list() == ["That is hard. Poor", "Oh dear, how sad"]


def test_the_last_mark_does_not_tell_which_one_was_cut() -> None:
    found = without_length(responses(("a", "1", "Oh dear!"), ("b", "1", "Oh dear! Oh dear!")))
    assert found["text"].to_list() == ["Oh dear", "Oh dear"]


def test_a_situation_that_one_respondent_answered_is_left_out() -> None:
    found = without_length(
        responses(("a", "1", "Yes it is"), ("b", "1", "No"), ("a", "2", "Alone here"))
    )
    assert found["situation"].to_list() == ["1", "1"]


def test_a_situation_with_a_wordless_response_is_left_out() -> None:
    found = without_length(responses(("a", "1", "🙂"), ("b", "1", "No")))
    assert found.height == 0
