"""Openings and closings that recur from response to response, word for word or nearly."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.arrays import Numbers
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT, usable_responses
from empathylab.style.text.tokens import word_lists

_PAIRS_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class Recurring:
    """An opening or closing that several responses share, with its near-duplicates."""

    words: str
    """The most common wording, in lower case and without punctuation."""
    count: int
    """Responses that have it or a near-duplicate."""
    exact: int
    """Responses that have just this wording."""
    share: float
    """`count` over the respondent's responses."""
    situations: int
    variants: tuple[str, ...]
    """Other wordings in it, the most common first."""


@dataclass(frozen=True, slots=True)
class Recurrences:
    """How far one respondent's responses share their opening, or closing, phrases."""

    respondent: str
    where: str
    """`opening` or `closing`."""
    commonest: tuple[Recurring, ...]
    responses: int
    """Responses with a word in them: the shares are of these."""
    dropped: int
    different: int
    """Wordings that differ, word for word."""
    repeated: float
    """The share of responses whose wording another situation's response of theirs has, too."""
    near_repeated: float
    """The same, near-duplicates counting as well."""


def recurrences(
    frame: pl.DataFrame,
    *,
    where: str = "opening",
    words: int = 5,
    similarity: float = 0.5,
    top: int = 10,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
) -> list[Recurrences]:
    """Per respondent, the first (or last) `words` words that recur, and how often.

    Two wordings are near-duplicates where the Jaccard similarity of their sets of words and word
    pairs is at least `similarity`. Clusters are stars: the most common wording that is still free
    takes all free ones that are near to it, so everything in a cluster is near to its first.
    Pairs are found through their rarest parts (prefix filtering: Chaudhuri, S., Ganti, V., &
    Kaushik, R. (2006). ICDE), so that not all pairs are compared and none is missed.
    """
    if where not in ("opening", "closing"):
        raise InputError("'where' must be opening or closing", got=where, remedy="Choose one.")
    if not 0 < similarity <= 1 or words < 1:
        raise InputError(
            "'similarity' must be above 0 and up to 1, and 'words' be at least 1",
            got=(similarity, words),
            remedy="Leave them out for the usual values.",
        )
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    lists = word_lists(responses.frame[TEXT])
    piece = lists.list.head(words) if where == "opening" else lists.list.tail(words)
    table = responses.frame.select(RESPONDENT, SITUATION, wording=piece.list.join(" "))
    results = []
    for name in responses.respondents:
        mine = table.filter(pl.col(RESPONDENT) == name)
        results.append(_summary(name, where, mine, similarity, top))
    return results


def _summary(name: str, where: str, mine: pl.DataFrame, similarity: float, top: int) -> Recurrences:
    worded = mine.filter(pl.col("wording") != "")
    different = (
        worded.group_by("wording")
        .agg(pl.len().alias("count"), pl.col(SITUATION).unique().alias("situations"))
        .sort("count", "wording", descending=[True, False])
    )
    wordings = different["wording"].to_list()
    leader = star_clusters(wordings, similarity)
    clusters = (
        different.with_columns(leader=pl.Series(leader, dtype=pl.Int64))
        .group_by("leader", maintain_order=True)
        .agg(
            pl.col("wording"),
            pl.col("count").sum().alias("total"),
            pl.col("count").first().alias("exact"),
            pl.col("situations").list.explode(empty_as_null=False).n_unique().alias("spread"),
        )
        .sort("total", "exact", descending=True, maintain_order=True)
    )
    n = worded.height
    commonest = tuple(
        Recurring(
            words=row["wording"][0],
            count=row["total"],
            exact=row["exact"],
            share=row["total"] / n,
            situations=row["spread"],
            variants=tuple(row["wording"][1:6]),
        )
        for row in clusters.filter(pl.col("spread") > 1).head(top).iter_rows(named=True)
    )
    exact = int(different.filter(pl.col("situations").list.len() > 1)["count"].sum())
    near = int(clusters.filter(pl.col("spread") > 1)["total"].sum())
    return Recurrences(
        respondent=name,
        where=where,
        commonest=commonest,
        responses=n,
        dropped=mine.height - n,
        different=different.height,
        repeated=exact / n if n else float("nan"),
        near_repeated=near / n if n else float("nan"),
    )


def star_clusters(wordings: list[str], similarity: float) -> Numbers:
    """For each wording, the number of the wording that leads its cluster; earlier ones lead."""
    leader = np.full(len(wordings), -1, dtype=np.int64)
    first, second = near_pairs(wordings, similarity)
    order = np.argsort(first, kind="stable")
    first, second = first[order], second[order]
    starts = np.searchsorted(first, np.arange(len(wordings) + 1))
    for number in range(len(wordings)):
        if leader[number] < 0:
            near = second[starts[number] : starts[number + 1]]
            leader[near[leader[near] < 0]] = number
            leader[number] = number
    return leader


def near_pairs(wordings: list[str], similarity: float) -> tuple[Numbers, Numbers]:
    """All pairs (first before second) whose Jaccard similarity is at least that asked for."""
    sets = _parts(wordings)
    sizes = np.diff(sets.indptr)
    rarity = np.bincount(sets.indices, minlength=sets.shape[1])
    prefix = _prefixes(sets, sizes, rarity, similarity)
    near: list[Numbers] = []
    work = np.asarray(prefix @ np.asarray(prefix.sum(axis=0)).ravel()).ravel()
    bounds = np.searchsorted(np.cumsum(work), np.arange(_PAIRS_AT_ONCE, work.sum(), _PAIRS_AT_ONCE))
    edges = np.unique(np.concatenate([[0], bounds + 1, [len(wordings)]]))
    turned = prefix.T.tocsr()
    marks, hidden = _marks(sets, sizes)
    for start, end in itertools.pairwise(edges):
        candidates = (prefix[start:end] @ turned).tocoo()
        after = candidates.row + start < candidates.col
        one, other = candidates.row[after] + start, candidates.col[after]
        most = np.bitwise_count(marks[one] & marks[other]) + np.minimum(hidden[one], hidden[other])
        possible = most * (1 + similarity) >= similarity * (sizes[one] + sizes[other]) - 1e-9
        pairs = np.stack([one[possible], other[possible]]).astype(np.int64)
        shared = np.asarray(sets[pairs[0]].multiply(sets[pairs[1]]).sum(axis=1)).ravel()
        jaccard = shared / (sizes[pairs[0]] + sizes[pairs[1]] - shared)
        near.append(pairs[:, jaccard >= similarity - 1e-12])
    both = np.concatenate(near, axis=1) if near else np.zeros((2, 0), dtype=np.int64)
    return both[0], both[1]


def _parts(wordings: list[str]) -> Any:
    """Which words and pairs of words each wording holds."""
    import scipy.sparse as sp

    numbers: dict[str | tuple[str, str], int] = {}
    columns, ends = [], [0]
    for wording in wordings:
        words = wording.split(" ")
        parts: set[str | tuple[str, str]] = {*words, *itertools.pairwise(words)}
        columns.extend(sorted(numbers.setdefault(part, len(numbers)) for part in parts))
        ends.append(len(columns))
    shape = (len(wordings), max(1, len(numbers)))
    return sp.csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)


def _marks(sets: Any, sizes: Numbers) -> tuple[NDArray[np.uint64], Numbers]:
    """Each set as 64 bits, a member being one of them, and how many members share another's bit.

    Two sets have at most as many members in common as bits, and the fewer of such members.
    """
    bits = np.left_shift(np.uint64(1), (sets.indices % 64).astype(np.uint64))
    # Every wording has a word, so no set is empty.
    marks = np.bitwise_or.reduceat(bits, sets.indptr[:-1]) if len(bits) else bits
    return marks, sizes - np.bitwise_count(marks)


def _prefixes(sets: Any, sizes: Numbers, rarity: Numbers, similarity: float) -> Any:
    """Each set's rarest members: two sets that are near share at least one of these."""
    import scipy.sparse as sp

    rows = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((sets.indices, rarity[sets.indices], rows))
    place = np.arange(len(rows)) - np.repeat(sets.indptr[:-1], sizes)
    kept = sizes - np.ceil(similarity * sizes - 1e-9).astype(np.int64) + 1
    chosen = place < kept[rows]
    columns = sets.indices[order][chosen]
    return sp.csr_matrix((np.ones(len(columns)), (rows[chosen], columns)), shape=sets.shape)
