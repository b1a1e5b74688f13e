"""Texts cut into pieces, each different piece looked at once.

Texts are cut at spaces. The millions of pieces of a set of responses are some ten thousand
different ones, so everything that can be told from a piece alone (its words, its marks, whether a
sentence may end with it) is found on the different pieces, and carried to the texts by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.style.tokens import EMAIL, URL, WORD, folded, without_keycaps

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]

# U+FDD0 stands for no character: Unicode keeps it for programs' own use.
_CUT = "\ufdd0"
LINE_BREAK = "\n"
_TOGETHER = 64
"""Columns that are summed in one pass; the table of all pieces stays small enough to be near."""
# Sentences that follow each other without a space.
_CHINESE_END = r"([。！？｡]+[」』”’）)]*)"
_MISSING_SPACE = r"(\p{Ll}{2}[.!?…]+[”\"’')]*)([“\"‘(]*\p{Lu})"
_LINE_BREAKS = r"\r\n|[\n\r\x0B\x0C\x{85}\x{2028}\x{2029}]"
_ADDRESS = rf"{URL}|{EMAIL}"


@dataclass(frozen=True)
class Words:
    """The words of the different pieces, piece after piece."""

    starts: Numbers
    """Where each piece's words begin in `codes`, and where the last one's end."""
    codes: Codes
    """The numbers of the words in `written`."""
    written: pl.Series
    """The different words as written."""
    folded_codes: Codes
    """The same words' numbers in `folded`."""
    folded: pl.Series
    """The different words in lower case."""

    def summed(self, of_written: Numbers) -> Numbers:
        """For each piece, the sum of a number that each different written word has."""
        return np.diff(offsets(of_written[self.codes])[self.starts])

    def summed_folded(self, of_folded: Numbers) -> Numbers:
        """For each piece, the sum of a number that each different folded word has."""
        return np.diff(offsets(of_folded[self.folded_codes])[self.starts])


@dataclass(frozen=True)
class Segments:
    """Texts as sequences of numbered pieces."""

    starts: Numbers
    """Where each text's pieces begin in `codes`, and one last number: where they end."""
    codes: Codes
    """The number of each piece, text after text."""
    pieces: pl.Series
    """The different pieces, as written; a line break is a piece of its own."""
    words: Words
    """The words of the different pieces."""

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.starts) - 1

    @cached_property
    def text_of(self) -> Codes:
        """For each piece in `codes`, the number of its text."""
        return np.repeat(np.arange(self.texts, dtype=np.int32), np.diff(self.starts))

    @cached_property
    def word_sequence(self) -> tuple[Codes, Numbers, Numbers]:
        """The texts' words as numbers of `words.folded`, where each text's and each piece's begin.

        The last number of both is where the words end.
        """
        positions, of_pieces = expanded(self.codes, self.words.starts)
        return self.words.folded_codes[positions], of_pieces[self.starts], of_pieces

    def totals(self, columns: Columns) -> dict[str, Codes]:
        """For each text, the sums of numbers that each different piece has."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.codes), dtype=np.int32)
        shape = (self.texts, len(self.pieces))
        pieces = csr_array((ones, self.codes, self.starts.astype(np.int32)), shape=shape)
        sums = {name: np.zeros(self.texts, dtype=np.int32) for name in columns.absent}
        for names, table in columns.tables:
            sums |= dict(zip(names, np.ascontiguousarray((pieces @ table).T), strict=True))
        return sums


class Columns(NamedTuple):
    """Numbers that each different piece has, under many names."""

    tables: list[tuple[list[str], Codes]]
    """Names, and for each piece a row of numbers."""
    absent: list[str]
    """Names whose numbers are all 0."""


def columns_of(numbers: Mapping[str, Numbers]) -> Columns:
    """The numbers as tables, which are summed much faster than one by one."""
    present = [name for name, column in numbers.items() if column.any()]
    tables = []
    for first in range(0, len(present), _TOGETHER):
        names = present[first : first + _TOGETHER]
        table = np.array([numbers[name] for name in names], dtype=np.int32)
        tables.append((names, np.ascontiguousarray(table.T)))
    return Columns(tables, [name for name in numbers if name not in set(present)])


def segment(texts: pl.Series) -> Segments:
    """The texts cut into pieces; a missing text has none."""
    return segment_parts(texts, max(len(texts), 1))[0]


def segment_parts(
    texts: pl.Series, size: int, run: Callable[..., Iterable[Any]] = map
) -> list[Segments]:
    """The texts cut into pieces, in parts of `size` texts that share the different pieces.

    `run` is `map`, or one that works on several parts at a time.
    """
    plain = texts.cast(pl.String).fill_null("")
    parts: list[_Chunks] = list(
        run(_chunks, [plain.slice(first, size) for first in range(0, max(len(plain), 1), size)])
    )
    numbers, chunks = numbered(pl.concat([part.chunks for part in parts]))
    first, pieces = _cut(chunks)
    of_pieces, different = numbered(pieces)
    words = _words_of(different)

    def put_together(part: _Chunks, own: Codes) -> Segments:
        places, begins = expanded(own[part.codes], first)
        return Segments(begins[part.starts], of_pieces[places], different, words)

    ends = offsets(np.array([len(part.chunks) for part in parts]))
    return list(run(put_together, parts, [numbers[a:b] for a, b in pairwise(ends)]))


class _Chunks(NamedTuple):
    """What stands between spaces in some texts."""

    starts: Numbers
    codes: Codes
    chunks: pl.Series
    kept: pl.Series
    """Polars forgets its numbers with the last column that has them, and would find them anew."""


def _chunks(texts: pl.Series) -> _Chunks:
    lists = texts.str.split(" ")
    values = lists.explode().cast(pl.Categorical)
    return _Chunks(offsets(lists.list.len().to_numpy()), *numbered(values), values)


def _words_of(pieces: pl.Series) -> Words:
    found = without_keycaps(pieces).str.extract_all(WORD)
    codes, written = numbered(found.explode().drop_nulls())
    plain, different = numbered(folded(written))
    starts = offsets(found.list.len().to_numpy())
    return Words(starts, codes, written, plain[codes], different)


def numbered(values: pl.Series) -> tuple[Codes, pl.Series]:
    """A number for each value, and the different values in the order of their numbers."""
    if not len(values):
        return np.zeros(0, dtype=np.int32), values.cast(pl.String)
    # The numbers that polars gives are shared by the whole process, and so have gaps.
    categories = values.cast(pl.Categorical)
    shared = categories.to_physical().to_numpy()
    place = np.full(int(shared.max()) + 1, -1, dtype=np.int64)
    place[shared] = np.arange(len(shared))
    used = np.flatnonzero(place >= 0)
    own = np.zeros(len(place), dtype=np.int32)
    own[used] = np.arange(len(used), dtype=np.int32)
    return own[shared], values.gather(place[used]).cast(pl.String)


def offsets(lengths: NDArray[np.integer] | Flags) -> Numbers:
    """Where runs of these lengths begin when put one after another, and where the last ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def expanded(codes: Codes, first: Numbers) -> tuple[Codes, Numbers]:
    """The run of numbers that `first` gives each code, one after another, and where runs begin."""
    of_code = np.diff(first).astype(np.int32)[codes]
    begins = offsets(of_code)
    numbers = np.repeat(first[:-1].astype(np.int32)[codes], of_code)
    # Nearly all runs have one number: only the others are counted up.
    longer = np.flatnonzero(of_code > 1)
    if len(longer):
        own = offsets(of_code[longer])
        inside = np.arange(own[-1]) - np.repeat(own[:-1], of_code[longer])
        numbers[np.repeat(begins[longer], of_code[longer]) + inside] += inside.astype(np.int32)
    return numbers, begins


def runs(first: Numbers, keys: NDArray[np.integer]) -> tuple[Numbers, Numbers]:
    """All places that `first` gives each key, and for each the number of the key it belongs to."""
    lengths = np.diff(first)[keys]
    ends = offsets(lengths)
    inside = np.arange(ends[-1]) - np.repeat(ends[:-1] - first[keys], lengths)
    return np.repeat(np.arange(len(keys)), lengths), inside


def _cut(chunks: pl.Series) -> tuple[Numbers, pl.Series]:
    """Chunks cut at line breaks, other space, and where a sentence ends in them; none is empty."""
    marked = chunks.str.replace_all(_CHINESE_END, f"${{1}}{_CUT}")
    marked = marked.str.replace_all(_MISSING_SPACE, f"${{1}}{_CUT}${{2}}")
    address = chunks.str.contains(_ADDRESS)
    cut = pl.select(pl.when(address).then(chunks).otherwise(marked)).to_series()
    cut = cut.str.replace_all(_LINE_BREAKS, f"{_CUT}{LINE_BREAK}{_CUT}")
    lists = cut.str.replace_all(r"[^\S\n]", _CUT).str.split(_CUT)
    lists = lists.list.eval(pl.element().filter(pl.element() != ""))
    return offsets(lists.list.len().to_numpy()), lists.explode().drop_nulls()
