"""How often each text has the words and phrases of lexicons.

Every different word is looked up once, by joins on whole words and on beginnings; phrases are
followed from word to word for all texts together. A phrase does not reach over the end of a
sentence; punctuation inside it does not matter. What lies inside a longer match of the same
category is not counted again: `so sorry` is one apology, though `sorry` is one, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from empathylab.style.lexicons import Lexicon
from empathylab.style.segments import Flags, Numbers, Segments, Words, offsets, runs
from empathylab.style.structure import Structure

_WHOLE = 1_000_000
"""How specific a whole word is: more than any stem is long."""


class _Found(NamedTuple):
    """Matches in the sequence of words of all texts."""

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
        singles = self._single_matches(pairs)
        phrasal = singles["column"].is_in(self.phrase_ends["column"].unique().to_list())
        return Resolved(self, words, pairs, singles.filter(~phrasal), singles.filter(phrasal))

    def matched(self, words: pl.Series) -> Numbers:
        """1 for each word that is an entry or has an entry's beginning, 0 for others."""
        found = self._single_matches(self._pairs(words))["word"].unique().to_numpy()
        flags = np.zeros(len(words), dtype=np.int64)
        flags[found] = 1
        return flags

    def _pairs(self, words: pl.Series) -> pl.DataFrame:
        """Which patterns match which of the different words: `word`, `pattern`, `length`."""
        table = pl.DataFrame({"stem": words}).with_row_index("word")
        found = []
        for (length,), patterns in self.patterns.group_by("length", maintain_order=True):
            stems = table if length == 0 else table.with_columns(pl.col("stem").str.head(length))
            found.append(stems.join(patterns, on="stem").select("word", "pattern", "length"))
        pairs = pl.concat(found) if found else table.clear().select("word", pattern=0, length=0)
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
    plain: pl.DataFrame
    """`word`, `column`: single words of categories that have no phrases."""
    phrasal: pl.DataFrame
    """The same for categories that have phrases, too."""

    @cached_property
    def _patterns(self) -> tuple[Numbers, Numbers]:
        return _runs(self.pairs, "pattern", len(self.words.folded))

    @cached_property
    def _phrasal(self) -> tuple[Numbers, Numbers]:
        return _runs(self.phrasal, "column", len(self.words.folded))

    @cached_property
    def _steps(self) -> _Steps:
        return _Steps(self.matcher.edges, self.matcher.patterns.height)

    @cached_property
    def _phrase_ends(self) -> tuple[Numbers, Numbers]:
        return _runs(self.matcher.phrase_ends, "column", self._steps.nodes, key="node")

    @cached_property
    def _begins_phrase(self) -> Flags:
        first, patterns = self._patterns
        before = offsets(np.isin(patterns, self._steps.first_patterns))
        flags: Flags = np.diff(before[first]) > 0
        return flags

    def piece_columns(self) -> dict[str, Numbers]:
        """For each different piece, how often it has each category that has no phrases."""
        pieces, width = len(self.words.starts) - 1, len(self.matcher.columns)
        first, columns = _runs(self.plain, "column", len(self.words.folded))
        which, entry = runs(first, self.words.folded_codes)
        piece = np.repeat(np.arange(pieces), np.diff(self.words.starts))[which]
        cells = np.bincount(piece * width + columns[entry], minlength=pieces * width)
        return self._named(cells.reshape(pieces, width), phrasal=False)

    def phrase_counts(self, structure: Structure) -> dict[str, Numbers]:
        """For each text, how often it has the words and phrases of categories with phrases."""
        if not self.matcher.edges:
            return {}
        return self._named(self._totals(structure, self._found(structure.segments)), phrasal=True)

    def _named(self, table: Numbers, *, phrasal: bool) -> dict[str, Numbers]:
        with_phrases = set(self.matcher.phrase_ends["column"].to_list())
        return {
            name: table[:, column]
            for column, name in enumerate(self.matcher.columns)
            if (column in with_phrases) == phrasal
        }

    def _found(self, segments: Segments) -> _Found:
        codes, _, _ = segments.word_sequence
        found = [self._single_places(segments)]
        steps = self._steps
        first, patterns = self._patterns
        ends_at, columns = self._phrase_ends
        place = np.flatnonzero(self._begins_phrase[codes])
        start, node = place, np.zeros(len(place), dtype=np.int64)
        while len(place):
            inside = np.flatnonzero(place < len(codes))
            which, entry = runs(first, codes[place[inside]])
            which = inside[which]
            after = steps.after(node[which], patterns[entry])
            which, node = which[after >= 0], after[after >= 0]
            start, place = start[which], place[which] + 1
            done, ending = runs(ends_at, node)
            found.append(_Found(columns[ending], start[done], place[done]))
        return _Found(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _single_places(self, segments: Segments) -> _Found:
        codes, _, _ = segments.word_sequence
        first, columns = self._phrasal
        place = np.flatnonzero((np.diff(first) > 0)[codes])
        which, entry = runs(first, codes[place])
        return _Found(columns[entry], place[which], place[which] + 1)

    def _totals(self, structure: Structure, found: _Found) -> Numbers:
        segments = structure.segments
        of_texts, of_pieces = segments.word_sequence[1:]
        of_sentences = of_pieces[structure.edges]
        sentence = np.searchsorted(of_sentences, found.start, side="right")
        whole = found.end <= of_sentences[np.minimum(sentence, len(of_sentences) - 1)]
        column, start, end = (part[whole] for part in found)
        kept = _outermost(column, start, end, int(of_texts[-1]))
        text = np.searchsorted(of_texts, start[kept], side="right") - 1
        width = len(self.matcher.columns)
        cells = np.bincount(text * width + column[kept], minlength=segments.texts * width)
        return cells.reshape(segments.texts, width)


class _Steps:
    """The phrases' tree as sorted arrays."""

    def __init__(self, edges: dict[tuple[int, int], int], patterns: int) -> None:
        self.patterns = patterns
        self.nodes = len(edges) + 1
        keys = np.array([node * patterns + pattern for node, pattern in edges], dtype=np.int64)
        order = np.argsort(keys)
        self.keys = keys[order]
        self.to = np.array(list(edges.values()), dtype=np.int64)[order]
        self.first_patterns = self.keys[self.keys < patterns]

    def after(self, node: Numbers, pattern: Numbers) -> Numbers:
        """The node that each pattern leads to, or -1."""
        keys = node * self.patterns + pattern
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.to[place], -1)


def matcher(lexicons: Sequence[Lexicon]) -> Matcher:
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
                singles.extend((patterns[0], lexicon_number, base + one) for one in categories)
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


def _outermost(column: Numbers, start: Numbers, end: Numbers, size: int) -> Numbers:
    """Which matches lie in no other match of their column; of equal ones, one."""
    order = np.lexsort((-end, start, column))
    reach = (column * (size + 1) + end)[order]
    before = np.concatenate([[-1], np.maximum.accumulate(reach)[:-1]])
    # What came before in the same column began no later; it reaches as far, too.
    return order[before < reach]
