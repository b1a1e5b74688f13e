"""How often each text has the words and phrases of lexicons.

Every different word is looked up once, by joins on whole words and on beginnings; phrases are
followed from word to word for all texts together. A phrase does not reach over the end of a
sentence; punctuation inside it does not matter. What lies inside a longer match of the same
category is not counted again: `so sorry` is one apology, though `sorry` is one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Flags, Numbers
from empathylab.style.measures.lexicons import Lexicon
from empathylab.style.text.segments import Words, offsets, runs
from empathylab.style.text.structure import Structure
from empathylab.style.text.totals import Places

_WHOLE = 1_000_000
"""How specific a whole word is: more than any stem is long."""


_BEGINS, _FOLLOWS, _INSIDE = np.uint8(1), np.uint8(2), np.uint8(4)


class _Candidates(NamedTuple):
    """Those of the texts' words that phrases have."""

    codes: Numbers
    """The number of each among the different words."""
    pieces: Numbers
    """The place, among all pieces of the texts, of the one it stands in."""
    places: Numbers
    """Its place among all words of the texts."""


class _Matches(NamedTuple):
    """Matches in the sequence of candidates."""

    column: Numbers
    start: Numbers
    end: Numbers


@dataclass(frozen=True)
class Matcher:
    """Lexicons, ready to be matched with any number of texts."""

    columns: tuple[str, ...]
    """The features, one for each category of each lexicon."""
    patterns: pl.DataFrame
    """`pattern` (number), `stem`, `length` (0 for a whole word): the different words of entries."""
    singles: pl.DataFrame
    """`pattern`, `lexicon`, `column`: the entries of one word."""
    edges: dict[tuple[int, int], int]
    """The phrases as a tree: from a node by a pattern to a node; node 0 is the root."""
    phrase_ends: pl.DataFrame
    """`node`, `column`: which phrases end at a node."""

    def resolved(self, words: Words) -> Resolved:
        """What matches the different words, ready to be counted."""
        pairs = self._pairs(words.folded)
        return Resolved(self, words, pairs, self._single_matches(pairs))

    @cached_property
    def steps(self) -> _Steps:
        """The phrases' tree, ready to be followed."""
        return _Steps(self.edges, self.patterns.height)

    @cached_property
    def ends(self) -> tuple[Numbers, Numbers]:
        """The columns of the phrases that end at each node: where they begin, and the columns."""
        return _runs(self.phrase_ends, "column", self.steps.nodes, key="node")

    def _pairs(self, words: pl.Series) -> pl.DataFrame:
        """Which patterns match which of the different words: `word`, `pattern`, `length`."""
        table = pl.DataFrame({"stem": words}).with_row_index("word")
        frames = []
        for (length,), patterns in self.patterns.group_by("length", maintain_order=True):
            stems = table if length == 0 else table.with_columns(pl.col("stem").str.head(length))
            frames.append(stems.join(patterns, on="stem").select("word", "pattern", "length"))
        pairs = pl.concat(frames) if frames else table.clear().select("word", pattern=0, length=0)
        whole = pl.when(pl.col("length") == 0).then(_WHOLE).otherwise("length")
        return pairs.with_columns(whole.alias("length")).sort("word", "pattern")

    def _single_matches(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """`word`, `column`: the most specific entry of each lexicon for each different word."""
        best = pl.col("length").max().over("word", "lexicon")
        matches = pairs.join(self.singles, on="pattern").filter(pl.col("length") == best)
        return matches.select("word", "column").unique()


@dataclass(frozen=True)
class Resolved:
    """What lexicons match among the different words of texts."""

    matcher: Matcher
    words: Words
    pairs: pl.DataFrame
    """`word`, `pattern`: which patterns match which words."""
    singles: pl.DataFrame
    """`word`, `column`: the entries of one word that words match."""

    @cached_property
    def _patterns(self) -> tuple[Numbers, Numbers]:
        of_phrases = self.pairs.filter(pl.col("pattern").is_in(self.matcher.steps.used.tolist()))
        return _runs(of_phrases, "pattern", len(self.words.folded))

    @cached_property
    def _columns(self) -> tuple[Numbers, Numbers]:
        return _runs(self.singles, "column", len(self.words.folded))

    @cached_property
    def _roles(self) -> NDArray[np.uint8]:
        """For each different word, as bits, where in a phrase it may stand."""
        first, patterns = self._patterns
        roles = np.zeros(len(self.words.folded), dtype=np.uint8)
        steps = self.matcher.steps
        kinds = ((_BEGINS, steps.first), (_FOLLOWS, steps.second), (_INSIDE, steps.used))
        for bit, which in kinds:
            before = offsets(np.isin(patterns, which))
            roles[np.diff(before[first]) > 0] |= bit
        return roles

    def piece_columns(self) -> dict[str, Places]:
        """How often the different pieces have the single words of each category."""
        pieces = len(self.words.starts) - 1
        first, columns = self._columns
        which, entry = runs(first, self.words.codes)
        piece = np.repeat(np.arange(pieces), np.diff(self.words.starts))[which]
        cells, counts = np.unique(columns[entry] * pieces + piece, return_counts=True)
        bounds = np.searchsorted(cells, np.arange(len(self.matcher.columns) + 1) * pieces)
        return {
            name: Places(cells[begin:end] - column * pieces, counts[begin:end])
            for column, (name, (begin, end)) in enumerate(
                zip(self.matcher.columns, pairwise(bounds), strict=True)
            )
        }

    def has(self, lexicon: str) -> Numbers:
        """For each different word, 1 if the lexicon of that name has it by itself, else 0."""
        own = [
            column
            for column, name in enumerate(self.matcher.columns)
            if name.partition(":")[0] == lexicon
        ]
        flags = np.zeros(len(self.words.folded), dtype=np.int64)
        flags[self.singles.filter(pl.col("column").is_in(own))["word"].to_numpy()] = 1
        return flags

    def phrase_counts(self, structure: Structure) -> dict[str, Numbers]:
        """For each text, what phrases add to the single words of their categories.

        A single word inside a phrase of its category does not count: that is taken away.
        """
        names = self.matcher.columns
        with_phrases = self.matcher.phrase_ends["column"].unique().sort().to_numpy()
        if not len(with_phrases):
            return {}
        segments = structure.segments
        words = self._candidates(structure)
        matches = _outermost(
            _in_one_sentence(self._matches(words), words, structure), len(words.codes)
        )
        inside = self._singles_inside(matches, words)
        width, texts = len(with_phrases), segments.texts
        cells = [
            segments.text_of[words.pieces[match.start]].astype(np.int64) * width
            + np.searchsorted(with_phrases, match.column)
            for match in (matches, inside)
        ]
        more, less = (np.bincount(cell, minlength=texts * width) for cell in cells)
        table = np.ascontiguousarray((more - less).reshape(texts, width).T)
        return {names[column]: row for column, row in zip(with_phrases, table, strict=True)}

    @cached_property
    def in_phrases(self) -> Flags:
        """Which pieces have a word of a phrase."""
        flags: Flags = self.words.summed(self._roles > 0) > 0
        return flags

    def _candidates(self, structure: Structure) -> _Candidates:
        """The words that may stand in a phrase, in the order of the texts."""
        own = self.words
        pieces = structure.phrased
        different = structure.segments.codes.take(pieces)
        sizes = own.sizes.take(different)
        # Every other piece has one word, so that places follow from these.
        before = pieces + offsets(sizes - 1)[:-1]
        # A piece of one word with no such neighbour holds no phrase.
        beside = np.diff(pieces, prepend=-2, append=-2) == 1
        together = beside[:-1] | beside[1:] | (sizes > 1)
        in_phrases = np.flatnonzero(together & self.in_phrases.take(different))
        different = different.take(in_phrases)
        which, entry = runs(own.starts, different)
        codes = own.codes.take(entry)
        kept = np.flatnonzero(self._roles.take(codes) != 0)
        codes, which = codes.take(kept), which.take(kept)
        inside = entry.take(kept) - own.starts.take(different.take(which))
        which = in_phrases.take(which)
        return _Candidates(codes, pieces.take(which), before.take(which) + inside)

    def _matches(self, words: _Candidates) -> _Matches:
        """Every phrase in the texts."""
        codes, places = words.codes, words.places
        steps = self.matcher.steps
        first, patterns = self._patterns
        ends_at, columns = self.matcher.ends
        goes_on = np.append(np.diff(places) == 1, False)[: len(places)]
        roles = self._roles.take(codes)
        # Few words that may begin a phrase stand before one that may follow.
        begins = (roles[:-1] & (roles[1:] >> 1) & _BEGINS) != 0
        place = np.flatnonzero(begins & goes_on[:-1])
        start, node = place, np.zeros(len(place), dtype=np.int64)
        matches = [_Matches(place[:0], place[:0], place[:0])]
        while len(place):
            which, entry = runs(first, codes[place])
            after = steps.after(node[which], patterns[entry])
            which, node = which[after >= 0], after[after >= 0]
            start, place = start[which], place[which]
            done, ending = runs(ends_at, node)
            matches.append(_Matches(columns[ending], start[done], place[done] + 1))
            on = goes_on[place]
            start, node, place = start[on], node[on], place[on] + 1
        return _Matches(*(np.concatenate(parts) for parts in zip(*matches, strict=True)))

    def _singles_inside(self, phrases: _Matches, words: _Candidates) -> _Matches:
        """The single words that lie inside phrases of their category, each of them once."""
        size = len(words.codes) + 1
        lengths = phrases.end - phrases.start
        place = np.arange(lengths.sum()) + np.repeat(phrases.end - np.cumsum(lengths), lengths)
        first, columns = self._columns
        which, entry = runs(first, words.codes[place])
        same = np.flatnonzero(columns[entry] == np.repeat(phrases.column, lengths)[which])
        keys = np.unique(columns[entry[same]] * size + place[which[same]])
        column, start = np.divmod(keys, size)
        return _Matches(column, start, start + 1)


def _in_one_sentence(matches: _Matches, words: _Candidates, structure: Structure) -> _Matches:
    """The matches that do not reach over the end of a sentence."""
    first, last = (words.pieces[place] for place in (matches.start, matches.end - 1))
    inside = last < structure.edges[structure.sentence_of(first) + 1]
    return _Matches(*(part[inside] for part in matches))


class _Steps:
    """The phrases' tree as sorted arrays."""

    def __init__(self, edges: dict[tuple[int, int], int], patterns: int) -> None:
        self.patterns = patterns
        self.nodes = len(edges) + 1
        keys = np.array([node * patterns + pattern for node, pattern in edges], dtype=np.int64)
        order = np.argsort(keys)
        self.keys = keys[order]
        self.to = np.array(list(edges.values()), dtype=np.int64)[order]
        self.used = np.unique(keys % patterns)
        """The patterns that phrases have."""
        self.first = self.keys[self.keys < patterns]
        """The patterns with which phrases begin."""
        behind = np.isin(self.keys // patterns, self.to[self.keys < patterns])
        self.second = np.unique(self.keys[behind] % patterns)
        """The patterns that phrases have in the second place."""

    def after(self, node: Numbers, pattern: Numbers) -> Numbers:
        """The node that each pattern leads to, or -1."""
        keys = node * self.patterns + pattern
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.to[place], -1)


@lru_cache(maxsize=4)
def matcher(lexicons: tuple[Lexicon, ...]) -> Matcher:
    """The lexicons' entries as tables that can be joined with words."""
    numbers: dict[str, int] = {}
    columns: list[str] = []
    singles: list[tuple[int, int, int]] = []
    edges: dict[tuple[int, int], int] = {}
    phrase_ends: list[tuple[int, int]] = []
    for lexicon_number, lexicon in enumerate(lexicons):
        base = len(columns)
        columns.extend(lexicon.columns)
        for words, categories in lexicon.entries:
            patterns = [numbers.setdefault(word, len(numbers)) for word in words]
            if len(patterns) == 1:
                singles.extend(
                    (patterns[0], lexicon_number, base + category) for category in categories
                )
                continue
            node = 0
            for pattern in patterns:
                node = edges.setdefault((node, pattern), len(edges) + 1)
            phrase_ends.extend((node, base + category) for category in categories)
    return Matcher(
        tuple(columns),
        _pattern_table(list(numbers)),
        pl.DataFrame(singles, schema=_integers("pattern", "lexicon", "column"), orient="row"),
        edges,
        pl.DataFrame(phrase_ends, schema=_integers("node", "column"), orient="row"),
    )


def _pattern_table(words: list[str]) -> pl.DataFrame:
    stars = [word.endswith("*") for word in words]
    stems = [word.removesuffix("*") for word in words]
    lengths = [len(stem) if star else 0 for stem, star in zip(stems, stars, strict=True)]
    return pl.DataFrame(
        {"pattern": range(len(words)), "stem": stems, "length": lengths},
        schema={"pattern": pl.Int64, "stem": pl.String, "length": pl.Int64},
    )


def _integers(*names: str) -> dict[str, pl.DataType]:
    return {name: pl.Int64() for name in names}


def _runs(
    table: pl.DataFrame, column: str, size: int, key: str = "word"
) -> tuple[Numbers, Numbers]:
    """The column's values for each key from 0 to `size`: where they begin, and the values."""
    ordered = table.sort(key)
    counts = np.bincount(ordered[key].to_numpy(), minlength=size)
    return offsets(counts), ordered[column].to_numpy().astype(np.int64)


def _outermost(matches: _Matches, size: int) -> _Matches:
    """The matches that lie in no other match of their column; of equal ones, one."""
    column, start, end = matches
    order = np.lexsort((-end, start, column))
    reach = (column * (size + 1) + end)[order]
    before = np.concatenate([[-1], np.maximum.accumulate(reach)[:-1]])
    # What came before in the same column began no later; it reaches as far, too.
    kept = order[before < reach] if len(order) else order
    return _Matches(*(part[kept] for part in matches))
