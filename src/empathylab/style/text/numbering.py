"""Numbers for the different strings among millions that stand one after another in bytes.

A string is known by a 64-bit key that is made of its bytes, eight at a time, for all strings at
once. Strings of up to eight bytes have different keys for certain. Among a million different longer
ones, the chance that any two share a key (and would be taken for one another) is about 3 in 10⁸.
"""

from __future__ import annotations

import hashlib
from threading import Lock
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers

Bytes = NDArray[np.uint8]
Keys = NDArray[np.uint64]

SPACE = 0x20
_PADDING = bytes(8)
_BLOCK = 8
_LONG = 128
"""Strings longer than this are so few that their keys are made one by one."""
_FIRST_BITS = 17
_FEW = 4_096
"""So many strings are taken at first: most that come later are known by then."""
_MIX, _MIX_ON = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
# The key that eight bytes of 255 would have, which UTF-8 never holds.
_NO_KEY = (((1 << 64) - 1) * int(_MIX)) % (1 << 64)
# In a block of eight bytes: what belongs to a string of 0, 1, 2 … bytes and the space behind it.
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(1, _BLOCK + 1)], dtype=np.uint64)


class Spans(NamedTuple):
    """Strings inside bytes; behind each stands a space, and none holds one."""

    data: Bytes
    starts: Numbers
    sizes: Numbers

    def chosen(self, places: Numbers) -> Spans:
        """The strings at these places."""
        return Spans(self.data, self.starts[places], self.sizes[places])

    def cut_out(self) -> Bytes:
        """The strings one after another, a space behind each."""
        sizes = self.sizes + 1
        ends = np.cumsum(sizes)
        places = np.arange(sizes.sum()) + np.repeat(self.starts - ends + sizes, sizes)
        cut: Bytes = self.data[places]
        cut[ends - 1] = SPACE
        return cut

    def strings(self) -> pl.Series:
        """The strings as a column."""
        if not len(self.starts):
            return pl.Series([], dtype=pl.String)
        whole = pl.Series([self.cut_out()[:-1].tobytes()], dtype=pl.Binary)
        return whole.cast(pl.String).str.split(" ").explode()


def joined(texts: pl.Series) -> Bytes:
    """The texts as bytes, with a space behind each; no text may be missing."""
    padded = pl.concat([texts.alias(""), pl.Series("", [_PADDING.decode()])])
    return np.frombuffer(padded.str.join(" ").cast(pl.Binary).item(), dtype=np.uint8)


def spans_between_spaces(data: Bytes) -> Spans:
    """What stands before each space."""
    ends = np.flatnonzero(data == SPACE)
    starts = np.empty_like(ends)
    starts[:1] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    return Spans(data, starts, ends - starts)


class Numbering:
    """Numbers for different strings, given from 0 on as they are met; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._size = 0
        self._spelled: list[Bytes] = []
        self._known = _empty(1 << (_FIRST_BITS - 2))

    def __len__(self) -> int:
        return self._size

    def numbers(self, spans: Spans) -> Numbers:
        """The number of each string; those that are new get the next ones."""
        keys = _keys(spans)
        if not self._size:
            with self._lock:
                self._add(np.arange(min(_FEW, len(keys))), keys, spans)
        numbers, absent, _ = self._known.entries(keys)
        if len(absent):
            # Another thread may have written meanwhile: what is not there is looked up again.
            with self._lock:
                self._add(absent, keys, spans)
                known = self._known
            numbers[absent] = known.entries(keys[absent])[0]
        numbers -= 1
        return numbers

    def spans(self) -> Spans:
        """The different strings in the order of their numbers."""
        padding = np.frombuffer(_PADDING, dtype=np.uint8)
        return spans_between_spaces(np.concatenate([*self._spelled, padding]))

    def _add(self, places: Numbers, keys: Keys, spans: Spans) -> None:
        while True:
            _, absent, slots = self._known.entries(keys[places])
            if not len(absent):
                return
            places = places[absent]
            # One string for each open place; those that are not the same go further next time.
            first = self._known.one_for_each(slots)
            size = self._size + len(first)
            if size >= len(self._known.keys):
                self._known = self._known.enlarged(self._size, size)
                continue
            chosen = places[first]
            self._spelled.append(spans.chosen(chosen).cut_out())
            self._known.write(slots[first], keys[chosen], np.arange(self._size, size) + 1)
            self._size = size


class _Known(NamedTuple):
    """The strings that have numbers: a table with open places, a quarter full at most."""

    table: Numbers
    """By the first bits of a key: 1 + the number of the string, 0 where there is none."""
    keys: Keys
    """The key of each number + 1."""
    drawn: Numbers
    """As long as the table: which of several strings gets an open place."""

    def entries(self, keys: Keys) -> tuple[Numbers, Numbers, Numbers]:
        """1 + the number of each key; the places of those that have none; where they might go."""
        slots = self._slots(keys)
        candidates = self.table.take(slots, mode="clip")
        others = np.flatnonzero(self.keys.take(candidates, mode="clip") != keys)
        absent, free = [others[:0]], [others[:0]]
        slots, entries = slots.take(others), candidates.take(others)
        while len(others):
            taken = entries > 0
            absent.append(others[~taken])
            free.append(slots[~taken])
            others, slots = others[taken], (slots[taken] + 1) & (len(self.table) - 1)
            entries = self.table.take(slots)
            right = self.keys.take(entries, mode="clip") == keys[others]
            candidates[others[right]] = entries[right]
            others, slots, entries = others[~right], slots[~right], entries[~right]
        return candidates, np.concatenate(absent), np.concatenate(free)

    def one_for_each(self, slots: Numbers) -> Numbers:
        """Of those that might go to the same place, one."""
        every = np.arange(len(slots))
        self.drawn[slots] = every
        return np.flatnonzero(self.drawn.take(slots) == every)

    def write(self, slots: Numbers, keys: Keys, entries: Numbers) -> None:
        """Different keys come to different open places."""
        # Keys before the table: another thread that finds an entry finds its key, too.
        self.keys[entries] = keys
        self.table[slots] = entries

    def enlarged(self, size: int, needed: int) -> _Known:
        """The first `size` of these strings in a table with room for what is needed, and more."""
        room = 1 << needed.bit_length()
        known = _empty(room)
        keys, entries = self.keys[1 : size + 1], np.arange(size) + 1
        while len(entries):
            _, absent, slots = known.entries(keys)
            first = known.one_for_each(slots)
            known.write(slots[first], keys[absent[first]], entries[absent[first]])
            keys, entries = np.delete(keys, absent[first]), np.delete(entries, absent[first])
        return known

    def _slots(self, keys: Keys) -> Numbers:
        return (keys >> np.uint64(65 - len(self.table).bit_length())).view(np.int64)


def _empty(room: int) -> _Known:
    keys = np.full(room, _NO_KEY, dtype=np.uint64)
    return _Known(np.zeros(4 * room, dtype=np.int64), keys, np.empty(4 * room, dtype=np.int64))


def _keys(spans: Spans) -> Keys:
    """A key for each string, made of its bytes and the space behind it, which tells its end."""
    data, starts, sizes = spans
    blocks = np.ndarray((len(data) - _BLOCK + 1,), dtype="<u8", buffer=data.data, strides=(1,))
    keys: Keys = blocks[starts]
    keys &= _MASKS.take(sizes, mode="clip")
    keys *= _MIX
    longer = np.flatnonzero(sizes > _BLOCK)
    size = _BLOCK
    while len(longer):
        rest = sizes[longer]
        if size == _LONG:
            for place in longer.tolist():
                keys[place] = _digest(data[starts[place] :][: sizes[place]])
            break
        more = blocks[starts[longer] + size] & _MASKS.take(rest - size, mode="clip")
        before = keys[longer]
        keys[longer] = (before ^ (before >> _HALF) ^ more) * _MIX_ON + _MIX
        size += _BLOCK
        longer = longer[rest > size]
    return keys


def _digest(string: Bytes) -> int:
    return int.from_bytes(hashlib.blake2b(string.tobytes(), digest_size=8).digest(), "little")
