"""Texts cut into pieces, each different piece looked at once.

Texts are cut at spaces. The millions of pieces of a set of responses are some ten thousand
different ones, so everything that a piece alone shows (its words, its marks, whether a
sentence may end with it) is found on the different pieces, and carried to the texts by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Flags, Numbers
from empathylab.style.text.numbering import Numbering, joined, spans_between_spaces
from empathylab.style.text.plain_pieces import PlainPieces, plain_pieces
from empathylab.style.text.tokens import EMAIL, URL, WORD, folded, without_keycaps

Codes = NDArray[np.int32]

# U+FDD0 stands for no character: Unicode keeps it for programs' own use.
_CUT = "\ufdd0"
LINE_BREAK = "\n"
# Sentences that follow each other without a space.
_CHINESE_END = r"([。！？｡]+[」』”’）)]*)"
_MISSING_SPACE = r"(\p{Ll}{2}[.!?…]+[”\"’')]*)([“\"‘(]*\p{Lu})"
_LINE_BREAKS = r"\r\n|[\n\r\x0B\x0C\x{85}\x{2028}\x{2029}]"
_ADDRESS = rf"{URL}|{EMAIL}"
_WHOLE_CAPITALS = r"^[^\p{Ll}]*\p{Lu}[^\p{Ll}]*\p{Lu}[^\p{Ll}]*$"


@dataclass(frozen=True)
class Runs:
    """A run of numbers for each code."""

    first: Numbers
    """Where each run begins in `values`, and where the last one ends."""
    values: Numbers
    """The numbers, none of them below 0."""

    def expanded(self, codes: Numbers) -> Expanded:
        """The runs of these codes, one after another."""
        expanded = self._only.take(codes)
        odd = np.flatnonzero(expanded < 0)
        which = codes.take(odd)
        begins = self.first.take(which)
        own = self.first[1:].take(which) - begins
        before = offsets(own - 1)
        if len(odd):
            counts = np.ones(len(codes), dtype=np.int64)
            counts[odd] = own
            expanded = np.repeat(expanded, counts)
            inside = np.arange(own.sum()) - np.repeat(offsets(own)[:-1], own)
            places = np.repeat(odd + before[:-1], own) + inside
            expanded[places] = self.values.take(np.repeat(begins, own) + inside)
        return Expanded(expanded, odd, before)

    @cached_property
    def _only(self) -> Numbers:
        """The number of each run that has one; -1 for the others, which are few."""
        numbers = np.append(self.values, 0).take(self.first[:-1])
        return np.where(np.diff(self.first) == 1, numbers, -1)


class Expanded(NamedTuple):
    """Runs of numbers, one after another."""

    values: Numbers
    odd: Numbers
    """The places of the codes whose run has not just one number."""
    before: Numbers
    """How many more numbers than codes there are before each of them, and behind the last."""

    def begins(self, places: Numbers) -> Numbers:
        """Where the runs of the codes at these places begin; the places must be in order."""
        return places + self.before.take(np.searchsorted(self.odd, places))


@dataclass(frozen=True)
class Words:
    """The words of the different pieces, piece after piece."""

    starts: Numbers
    """Where each piece's words begin in `codes`, and where the last one's end."""
    codes: Numbers
    """The numbers of the words in `folded`."""
    folded: pl.Series
    """The different words in lower case."""
    in_capitals: Flags
    """Which of `codes` are written in capitals: two and more, and no small letter."""

    @cached_property
    def of_pieces(self) -> Runs:
        """The words of each piece, by its number."""
        return Runs(self.starts, self.codes)

    @cached_property
    def sizes(self) -> Numbers:
        """How many words each piece has."""
        return np.diff(self.starts)

    def summed(self, of_folded: Numbers | Flags) -> Numbers:
        """For each piece, the sum of a number that each different word has."""
        return self.summed_places(of_folded.take(self.codes))

    def summed_places(self, of_codes: Numbers | Flags) -> Numbers:
        """For each piece, the sum of a number that each of `codes` has."""
        return np.diff(offsets(of_codes).take(self.starts))


@dataclass(frozen=True)
class Vocabulary:
    """The different pieces of texts."""

    plain: PlainPieces
    """The first pieces: a word in ASCII letters, and behind it at most some of . , ! ? each."""
    others: pl.Series
    """The other pieces, as written; a line break is a piece of its own."""
    words: Words
    """The words of all pieces."""

    def __len__(self) -> int:
        return len(self.plain) + len(self.others)

    @cached_property
    def pieces(self) -> pl.Series:
        """All pieces, as written."""
        return pl.concat([self.plain.spelled.strings(), self.others])


@dataclass(frozen=True)
class Segments:
    """Texts as sequences of numbered pieces."""

    starts: Numbers
    """Where each text's pieces begin in `codes`, and one last number: where they end."""
    codes: Numbers
    """The number of each piece, text after text."""
    vocabulary: Vocabulary
    """The different pieces."""

    @property
    def pieces(self) -> pl.Series:
        """The different pieces, as written; a line break is a piece of its own."""
        return self.vocabulary.pieces

    @property
    def words(self) -> Words:
        """The words of the different pieces."""
        return self.vocabulary.words

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.starts) - 1

    @cached_property
    def text_of(self) -> Codes:
        """For each piece in `codes`, the number of its text."""
        return np.repeat(np.arange(self.texts, dtype=np.int32), np.diff(self.starts))

    @cached_property
    def word_sequence(self) -> tuple[Numbers, Numbers, Numbers]:
        """The texts' words as numbers of `words.folded`, where each text's and each piece's begin.

        The last number of both is where the words end.
        """
        sequence = self.words.of_pieces.expanded(self.codes)
        of_pieces = offsets(self.words.sizes.take(self.codes))
        return sequence.values, of_pieces.take(self.starts), of_pieces


def segment(texts: pl.Series) -> Segments:
    """The texts cut into pieces; a missing text has none."""
    return cut_parts(texts, max(len(texts), 1)).segments(0)


@dataclass(frozen=True)
class CutTexts:
    """Texts cut at spaces, in parts that share the different pieces."""

    parts: list[Chunks]
    """What stands between the spaces of each part."""
    first: Numbers
    """Where the pieces of each different chunk begin in `pieces`, and where the last one's end."""
    pieces: Numbers
    """The numbers of the pieces."""
    vocabulary: Vocabulary
    """The different pieces."""

    def segments(self, part: int) -> Segments:
        """The texts of one part as pieces."""
        starts, chunks = self.parts[part]
        pieces = self._runs.expanded(chunks)
        return Segments(pieces.begins(starts), pieces.values, self.vocabulary)

    @cached_property
    def _runs(self) -> Runs:
        return Runs(self.first, self.pieces)


def cut_parts(texts: pl.Series, size: int, run: Callable[..., Iterable[Any]] = map) -> CutTexts:
    """The texts cut at spaces, in parts of `size` texts.

    `run` is `map`, or one that works on several parts at a time.
    """
    whole = texts.cast(pl.String).fill_null("")
    chunks = Numbering()
    own = [whole.slice(first, size) for first in range(0, max(len(whole), 1), size)]
    parts: list[Chunks] = list(run(partial(_chunks, chunks), own))
    return CutTexts(parts, *_vocabulary(chunks))


class Chunks(NamedTuple):
    """What stands between spaces in some texts."""

    starts: Numbers
    codes: Numbers


def _chunks(chunks: Numbering, texts: pl.Series) -> Chunks:
    if not len(texts):
        return Chunks(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    spans = spans_between_spaces(joined(texts))
    text_starts = offsets(texts.str.len_bytes().to_numpy() + 1)
    starts = np.searchsorted(spans.starts, text_starts)
    return Chunks(starts, chunks.numbers(spans))


def _vocabulary(chunks: Numbering) -> tuple[Numbers, Numbers, Vocabulary]:
    """The pieces of the different chunks: where each one's begin, their numbers, and what they are.

    Plain chunks come first, each of which is one piece.
    """
    spans = chunks.spans()
    plain = plain_pieces(spans)
    is_plain = np.zeros(len(chunks), dtype=bool)
    is_plain[plain.chunks] = True
    lists, cut = _cut(spans.chosen(np.flatnonzero(~is_plain)).strings())
    other_codes, others = numbered(cut)
    lengths = np.ones(len(chunks), dtype=np.int64)
    lengths[~is_plain] = lists
    pieces = np.arange(int(lengths.sum()))
    single = np.repeat(is_plain, lengths)
    pieces[single] = np.arange(len(plain))
    pieces[~single] = other_codes + len(plain)
    return offsets(lengths), pieces, Vocabulary(plain, others, _words_of(plain, others))


def _words_of(plain: PlainPieces, others: pl.Series) -> Words:
    word_lists = without_keycaps(others).str.extract_all(WORD)
    written = word_lists.explode().drop_nulls()
    words = Numbering()
    codes = [words.numbers(plain.words)]
    if len(written):
        codes.append(words.numbers(spans_between_spaces(joined(folded(written)))))
    capitals = written.str.contains(_WHOLE_CAPITALS).to_numpy()
    lengths = np.concatenate(
        [np.ones(len(plain), dtype=np.int64), word_lists.list.len().to_numpy()]
    )
    return Words(
        offsets(lengths),
        np.concatenate(codes),
        words.spans().strings(),
        np.concatenate([plain.in_capitals, capitals]),
    )


def numbered(values: pl.Series) -> tuple[Numbers, pl.Series]:
    """A number for each value, and the different values in the order of their numbers."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), values.cast(pl.String)
    # The numbers that polars gives are shared by the whole process, and so have gaps.
    categories = values.cast(pl.Categorical)
    shared = categories.to_physical().to_numpy()
    place = np.full(int(shared.max()) + 1, -1, dtype=np.int64)
    place[shared] = np.arange(len(shared))
    used = np.flatnonzero(place >= 0)
    own = np.zeros(len(place), dtype=np.int64)
    own[used] = np.arange(len(used))
    return own[shared], values.gather(place[used]).cast(pl.String)


def offsets(lengths: NDArray[np.integer] | Flags) -> Numbers:
    """Where runs of these lengths begin when put one after another, and where the last ends."""
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def runs(first: Numbers, keys: NDArray[np.integer]) -> tuple[Numbers, Numbers]:
    """All places that `first` gives each key, and for each the number of the key it belongs to."""
    begins = first.take(keys)
    lengths = first[1:].take(keys) - begins
    ends = offsets(lengths)
    which = np.repeat(np.arange(len(keys)), lengths)
    return which, np.arange(ends[-1]) + (begins - ends[:-1]).take(which)


def _cut(chunks: pl.Series) -> tuple[Numbers, pl.Series]:
    """Chunks cut at line breaks, other space, and where a sentence ends in them; none is empty.

    How many pieces each chunk has, and the pieces.
    """
    marked = chunks.str.replace_all(_CHINESE_END, f"${{1}}{_CUT}")
    marked = marked.str.replace_all(_MISSING_SPACE, f"${{1}}{_CUT}${{2}}")
    address = chunks.str.contains(_ADDRESS)
    cut = pl.select(pl.when(address).then(chunks).otherwise(marked)).to_series()
    cut = cut.str.replace_all(_LINE_BREAKS, f"{_CUT}{LINE_BREAK}{_CUT}")
    lists = cut.str.replace_all(r"[^\S\n]", _CUT).str.split(_CUT)
    lists = lists.list.eval(pl.element().filter(pl.element() != ""))
    return lists.list.len().to_numpy().astype(np.int64), lists.explode().drop_nulls()
