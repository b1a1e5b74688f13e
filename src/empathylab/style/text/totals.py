"""Sums, for each text, of numbers that the different pieces have.

In a short text most sums are small, and eight of them fit into one 64-bit number, side by side, so
that they are added at once. How wide a sum may become follows from the longest text and the highest
number of any piece; a sum that might not fit gets more room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers
from empathylab.style.text.segments import Codes, Segments

_Width = type[np.unsignedinteger[Any]]
_WIDTHS: tuple[_Width, ...] = (np.uint8, np.uint16, np.uint64)
_TOGETHER = 16
"""Columns of 64 bits that are summed in one pass."""


class Places(NamedTuple):
    """Which pieces have a number other than 0, and the numbers."""

    pieces: Numbers
    numbers: Numbers


def places(numbers: Numbers, first: int = 0) -> Places:
    """The numbers that are not 0, given one for each piece from the one numbered `first` on."""
    nonzero = np.flatnonzero(numbers)
    return Places(nonzero + first, numbers[nonzero])


class _Column(NamedTuple):
    """Numbers that lie side by side in one column of 64 bits."""

    rows: list[int]
    """Which of the names they belong to."""
    width: _Width


class _Table(NamedTuple):
    columns: list[_Column]
    packed: NDArray[np.uint64]
    """For each piece a row with its numbers under the names of these columns."""


@dataclass(frozen=True)
class PieceCounts:
    """Numbers that each different piece has, under many names."""

    pieces: int
    """How many different pieces there are."""
    columns: Mapping[str, Places]
    _tables: dict[int, list[_Table]] = field(default_factory=dict, repr=False, compare=False)
    _making: Lock = field(default_factory=Lock, repr=False, compare=False)

    def room(self, texts: int) -> Codes:
        """A row for each name, to be filled with the sums of that many texts."""
        # Large empty arrays come in large pages of memory, those of zeros in small ones.
        sums = np.empty((len(self.columns), texts), dtype=np.int32)
        for row, (_, numbers) in zip(sums, self.columns.values(), strict=True):
            if not len(numbers):
                row[:] = 0
        return sums

    def add_up(self, segments: Segments, sums: Codes) -> None:
        """Write the sums of the texts, a row for each name in order."""
        from scipy.sparse import csr_array

        longest = int(np.diff(segments.starts).max(initial=1))
        codes, starts = (code.astype(np.int32) for code in (segments.codes, segments.starts))
        shape = (segments.texts, self.pieces)
        pieces = csr_array((np.ones(len(codes), dtype=np.uint64), codes, starts), shape=shape)
        for table in self._tables_for(longest):
            packed = pieces @ table.packed
            for (rows, width), column in zip(table.columns, packed.T, strict=True):
                beside = np.ascontiguousarray(column).view(width)
                for place, row in enumerate(rows):
                    sums[row] = beside[place :: _beside(width)]

    def _tables_for(self, longest: int) -> list[_Table]:
        # Texts of about the same length share their tables: 8, 16, 32, 64 … pieces.
        room = max(8, 1 << (longest - 1).bit_length())
        with self._making:
            if room not in self._tables:
                self._tables[room] = self._packed_tables(room)
            return self._tables[room]

    def _packed_tables(self, longest: int) -> list[_Table]:
        rows: dict[_Width, list[int]] = {}
        for row, (_, numbers) in enumerate(self.columns.values()):
            if len(numbers):
                most = int(numbers.max()) * longest
                width = next(item for item in _WIDTHS if most <= np.iinfo(item).max)
                rows.setdefault(width, []).append(row)
        columns = []
        for width, every in rows.items():
            size = _beside(width)
            columns += [
                _Column(every[first : first + size], width) for first in range(0, len(every), size)
            ]
        return [
            self._packed(columns[first : first + _TOGETHER])
            for first in range(0, len(columns), _TOGETHER)
        ]

    def _packed(self, columns: list[_Column]) -> _Table:
        packed = np.zeros((self.pieces, len(columns)), dtype=np.uint64)
        every = list(self.columns.values())
        for number, (rows, width) in enumerate(columns):
            table = packed.view(width)
            for place, row in enumerate(rows, start=number * _beside(width)):
                table[every[row].pieces, place] = every[row].numbers
        return _Table(columns, packed)


def _beside(width: _Width) -> int:
    """How many numbers of that width fit into 64 bits."""
    return 8 // np.dtype(width).itemsize
