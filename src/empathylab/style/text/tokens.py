"""What a word and a sentence are, for everything that looks at style.

**Words.** A word is an unbroken run of letters and digits, with the marks on them. A single
apostrophe, hyphen or zero-width joiner inside it belongs to it: `don't`, `well-being` and `T-shirt`
are one word each. A number with its inner points, commas and colons is one word (`3.5`, `10:30am`),
and so is a web or e-mail address. Chinese characters and hiragana, which are written without
spaces, count one by one; Korean, katakana and every other script go by the run. Emoji, keycaps
and punctuation are no words. Thai, Lao, Khmer and Burmese are written without spaces, too, and
are not cut: a run of theirs counts as one word.

**Sentences.** A sentence holds at least one word and ends at `.`, `!`, `?`, `…` (and their Chinese,
Arabic and Indian forms) before a space, or at a line break. It does not end after a title or an
initial (`Dr.`), after `e.g.`, after the number of a list item, nor before a small letter where the
mark is an ellipsis, is followed by a closing quotation mark or belongs to an abbreviation like
`etc.`. `Sorry.I hope` is two sentences although the space is missing.

The Rust engine in polars reads these patterns in linear time, so no text can make them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

URL = r"(?:https?://|www\.)[^\s<>]*[^\s<>.,;:!?…)\]}'\"”’*]"
"""A web address, without the mark of the sentence it stands in."""
EMAIL = r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+"
KEYCAP = r"[0-9#*]\x{FE0F}?\x{20E3}"
_SINGLE = r"\p{Han}\p{Hiragana}"
# ℹ is a letter to Unicode and an emoji to people; the other two make emoji of what they follow.
_NOT_OF_WORDS = r"\x{2139}\x{FE0E}\x{FE0F}\x{20E3}"
_BEGINS = rf"[[\p{{L}}\p{{N}}]--[{_SINGLE}{_NOT_OF_WORDS}]]"
_GOES_ON = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_SINGLE}{_NOT_OF_WORDS}]]"
_JOINS = r"['’ʼ\-\x{2010}\x{2011}\x{00AD}\x{200C}\x{200D}]"
WORD = (
    rf"{URL}|{EMAIL}"
    rf"|[{_SINGLE}&&[\p{{L}}\p{{N}}]][\p{{M}}ー]*"
    rf"|(?:\p{{N}}+(?:[.,:]\p{{N}}+)+|{_BEGINS}){_GOES_ON}*(?:{_JOINS}{_GOES_ON}+)*"
)
"""One word, for the Rust engine; keycaps must be gone before it is used."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def words(text: str, *, fold: bool = True) -> list[str]:
    """The words of the text in order; `fold` makes them lower case with straight apostrophes."""
    tokens: list[str] = word_lists(text_series([text]), fold=fold)[0].to_list()
    return tokens


def word_lists(texts: pl.Series, *, fold: bool = True) -> pl.Series:
    """The words of each text as a list; an empty list where the text is missing."""
    plain = without_keycaps(texts.cast(pl.String).fill_null(""))
    return (folded(plain) if fold else plain).str.extract_all(WORD)


def without_surrogates(text: str) -> str:
    """The text with `�` for each lone surrogate, which no file and no frame can hold."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def text_series(texts: Iterable[str | None], name: str = "text") -> pl.Series:
    """A column of the texts, without lone surrogates, so that a frame can hold it."""
    values = [None if text is None else without_surrogates(text) for text in texts]
    return pl.Series(name, values, dtype=pl.String)


def folded(texts: pl.Series) -> pl.Series:
    """The texts in lower case, with straight apostrophes and plain hyphens."""
    lower = texts.str.to_lowercase()
    return lower.str.replace_all("[’ʼ]", "'").str.replace_all(r"[\x{2010}\x{2011}]", "-")


def without_keycaps(texts: pl.Series) -> pl.Series:
    """The texts with a space for each keycap emoji, whose digit is no word."""
    return texts.str.replace_all(KEYCAP, " ")
