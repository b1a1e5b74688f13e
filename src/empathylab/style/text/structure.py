"""Where sentences and lines begin and end, for all texts together.

What a piece may be (the end of a sentence, a bullet …) is found on the different pieces; only the
few places where such pieces stand are looked at in the texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Flags, Numbers
from empathylab.style.text.segments import LINE_BREAK, Segments, Words

_MARKS = ".!?…‽。！？｡؟۔।॥"
_AFTER = r"[^\p{L}\p{N}\s,;:\-–—/]*$"
_OPENING = r"^[(\"“‘'\[]*"
# A sentence does not end with these, whatever follows.
_TITLE = (
    rf"{_OPENING}(?:(?i:mrs?|ms|dr|prof|st|mt|rev|gen|sen|capt|lt|col|sgt|e\.g|i\.e|cf|vs|viz)"
    r"|[A-HJ-Z])\.$"
)
# … nor with these, if a small letter follows.
_UNSURE = (
    rf"(?:\.{{2,}}|…){_AFTER}"
    rf"|[{_MARKS}][)\]\"'”’»]+$"
    rf"|{_OPENING}(?i:etc|a\.m|p\.m|u\.s|u\.k|u\.s\.a|ph\.d|inc|ltd|jr|sr|approx|dept)\.$"
)
_PATTERNS = {
    "small": r"^[(\"“‘'\[*_]*\p{Ll}",
    "ends": rf"[{_MARKS}]+{_AFTER}",
    "title": _TITLE,
    "unsure": _UNSURE,
    "exclaims": r"[!！][^\p{L}\p{N}]*$",
    "asks": r"[?？؟][^\p{L}\p{N}]*$",
    "number": r"^\(?\d{1,3}[.)]$",
    "bullet": r"^[\-*+•‣▪◦·–]$",
    "hyphen": r"^-{1,3}$",
    "heading": r"^#{1,6}$",
    "quote": r"^>+$",
    "fence": r"^```",
}
_NAMES = [*_PATTERNS, "break", "wordless", "addressing", "phrased"]
_BIT = {name: np.uint16(1 << place) for place, name in enumerate(_NAMES)}
# The lowest bit: whatever is greater has another one.
_ORDINARY = _BIT["small"]
_INSIDE = _BIT["small"] | _BIT["addressing"] | _BIT["phrased"]


@dataclass(frozen=True)
class Structure:
    """The sentences and lines of texts."""

    segments: Segments
    edges: Numbers
    """Where stretches of pieces begin: behind each end of a sentence and at each text's beginning;
    the last number is where the pieces end."""
    holds_word: Flags
    """Which stretches hold a word: they are the sentences."""
    kinds: NDArray[np.uint16]
    """For each piece of all texts, what it may be, as bits."""
    special: Numbers
    """The places of pieces that may be something, or have no word."""
    begins_line: Flags
    """Which of them are the first of their line."""
    goes_on: Flags
    """Which of them have another piece behind them in their line."""
    addressing: Numbers
    """The places of pieces that say you."""
    phrased: Numbers
    """The places of pieces that may stand in a phrase, or have no word."""

    def sentence_of(self, places: Numbers) -> Numbers:
        """The stretch in which each of the pieces stands."""
        return np.searchsorted(self.edges, places, side="right") - 1

    def sentence_counts(self) -> dict[str, Numbers]:
        """For each text, its sentences, exclamations, questions and questions to the person.

        `What?!` is a question and an exclamation; a question is to the person if it says you.
        """
        closing = self.kinds.take(self.edges[1:] - 1)
        asks = _has(closing, "asks")
        addressed = np.zeros(len(asks), dtype=bool)
        addressed[self.sentence_of(self.addressing)] = True
        kinds = {
            "sentences": self.holds_word,
            "exclamations": self.holds_word & _has(closing, "exclaims"),
            "questions": self.holds_word & asks,
            "questions_to_person": self.holds_word & asks & addressed,
        }
        text = self.segments.text_of.take(self.edges[:-1])
        return {
            name: np.bincount(text[flags], minlength=self.segments.texts)
            for name, flags in kinds.items()
        }

    def line_counts(self) -> dict[str, Numbers]:
        """For each text, its list items, headings, quoted lines, code blocks, lines and the hyphens
        that stand between spaces."""
        opens = self.begins_line & self.goes_on
        return {
            "bullets": self._count("bullet", opens),
            "numbered_items": self._count("number", opens),
            "headings": self._count("heading", opens),
            "quoted_lines": self._count("quote", opens),
            "code_blocks": (self._count("fence", self.begins_line) + 1) // 2,
            "spaced_hyphens": self._count("hyphen", ~self.begins_line & self.goes_on),
            "lines": self._lines(),
        }

    def sentence_lists(self) -> pl.Series:
        """The sentences of each text, with single spaces between their pieces."""
        segments = self.segments
        every = pl.DataFrame({"text": np.arange(segments.texts, dtype=np.int32)})
        pieces = pl.DataFrame(
            {
                "text": segments.text_of,
                "stretch": np.repeat(np.arange(len(self.holds_word)), np.diff(self.edges)),
                "holds": np.repeat(self.holds_word, np.diff(self.edges)),
                "piece": segments.pieces.gather(segments.codes),
            },
            schema_overrides={"piece": pl.String},
        ).filter(pl.col("holds") & (pl.col("piece") != LINE_BREAK))
        lists = (
            pieces.group_by("text", "stretch", maintain_order=True)
            .agg(pl.col("piece").str.join(" "))
            .group_by("text", maintain_order=True)
            .agg(pl.col("piece").alias("sentences"))
        )
        joined = every.join(lists, on="text", how="left", maintain_order="left")
        return joined["sentences"].fill_null([])

    def _count(self, kind: str, where: Flags) -> Numbers:
        special = self._special(kind, where)
        return np.bincount(self.segments.text_of[special], minlength=self.segments.texts)

    def _special(self, kind: str, where: Flags | None = None) -> Numbers:
        flags = _has(self.kinds.take(self.special), kind)
        return self.special[flags if where is None else flags & where]

    def _lines(self) -> Numbers:
        starts = self.segments.starts
        first = starts[:-1][np.diff(starts) > 0]
        behind = self._special("break", self.goes_on) + 1
        begins = np.concatenate([first[~_has(self.kinds[first], "break")], behind])
        return np.bincount(self.segments.text_of[begins], minlength=self.segments.texts)


def structure(segments: Segments, of_pieces: NDArray[np.uint16]) -> Structure:
    """The sentences and lines of the texts, given the `full_kinds` of the different pieces."""
    kinds = of_pieces.take(segments.codes)
    noted = np.flatnonzero(kinds > _ORDINARY)
    kind = kinds.take(noted)
    addressing = noted[_has(kind, "addressing")]
    phrased = noted[(kind & (_BIT["phrased"] | _BIT["wordless"])) != 0]
    special_kind = (kind & ~_INSIDE) != 0
    special, kind = noted[special_kind], kind[special_kind]
    text = segments.text_of.take(special)
    last = special == segments.starts[1:].take(text) - 1
    before = kinds.take(special - 1, mode="clip")
    after = kinds.take(special + 1, mode="clip") if len(kinds) else kinds
    begins_line = (special == segments.starts[:-1].take(text)) | _has(before, "break")
    goes_on = ~last & ~_has(after, "break")
    ends = _has(kind, "ends") & ~_has(kind, "title")
    ends &= ~(_has(kind, "unsure") & goes_on & _has(after, "small"))
    ends &= ~(_has(kind, "number") & begins_line)
    ends |= _has(kind, "break")
    edge = np.zeros(len(kinds) + 1, dtype=bool)
    edge[special[ends] + 1] = True
    edge[segments.starts] = True
    edges = np.flatnonzero(edge)
    stretch = np.searchsorted(edges, special[_has(kind, "wordless")], side="right") - 1
    without = np.bincount(stretch, minlength=len(edges) - 1)
    holds_word = without < np.diff(edges)
    return Structure(
        segments, edges, holds_word, kinds, special, begins_line, goes_on, addressing, phrased
    )


def full_kinds(
    kinds: NDArray[np.uint16],
    words: Words,
    *,
    addressing: Flags | None = None,
    in_phrases: Flags | None = None,
) -> NDArray[np.uint16]:
    """The kinds of the different pieces, with what their words say.

    A piece is addressing if it says you. It may stand in a phrase if it is flagged so, or if it has
    several words.
    """
    all_kinds: NDArray[np.uint16] = kinds | (words.sizes == 0) * _BIT["wordless"]
    if addressing is not None:
        all_kinds |= addressing * _BIT["addressing"]
    if in_phrases is not None:
        all_kinds |= (in_phrases | (words.sizes > 1)) * _BIT["phrased"]
    return all_kinds


def piece_kinds(pieces: pl.Series) -> NDArray[np.uint16]:
    """What each of the pieces may be, as bits."""
    column = pl.col("piece").str
    flags = pl.DataFrame({"piece": pieces}).select(
        *(column.contains(pattern).alias(name) for name, pattern in _PATTERNS.items()),
        (pl.col("piece") == LINE_BREAK).alias("break"),
    )
    kinds = np.zeros(len(pieces), dtype=np.uint16)
    for name in flags.columns:
        kinds |= flags[name].to_numpy().astype(np.uint16) * _BIT[name]
    return kinds


def _has(kinds: NDArray[np.uint16], name: str) -> Flags:
    flags: Flags = (kinds & _BIT[name]) != 0
    return flags
