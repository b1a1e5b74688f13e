"""How similar one respondent's responses are to each other, and to other respondents'.

Cosines of TF-IDF vectors of words and word pairs, averaged over all pairs of responses to different
situations. The mean over n² pairs comes from sums of vectors, so it costs as much as reading the
texts once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array, Numbers
from empathylab.stats.t_tests import t_margin
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT, usable_responses
from empathylab.style.text.terms import coded_words, phrases


@dataclass(frozen=True, slots=True)
class SelfSimilarity:
    """The mean cosine of a respondent's responses to different situations."""

    respondent: str
    estimate: float
    """From 0 (no word in common) to 1 (the same response to everything); NaN below two
    situations."""
    low: float
    """From leaving out each situation in turn; NaN below three situations."""
    high: float
    to_others: float
    """The same between this respondent's and all others' responses; NaN without others."""
    n: int
    situations: int
    dropped: int
    """Responses without a word."""


def self_similarity(
    frame: pl.DataFrame,
    *,
    longest: int = 2,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
    confidence: float = 0.95,
) -> list[SelfSimilarity]:
    """Each respondent's mean similarity between responses to different situations.

    A mean over pairs, so it does not grow with the number of responses, and respondents with few
    and with many can be compared. Weights (inverse document frequency) come from all responses.
    A template makes it high; so do situations that resemble each other, which `to_others` shows.
    """
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    vectors = _vectors(responses.frame[TEXT], longest)
    worded = np.diff(vectors.indptr) > 0
    kept = responses.frame.filter(pl.Series(worded))
    vectors = vectors[np.flatnonzero(worded)]
    _, place = np.unique(kept[SITUATION].to_numpy(), return_inverse=True)
    who = kept[RESPONDENT].to_numpy()
    blank = responses.frame.filter(pl.Series(~worded))[RESPONDENT]
    everybody = _sums(vectors, place, int(place.max(initial=-1)) + 1)
    results = []
    for name in responses.respondents:
        mine = who == name
        own = _sums(vectors[mine], place[mine], len(everybody.sizes))
        estimate, low, high = _within(own, confidence)
        results.append(
            SelfSimilarity(
                respondent=name,
                estimate=estimate,
                low=low,
                high=high,
                to_others=_between(own, everybody),
                n=int(mine.sum()),
                situations=int((own.sizes > 0).sum()),
                dropped=int((blank == name).sum()),
            )
        )
    return results


def mean_cosine(vectors: Any, groups: Numbers) -> float:
    """The mean cosine of rows of length 1 in different groups: (‖S‖² − Σ‖S_g‖²) / (n² − Σn_g²)."""
    _, place = np.unique(groups, return_inverse=True)
    return _mean(_sums(vectors, place, int(place.max(initial=-1)) + 1))


def _vectors(texts: pl.Series, longest: int) -> Any:
    import scipy.sparse as sp

    words = coded_words(texts)
    blocks = []
    for size in range(1, longest + 1):
        ngrams = phrases(words, size)
        ones = np.ones(len(ngrams.terms))
        shape = (len(texts), max(1, ngrams.different))
        counts = sp.csr_matrix((ones, (ngrams.text, ngrams.terms)), shape=shape)
        counts.sum_duplicates()
        blocks.append(counts)
    counts = sp.hstack(blocks, format="csr")
    texts_with = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1 + len(texts)) / (1 + texts_with)) + 1
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(length, np.diff(counts.indptr))
    return counts


class _Sums(NamedTuple):
    """The sum of the rows of each group, and how many they are."""

    rows: Any
    squares: Array
    """Of each group's sum, the squared length."""
    total: Array
    """The sum of all groups."""
    sizes: Array


def _sums(vectors: Any, place: Numbers, groups: int) -> _Sums:
    import scipy.sparse as sp

    ones = np.ones(len(place))
    picks = sp.csr_matrix((ones, (place, np.arange(len(place)))), shape=(groups, len(place)))
    rows = picks @ vectors
    group = np.repeat(np.arange(groups), np.diff(rows.indptr))
    return _Sums(
        rows=rows,
        squares=np.bincount(group, rows.data**2, minlength=groups).astype(float),
        total=np.asarray(rows.sum(axis=0)).ravel(),
        sizes=np.bincount(place, minlength=groups).astype(float),
    )


def _mean(sums: _Sums) -> float:
    pairs = float(sums.sizes.sum()) ** 2 - float((sums.sizes**2).sum())
    if pairs <= 0:
        return math.nan
    return (float(sums.total @ sums.total) - float(sums.squares.sum())) / pairs


def _within(sums: _Sums, confidence: float) -> tuple[float, float, float]:
    estimate, total, there = _mean(sums), sums.total, sums.sizes > 0
    k = int(there.sum())
    if k < 3:
        return estimate, math.nan, math.nan
    own, sizes = sums.squares[there], sums.sizes[there]
    # Leaving a group out takes its pairs with all other groups away, in both orders.
    lost = 2 * (np.asarray(sums.rows @ total).ravel()[there] - own)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    left = (total @ total - own.sum() - lost) / (pairs - 2 * sizes * (sizes.sum() - sizes))
    se = math.sqrt((k - 1) / k * float(((left - left.mean()) ** 2).sum()))
    margin = t_margin(k - 1, confidence) * se
    return estimate, max(0.0, estimate - margin), min(1.0, estimate + margin)


def _between(own: _Sums, everybody: _Sums) -> float:
    """The mean cosine of one side's rows with all others', in different groups."""
    n, m = own.sizes, everybody.sizes - own.sizes
    pairs = float(n.sum() * m.sum() - (n * m).sum())
    if pairs <= 0:
        return math.nan
    dot = float(own.total @ (everybody.total - own.total))
    together = float(own.rows.multiply(everybody.rows).sum()) - float(own.squares.sum())
    return (dot - together) / pairs
