"""Words and phrases of many texts as numbers, so that counting them needs no loop."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.stats.arrays import Numbers
from empathylab.style.text.sentences import sentence_lists
from empathylab.style.text.tokens import word_lists

_SINGLE = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
_BETWEEN_SINGLES = re.compile(f"(?<={_SINGLE}) (?={_SINGLE})")


@dataclass(frozen=True, slots=True)
class CodedWords:
    """The words of all texts one after another, each as its number in the vocabulary."""

    codes: Numbers
    text: Numbers
    """For each word, the number of its text."""
    sentence: Numbers
    """For each word, the number of its sentence among all sentences."""
    vocabulary: pl.Series
    sentences: pl.Series


@dataclass(frozen=True, slots=True)
class Phrases:
    """All runs of `size` words within a sentence, each as the number of its term."""

    size: int
    terms: Numbers
    starts: Numbers
    """For each run, the place of its first word in `words.codes`."""
    different: int
    words: CodedWords

    @property
    def text(self) -> Numbers:
        """For each run, the number of its text."""
        return self.words.text[self.starts]

    def spelled(self, terms: Numbers) -> list[str]:
        """The terms of these numbers, in words."""
        place = np.zeros(self.different, dtype=np.int64)
        place[self.terms] = self.starts
        spots = place[terms][:, None] + np.arange(self.size)
        letters = self.words.vocabulary.to_numpy()
        return [" ".join(row) for row in letters[self.words.codes[spots]]]


def readable(term: str) -> str:
    """The term as it is written: no spaces between Chinese characters and kana."""
    return _BETWEEN_SINGLES.sub("", term)


def coded_words(texts: pl.Series) -> CodedWords:
    """The words of the texts, in lower case, as numbers."""
    sentences = (
        pl.DataFrame({"text": np.arange(len(texts)), "sentence": sentence_lists(texts)})
        .explode("sentence", empty_as_null=False, keep_nulls=False)
        .with_row_index("number")
    )
    words = sentences.select("text", "number", word=word_lists(sentences["sentence"])).explode(
        "word", empty_as_null=False, keep_nulls=False
    )
    vocabulary = words["word"].unique().sort()
    return CodedWords(
        codes=words["word"].cast(pl.Enum(vocabulary)).to_physical().to_numpy().astype(np.int64),
        text=words["text"].to_numpy().astype(np.int64),
        sentence=words["number"].to_numpy().astype(np.int64),
        vocabulary=vocabulary,
        sentences=sentences["sentence"],
    )


def phrases(words: CodedWords, size: int) -> Phrases:
    """All runs of `size` words that lie within one sentence."""
    last = len(words.codes) - size + 1
    if last <= 0:
        nothing = np.zeros(0, dtype=np.int64)
        return Phrases(size, nothing, nothing, 0, words)
    starts = np.flatnonzero(words.sentence[:last] == words.sentence[size - 1 :])
    terms = words.codes[starts]
    base = len(words.vocabulary)
    for offset in range(1, size):
        # Numbered again at each step, so that the products never outgrow 64 bits.
        _, terms = np.unique(terms * base + words.codes[starts + offset], return_inverse=True)
    if size == 1:
        return Phrases(size, terms, starts, base, words)
    return Phrases(size, terms, starts, int(terms.max(initial=-1)) + 1, words)
