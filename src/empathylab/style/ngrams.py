"""How often runs of symbols stand in each text, counted with arrays instead of dictionaries.

A symbol is a character or a word. A run of n symbols is numbered by its first n − 1 and its last
symbol, so runs are spelt only once they have been counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Names = NDArray[np.object_]

# Up to so many possible runs, ticking off those that are there is faster than sorting.
_MOST_TICKED = 20_000_000


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
    points = np.frombuffer("".join(plain).encode("utf-32-le"), dtype=np.uint32)
    row = np.repeat(np.arange(len(plain)), plain.str.len_chars().to_numpy())
    code, known = _ranked(points.astype(np.int64))
    names = np.array([chr(point) for point in known], dtype=object)
    return Symbols(code, row, names, len(plain), "")


def words(lists: pl.Series) -> Symbols:
    """The words of each text, given as a list."""
    flat = lists.explode(empty_as_null=False)
    known = flat.unique().sort()
    code = flat.cast(pl.Enum(known)).to_physical().to_numpy().astype(np.int64)
    row = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    return Symbols(code, row, np.array(known.to_list(), dtype=object), len(lists), " ")


def ngrams(symbols: Symbols, sizes: tuple[int, int], *, fewest: int) -> tuple[Any, Names] | None:
    """Counts of the runs of so many symbols, a row per text, and the runs in the order of columns.

    Runs that stand in fewer than `fewest` texts are left out. None where no text holds a run.
    """
    import scipy.sparse as sp

    blocks: list[Any] = []
    named: list[Names] = []
    begins, run, names = np.arange(len(symbols.code)), symbols.code, symbols.names
    for size in range(1, sizes[1] + 1):
        if size > 1:
            begins, run, names = _longer(symbols, size, begins, run, names)
        if size < sizes[0]:
            continue
        if not len(run) and not blocks:
            return None
        # Those that stand in a text again are added up as the matrix is made.
        once = np.ones(len(run), dtype=np.float32)
        shape = (symbols.texts, len(names))
        block = sp.csr_matrix((once, (symbols.row[begins], run)), shape=shape)
        kept = np.bincount(block.indices, minlength=len(names)) >= fewest
        blocks.append(block[:, kept])
        named.append(names[kept])
        # A run that is rare is rare however it goes on.
        begins, run = begins[kept[run]], run[kept[run]]
    joined = np.concatenate(named)
    order = np.argsort(joined, kind="stable")
    counts = sp.hstack(blocks, format="csr", dtype=np.float32)[:, order]
    counts.sort_indices()
    return counts, joined[order]


def _longer(
    symbols: Symbols, size: int, begins: Numbers, run: Numbers, names: Names
) -> tuple[Numbers, Numbers, Names]:
    """The runs that are one symbol longer: where they begin, their numbers and their names."""
    ends = begins + size - 1
    inside = ends < len(symbols.row)
    inside[inside] = symbols.row[ends[inside]] == symbols.row[begins[inside]]
    kinds = len(symbols.names)
    longer, known = _ranked(run[inside] * kinds + symbols.code[ends[inside]])
    before, last = np.divmod(known, max(kinds, 1))
    return begins[inside], longer, names[before] + symbols.joint + symbols.names[last]


def _ranked(keys: Numbers) -> tuple[Numbers, Numbers]:
    """The rank of each key among those that there are, and these in order."""
    most = int(keys.max(initial=-1)) + 1
    if most > _MOST_TICKED:
        known, rank = np.unique(keys, return_inverse=True)
        return rank, known
    there = np.zeros(most, dtype=bool)
    there[keys] = True
    return (np.cumsum(there) - 1)[keys], np.flatnonzero(there)
