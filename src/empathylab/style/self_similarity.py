"""How similar one respondent's responses are to each other, and to other respondents'.

Cosines of TF-IDF vectors of words and word pairs, averaged over all pairs of responses to different
situations. The mean over n² pairs comes from sums of vectors, so it costs as much as reading the
texts once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
    results = []
    for name in responses.respondents:
        mine = who == name
        estimate, low, high = _within(vectors[mine], place[mine], confidence)
        results.append(
            SelfSimilarity(
                respondent=name,
                estimate=estimate,
                low=low,
                high=high,
                to_others=_between(vectors, place, mine),
                n=int(mine.sum()),
                situations=len(np.unique(place[mine])),
                dropped=int((blank == name).sum()),
            )
        )
    return results


def mean_cosine(vectors: Any, groups: Numbers) -> float:
    """The mean cosine of rows of length 1 in different groups: (‖S‖² − Σ‖S_g‖²) / (n² − Σn_g²)."""
    sums, sizes = _sums(vectors, groups)
    total = np.asarray(sums.sum(axis=0)).ravel()
    pairs = float(sizes.sum()) ** 2 - float((sizes**2).sum())
    if pairs <= 0:
        return math.nan
    return (float(total @ total) - float(sums.multiply(sums).sum())) / pairs


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


def _sums(
    vectors: Any, groups: Numbers, counted: NDArray[np.bool_] | None = None
) -> tuple[Any, Array]:
    """Per group, the sum of its rows that count, and how many they are; all count by default."""
    import scipy.sparse as sp

    different, place = np.unique(groups, return_inverse=True)
    weights = np.ones(len(place)) if counted is None else counted.astype(float)
    shape = (len(different), len(place))
    picks = sp.csr_matrix((weights, (place, np.arange(len(place)))), shape=shape)
    sizes: Array = np.asarray(picks.sum(axis=1), dtype=np.float64).ravel()
    return picks @ vectors, sizes


def _within(vectors: Any, groups: Numbers, confidence: float) -> tuple[float, float, float]:
    estimate = mean_cosine(vectors, groups)
    sums, sizes = _sums(vectors, groups)
    k = len(sizes)
    if k < 3:
        return estimate, math.nan, math.nan
    total = np.asarray(sums.sum(axis=0)).ravel()
    own = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    # Leaving a group out takes its pairs with all other groups away, in both orders.
    lost = 2 * (np.asarray(sums @ total).ravel() - own)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    left = (total @ total - own.sum() - lost) / (pairs - 2 * sizes * (sizes.sum() - sizes))
    se = math.sqrt((k - 1) / k * float(((left - left.mean()) ** 2).sum()))
    margin = t_margin(k - 1, confidence) * se
    return estimate, max(0.0, estimate - margin), min(1.0, estimate + margin)


def _between(vectors: Any, groups: Numbers, mine: NDArray[np.bool_]) -> float:
    """The mean cosine of one side's rows with the other's, in different groups."""
    own, n = _sums(vectors, groups, mine)
    other, m = _sums(vectors, groups, ~mine)
    pairs = float(n.sum() * m.sum() - (n * m).sum())
    if pairs <= 0:
        return math.nan
    dot = float(np.asarray(own.sum(axis=0)).ravel() @ np.asarray(other.sum(axis=0)).ravel())
    return (dot - float(own.multiply(other).sum())) / pairs
