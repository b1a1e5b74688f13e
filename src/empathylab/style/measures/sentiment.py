"""Sentiment by VADER, offline: a lexicon and rules made for short English messages."""

from __future__ import annotations

import re
import string
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl

from empathylab.errors import MissingExtra

CHARACTERS = 10_000
"""Of a longer text only the beginning is scored: VADER was made for short ones."""
_BEFORE, _AFTER = 3, 2
"""Words around a word that VADER's rules look at."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
"""What may be an emoji: Python takes long to look for 1,300 of them, and no time for these."""
_MOST_TOKENS = 100_000
_EMOTICON = 2
"""Characters up to which a token counts as an emoticon."""


def sentiment_scores(texts: pl.Series) -> pl.Series:
    """VADER's compound score of each text, from -1 to 1; null where there is no text.

    The whole response is scored, as most papers do; a long one tends to ±1. English only.

    Hutto, C. J., & Gilbert, E. (2014). VADER: A parsimonious rule-based model for sentiment
    analysis of social media text. Proceedings of ICWSM 8, 216–225.
    """
    try:
        from vaderSentiment import vaderSentiment
    except ImportError as error:
        raise MissingExtra("vaderSentiment", "style", "Sentiment") from error
    score = _scorer(vaderSentiment).score
    short = texts.cast(pl.String).str.slice(0, CHARACTERS)
    known = {text: score(text) for text in short.unique().drop_nulls() if text.strip()}
    scores = [None if text is None else known.get(text) for text in short]
    return pl.Series("sentiment", scores, dtype=pl.Float64)


class _Words(NamedTuple):
    """The part of a text that the package's rules read."""

    words_and_emoticons: list[str]
    is_cap_diff: bool


class _LowerWords(dict[str, str]):
    """Each token without punctuation, in lower case: a few thousand tokens are repeated."""

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_TOKENS:
            self.clear()
        self[token] = lower = (token if token.isalnum() else _bare(token)).lower()
        return lower


class _Scorer:
    """The package's own rules, each applied to the few words that it depends on.

    The package looks at the whole text again for each word of its lexicon, three times over.
    """

    def __init__(self, package: Any) -> None:
        self._analyser = package.SentimentIntensityAnalyzer()
        boosters = package.BOOSTER_DICT
        self._lexicon = {
            word: valence
            for word, valence in self._analyser.lexicon.items()
            if word not in boosters
        }
        # A phrase is there only where its longest word is.
        phrases = [max(phrase.split(), key=len) for phrase in (*boosters, *package.SPECIAL_CASES)]
        self._modifying = frozenset(phrases).union(package.NEGATE, ("least", "no", "this"))
        self._package = package
        self._lower = _LowerWords()
        self._emoji = {key: name for key, name in self._analyser.emojis.items() if len(key) == 1}

    def score(self, text: str) -> float:
        """The compound score of a text that holds more than white space."""
        text = self._spelled(text).strip()
        tokens = text.split()
        lower = [self._lower[token] for token in tokens]
        scored = [place for place, word in enumerate(lower) if word in self._lexicon]
        if not scored:
            return 0.0
        words = [token if token.isalnum() else _bare(token) for token in tokens]
        mixed = 0 < sum(map(str.isupper, words)) < len(words)
        negated = "n't" in text.lower()
        valences: dict[int, float] = {}
        for place in scored:
            first = max(0, place - _BEFORE)
            near = slice(first, place + _AFTER + 1)
            if negated or not self._modifying.isdisjoint(lower[near]):
                valences[place] = self._modified(words[near], place - first, mixed=mixed)
            else:
                valences[place] = self._lexicon[lower[place]]
                if mixed and words[place].isupper():
                    more = self._package.C_INCR
                    valences[place] += more if valences[place] > 0 else -more
        if "but" in lower:
            every = [valences.get(place, 0) for place in range(len(words))]
            total = float(sum(self._analyser._but_check(words, every)))
        else:
            total = float(sum(valences.values()))
        if total:
            emphasis = self._analyser._punctuation_emphasis(text)
            total += emphasis if total > 0 else -emphasis
        return float(round(self._package.normalize(total), 4))

    def _modified(self, near: list[str], place: int, *, mixed: bool) -> float:
        """The valence of the word at that place, with what the words around it do to it."""
        if [word.lower() for word in near[place : place + 2]] == ["kind", "of"]:
            return 0.0
        words = _Words(near, mixed)
        return float(self._analyser.sentiment_valence(0, words, near[place], place, [])[0])

    def _spelled(self, text: str) -> str:
        """The text with each emoji in words, apart from what stands before it."""
        if text.isascii():
            return text

        def named(match: re.Match[str]) -> str:
            name = self._emoji.get(match[0])
            if name is None:
                return match[0]
            spaced = match.start() and text[match.start() - 1] != " "
            return f"{' ' if spaced else ''}{name}"

        return _NOT_ASCII.sub(named, text)


@cache
def _scorer(package: ModuleType) -> _Scorer:
    return _Scorer(package)


def _bare(token: str) -> str:
    """The token without punctuation at its ends, unless that is most of it: an emoticon."""
    bare = token.strip(string.punctuation)
    return bare if len(bare) > _EMOTICON else token


def sentiment_missing() -> str | None:
    """Why there is no sentiment, with the install command; None where it can be had."""
    from importlib.util import find_spec

    if find_spec("vaderSentiment") is not None:
        return None
    return str(MissingExtra("vaderSentiment", "style", "Sentiment"))
