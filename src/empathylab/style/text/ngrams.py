"""How often runs of symbols stand in each text, counted with arrays instead of dictionaries.

A symbol is a character or a word. A run of n symbols is numbered by its first n − 1 and its last
symbol, so runs are spelt only once they have been counted.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Numbers = NDArray[np.integer[Any]]
Names = NDArray[np.object_]

# Up to so many possible runs, ticking off those that are there is faster than sorting.
_MOST_TICKED = 20_000_000
# So many symbols are looked at together, so that what is made on the way stays small.
_TOGETHER = 4_000_000


@dataclass(frozen=True, slots=True)
class Symbols:
    """The texts as numbers of symbols, one after the other."""

    code: Numbers
    row: Numbers
    """The text that each stands in."""
    names: Names
    """The symbols by their numbers, in order."""
    texts: int
    joint: str
    """What stands between the symbols of a run."""


def characters(texts: pl.Series) -> Symbols:
    """The characters of each text, white space in a row as a single space."""
    plain = texts.str.replace_all(r"\s\s+", " ")
    points = np.frombuffer("".join(plain).encode("utf-32-le"), dtype=np.int32)
    code, known = _ranked(points)
    names = np.array([chr(point) for point in known], dtype=object)
    return Symbols(code, _rows(plain.str.len_chars()), names, len(plain), "")


def words(lists: pl.Series) -> Symbols:
    """The words of each text, given as a list."""
    flat = lists.explode(empty_as_null=False)
    known = flat.unique().sort()
    code = flat.cast(pl.Enum(known)).to_physical().to_numpy().astype(_kind(len(known)))
    names = np.array(known.to_list(), dtype=object)
    return Symbols(code, _rows(lists.list.len()), names, len(lists), " ")


def ngrams(symbols: Symbols, sizes: tuple[int, int], *, fewest: int) -> tuple[Any, Names] | None:
    """Counts of the runs of so many symbols, a row per text, and the runs in the order of columns.

    Runs that stand in fewer than `fewest` texts are left out. None where no text holds a run.
    """
    import scipy.sparse as sp

    bands = _bands(symbols)
    blocks: list[list[Any]] = [[] for _ in bands]
    named: list[Names] = []
    begins: Numbers = np.arange(len(symbols.code), dtype=_kind(len(symbols.code)))
    run, names = symbols.code, symbols.names
    for size in range(1, sizes[1] + 1):
        if size > 1:
            begins, run, names = _longer(symbols, size, begins, run, names)
        if size < sizes[0]:
            continue
        if not len(run) and not named:
            return None
        counts = [_counted(symbols, band, begins, run, len(names)) for band in bands]
        texts = sum(np.bincount(count.indices, minlength=len(names)) for count in counts)
        kept = np.asarray(texts) >= fewest
        for mine in blocks:
            mine.append(counts.pop(0)[:, kept])
        named.append(names[kept])
        # A run that is rare is rare however it goes on.
        held = kept[run]
        begins, run = begins[held], run[held]
    joined = np.concatenate(named)
    order = np.argsort(joined, kind="stable")
    parts = []
    while blocks:
        parts.append(sp.hstack(blocks.pop(0), format="csr", dtype=np.float32)[:, order])
    whole = parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")
    whole.sort_indices()
    return whole, joined[order]


def _bands(symbols: Symbols) -> list[tuple[int, int]]:
    """First text and the one after the last of parts that hold few symbols, or one text."""
    firsts = symbols.row[::_TOGETHER].tolist()
    edges = sorted({0, *firsts, symbols.texts})
    return list(itertools.pairwise(edges)) or [(0, symbols.texts)]


def _counted(
    symbols: Symbols, band: tuple[int, int], begins: Numbers, run: Numbers, kinds: int
) -> Any:
    """How often each run stands in each text of the band."""
    import scipy.sparse as sp

    first, end = np.searchsorted(symbols.row, band)
    mine = slice(*np.searchsorted(begins, (first, end)))
    row = symbols.row[begins[mine]] - band[0]
    # Those that stand in a text again are added up as the matrix is made.
    once = np.ones(len(row), dtype=np.float32)
    return sp.csr_matrix((once, (row, run[mine])), shape=(band[1] - band[0], kinds))


def _longer(
    symbols: Symbols, size: int, begins: Numbers, run: Numbers, names: Names
) -> tuple[Numbers, Numbers, Names]:
    """The runs that are one symbol longer: where they begin, their numbers and their names."""
    kinds = len(symbols.names)
    kind = _kind(len(names) * kinds)
    kept, keys = [], []
    for place in range(0, max(len(begins), 1), _TOGETHER):
        start, mine = (begin[place : place + _TOGETHER] for begin in (begins, run))
        ends = start + (size - 1)
        inside = ends < len(symbols.row)
        inside[inside] = symbols.row[ends[inside]] == symbols.row[start[inside]]
        kept.append(start[inside])
        keys.append(mine[inside].astype(kind) * kinds + symbols.code[ends[inside]])
    longer, known = _ranked(np.concatenate(keys))
    before, last = np.divmod(known, max(kinds, 1))
    return np.concatenate(kept), longer, names[before] + symbols.joint + symbols.names[last]


def _ranked(keys: Numbers) -> tuple[Numbers, Numbers]:
    """The rank of each key among those that there are, and these in order."""
    most = int(keys.max(initial=-1)) + 1
    if most > _MOST_TICKED:
        return _sorted_out(keys)
    there = np.zeros(most, dtype=bool)
    there[keys] = True
    rank = np.cumsum(there, dtype=_kind(most))[keys]
    rank -= 1
    return rank, np.flatnonzero(there)


def _sorted_out(keys: Numbers) -> tuple[Numbers, Numbers]:
    """The same by sorting, a part of the keys at a time."""
    parts = [keys[place : place + _TOGETHER] for place in range(0, len(keys), _TOGETHER)]
    if len(parts) == 1:
        known, whole = np.unique(keys, return_inverse=True)
        return whole, known
    known = np.unique(np.concatenate([np.unique(part) for part in parts]))
    rank: Numbers = np.empty(len(keys), dtype=_kind(len(known)))
    for number, part in enumerate(parts):
        place = number * _TOGETHER
        rank[place : place + len(part)] = np.searchsorted(known, part)
    return rank, known


def _rows(lengths: pl.Series) -> Numbers:
    """The number of its text for each symbol."""
    return np.repeat(np.arange(len(lengths), dtype=_kind(len(lengths))), lengths.to_numpy())


def _kind(most: int) -> np.dtype[np.integer[Any]]:
    """What holds numbers up to that: half as wide where it is enough."""
    return np.dtype(np.int32 if most <= np.iinfo(np.int32).max else np.int64)
