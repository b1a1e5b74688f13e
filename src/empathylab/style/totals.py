"""Sums, for each text, of numbers that the different pieces have.

In a short text most sums are small, and eight of them fit into one 64-bit number, side by side, so
that they are added at once. How wide a sum may become follows from the longest text and the highest
number of any piece; a sum that might not fit gets more room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from empathylab.style.segments import Codes, Numbers, Segments

_Width = type[np.unsignedinteger[Any]]
_WIDTHS: tuple[_Width, ...] = (np.uint8, np.uint16, np.uint64)
_TOGETHER = 8
"""Columns of 64 bits that are summed in one pass."""
_MOST = 2
"""A name that more than one in so many pieces has is summed apart from names that few have."""


class Places(NamedTuple):
    """Which pieces have a number other than 0, and the numbers."""

    pieces: Numbers
    numbers: Numbers


def places(numbers: Numbers, first: int = 0) -> Places:
    """The numbers that are not 0, given one for each piece from the one numbered `first` on."""
    found = np.flatnonzero(numbers)
    return Places(found + first, numbers[found])


class _Table(NamedTuple):
    rows: list[int]
    """Which of the names it holds."""
    width: _Width
    packed: NDArray[np.uint64]
    """For each piece a row with its numbers under these names, side by side."""
    there: NDArray[np.bool_] | None
    """Which of the pieces have any; None where most have."""


@dataclass(frozen=True)
class PieceCounts:
    """Numbers that each different piece has, under many names."""

    pieces: int
    """How many different pieces there are."""
    columns: Mapping[str, Places]
    _tables: dict[int, list[_Table]] = field(default_factory=dict, repr=False)

    def totals(self, segments: Segments) -> dict[str, Codes]:
        """For each text, the sums of the numbers that its pieces have."""
        sums = self.nothing(segments.texts)
        self.add_up(segments, sums)
        return dict(zip(self.columns, sums, strict=True))

    def nothing(self, texts: int) -> Codes:
        """A row of zeros for each name, to be filled with the sums of that many texts."""
        return np.zeros((len(self.columns), texts), dtype=np.int32)

    def add_up(self, segments: Segments, sums: Codes) -> None:
        """Write the sums of the texts, a row for each name in order."""
        from scipy.sparse import csr_array

        longest = int(np.diff(segments.starts).max(initial=1))
        ones = np.ones(len(segments.codes), dtype=np.uint64)
        for table in self._tables_for(longest):
            codes, starts = segments.codes, segments.starts
            if table.there is not None:
                there = np.flatnonzero(table.there.take(codes))
                codes, starts = codes.take(there), np.searchsorted(there, starts)
            where = (ones[: len(codes)], codes.astype(np.int32), starts.astype(np.int32))
            pieces = csr_array(where, shape=(segments.texts, self.pieces))
            found = np.ascontiguousarray(pieces @ table.packed).view(table.width)
            for row, column in zip(table.rows, found.T, strict=False):
                sums[row] = column

    def _tables_for(self, longest: int) -> list[_Table]:
        # Texts of about the same length share their tables: 8, 16, 32, 64 … pieces.
        room = max(8, 1 << (longest - 1).bit_length())
        if room not in self._tables:
            self._tables[room] = self._made(room)
        return self._tables[room]

    def _made(self, longest: int) -> list[_Table]:
        rows: dict[tuple[_Width, bool], list[int]] = {}
        for row, (_, numbers) in enumerate(self.columns.values()):
            if len(numbers):
                most = int(numbers.max()) * longest
                width = next(one for one in _WIDTHS if most <= np.iinfo(one).max)
                common = _MOST * len(numbers) > self.pieces
                rows.setdefault((width, common), []).append(row)
        tables = []
        for (width, common), every in rows.items():
            together = _TOGETHER * (8 // np.dtype(width).itemsize)
            tables += [
                self._packed(every[first : first + together], width, common)
                for first in range(0, len(every), together)
            ]
        return tables

    def _packed(self, rows: list[int], width: _Width, common: bool) -> _Table:
        beside = 8 // np.dtype(width).itemsize
        table = np.zeros((self.pieces, -(-len(rows) // beside) * beside), dtype=width)
        columns = list(self.columns.values())
        for place, row in enumerate(rows):
            table[columns[row].pieces, place] = columns[row].numbers
        packed = table.view(np.uint64)
        there: NDArray[np.bool_] | None = None if common else (packed != 0).any(axis=1)
        return _Table(rows, width, packed, there)
