"""Emoji as people see them.

Checked by hand against the package emoji 2.16.0 (Unicode 17): of its 5,244 sequences all that are
fully or minimally qualified are one emoji here; 46 signs that are text by default are none.
"""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style import emoji_counts, emoji_lists


@pytest.mark.parametrize(
    "one",
    [
        "😀",
        "👍🏽",
        "👨‍👩‍👧‍👦",
        "👩🏽‍🚀",
        "🧑🏽‍❤️‍💋‍🧑🏾",
        "🤷‍♀️",
        "🤷‍♀",
        "🏳️‍🌈",
        "🇩🇪",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "1️⃣",
        "#️⃣",
        "❤️",
        "❤",
        "☺️",
        "©️",
        "ℹ️",
        "\U0001faf9🏽",
    ],
)
def test_a_sequence_is_one_emoji(one: str) -> None:
    assert emoji_lists(pl.Series([f"a{one}b {one}{one}"])).to_list() == [[one] * 3]


@pytest.mark.parametrize(
    "none", ["1 2 # *", "© ™ ® → ↔", "❤︎ ☺︎", "\u200d \ufe0f \u20e3", "🇩", "plain", ""]
)
def test_text_is_no_emoji(none: str) -> None:
    assert emoji_lists(pl.Series([none])).to_list() == [[]]


def test_a_broken_family_is_its_members() -> None:
    assert emoji_lists(pl.Series(["👩\u200d 👧\u200d"])).to_list() == [["👩", "👧"]]


def test_which_emoji_each_respondent_uses() -> None:
    frame = pl.DataFrame(
        {
            "respondent": ["b", "a", "a", "a", "a"],
            "text": ["no", "😀😀 👍🏽", "😀", "", None],
        }
    )
    assert emoji_counts(frame).rows() == [("a", "😀", 3, 2, 1.0), ("a", "👍🏽", 1, 1, 1 / 3)]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="no column 'text'"):
        emoji_counts(pl.DataFrame({"respondent": ["a"]}))
