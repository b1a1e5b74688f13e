"""Plain pieces: a word in ASCII letters, and behind it at most full stops, commas, `!` and `?`.

Nearly all pieces of English text are plain, and nothing in them needs a pattern to be found: they
are counted by their bytes. A piece with three full stops may hold an ellipsis, and one that begins
with `xD` may be an emoticon, so these are left to the patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers
from empathylab.style.text.numbering import SPACE, Bytes, Spans

_SMALL, _CAPITAL, _MARK = 1, 2, 3
MARKS = {".": "full_stops", ",": "commas", "!": "exclamation_marks", "?": "question_marks"}
"""The marks that a plain piece may have, and the features that count them."""
_KINDS = 8
_ELLIPSIS = 3
_END = _MARK + len(MARKS)


def _kinds_of_bytes() -> Bytes:
    kinds = np.zeros(256, dtype=np.uint8)
    kinds[ord("a") : ord("z") + 1] = _SMALL
    kinds[ord("A") : ord("Z") + 1] = _CAPITAL
    for number, mark in enumerate(MARKS):
        kinds[ord(mark)] = _MARK + number
    kinds[SPACE] = _END
    return kinds


_KIND_OF_BYTE = _kinds_of_bytes()
_LETTER = np.isin(np.arange(_KINDS), (_SMALL, _CAPITAL))
_LOWER = np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)])
# What stands behind a word becomes a space, which ends it.
_FOLDED = np.where(_LETTER[_KIND_OF_BYTE], _LOWER, SPACE).astype(np.uint8)


@dataclass(frozen=True)
class PlainPieces:
    """The plain ones among chunks of text."""

    chunks: Numbers
    """Their numbers among the chunks."""
    spelled: Spans
    """Their bytes."""
    counts: NDArray[np.int64]
    """For each, how many bytes it has of each kind."""

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def words(self) -> Spans:
        """The words in lower case."""
        data, starts, _ = self.spelled
        return Spans(_FOLDED[data], starts, self.letters)

    @property
    def letters(self) -> Numbers:
        """How many letters each has."""
        return self.counts[:, _SMALL] + self.capitals

    @property
    def capitals(self) -> Numbers:
        """How many capitals each has."""
        return self.counts[:, _CAPITAL]

    @property
    def in_capitals(self) -> NDArray[np.bool_]:
        """Which are words of two or more letters, all of them capitals."""
        flags: NDArray[np.bool_] = (self.counts[:, _SMALL] == 0) & (self.capitals > 1)
        return flags

    @property
    def begins_small(self) -> NDArray[np.bool_]:
        """Which begin with a small letter."""
        first = self.spelled.data[self.spelled.starts]
        flags: NDArray[np.bool_] = _KIND_OF_BYTE[first] == _SMALL
        return flags

    @property
    def marks(self) -> dict[str, Numbers]:
        """How often each has each mark, by the feature's name."""
        return {name: self.counts[:, _MARK + place] for place, name in enumerate(MARKS.values())}


def plain_pieces(chunks: Spans) -> PlainPieces:
    """The plain ones among chunks that stand one after another, each with a space behind it."""
    data, starts, sizes = chunks
    kinds = _KIND_OF_BYTE[data[: sizes.sum() + len(sizes)]]
    chunk_of = np.repeat(np.arange(len(sizes)), sizes + 1)
    cells = np.bincount(chunk_of * _KINDS + kinds, minlength=len(sizes) * _KINDS)
    counts = cells.reshape(len(sizes), _KINDS)
    letters = _LETTER[kinds]
    begins_again = letters[1:] & ~letters[:-1] & (kinds[:-1] != _END)
    broken = np.zeros(len(sizes), dtype=bool)
    broken[chunk_of[1:][begins_again]] = True
    first, second = data[starts], data[starts + 1]
    face = ((first | SPACE) == ord("x")) & (second == ord("D"))
    plain = _LETTER[_KIND_OF_BYTE[first]] & (counts[:, 0] == 0) & ~broken & ~face
    plain &= counts[:, _MARK] < _ELLIPSIS
    places = np.flatnonzero(plain)
    return PlainPieces(places, chunks.chosen(places), counts[places])
