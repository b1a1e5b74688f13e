"""Texts with something taken away, to see what carries the style."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from empathylab.style.responses import SITUATION, TEXT
from empathylab.style.text.emoji import EMOJI
from empathylab.style.text.tokens import word_lists

_APOSTROPHES = "['’ʼ`´]"
# Emoji are "other symbols" to Unicode, so these leave them alone.
_MARKS = r"[\p{P}\p{Sm}\p{Sc}\^~¨]"


def without_punctuation(texts: pl.Series) -> pl.Series:
    """The texts without punctuation and with single spaces; `don't` becomes `dont`."""
    bare = texts.str.replace_all(_APOSTROPHES, "").str.replace_all(_MARKS, " ")
    return bare.str.replace_all(r"\s+", " ").str.strip_chars()


def without_emoji(texts: pl.Series) -> pl.Series:
    """The texts without emoji; emoticons like `:)` are punctuation."""
    plain = texts.str.replace_all(EMOJI, "")
    tidy = plain.str.replace_all(r" +", " ").str.strip_chars()
    changed = plain != texts
    return pl.select(pl.when(changed).then(tidy).otherwise(texts).alias(texts.name)).to_series()


def without_case(texts: pl.Series) -> pl.Series:
    """The texts in lower case."""
    return texts.str.to_lowercase()


def punctuation_only(texts: pl.Series) -> pl.Series:
    """The punctuation marks of the texts, in order, and nothing else."""
    marks = r"[^\p{P}\p{Sm}\p{Sc}\^~¨`´]"
    return texts.str.replace_all(marks, "")


def without_length(responses: pl.DataFrame) -> pl.DataFrame:
    """Each response cut after as many words as the shortest one to its situation has.

    Whatever follows the last word that is left goes too, so that a full stop does not tell the
    uncut ones. Situations that only one respondent answered are left out: there the length would
    still tell. Closings are cut off with the rest, which is a loss of style besides length.
    """
    words = word_lists(responses[TEXT], fold=False)
    counted = responses.with_columns(words=words.list.len()).with_columns(
        shortest=pl.col("words").min().over(SITUATION),
        respondents=pl.col("respondent").n_unique().over(SITUATION),
    )
    shared = (counted["respondents"] > 1) & (counted["shortest"] > 0)
    kept, kept_words = counted.filter(shared), words.filter(shared)
    cut = [
        _cut(text, spelled[:shortest])
        for text, spelled, shortest in zip(
            kept[TEXT], kept_words.to_list(), kept["shortest"], strict=True
        )
    ]
    return kept.select(responses.columns).with_columns(pl.Series(TEXT, cut, dtype=pl.String))


def _cut(text: str, words: list[str]) -> str:
    end = 0
    for word in words:
        end = text.index(word, end) + len(word)
    return text[:end]


Change = Callable[[pl.Series], pl.Series]
EVERY_CHANGE: dict[str, Change] = {
    "punctuation": without_punctuation,
    "emoji": without_emoji,
    "case": without_case,
}
