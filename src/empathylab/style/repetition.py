"""How much a respondent repeats itself from response to response, at equal amounts of text."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array, Numbers
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT, usable_responses
from empathylab.style.text.terms import Phrases, coded_words, phrases, readable

_WINDOW = 32_768
"""zlib looks back this many bytes; beyond, repetition would go unseen."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A phrase that a respondent uses in several responses."""

    phrase: str
    responses: int
    """How many of the respondent's responses hold it."""
    situations: int


@dataclass(frozen=True, slots=True)
class Repetition:
    """How much one respondent repeats itself; intervals span the draws of responses."""

    respondent: str
    phrase_repetition: float
    """The share of runs of `size` words that a drawn response to another situation holds, too."""
    phrase_low: float
    phrase_high: float
    compression: float
    """Bytes before over bytes after zlib: the higher, the more repeats itself."""
    compression_low: float
    compression_high: float
    repeated: tuple[Repeated, ...]
    """The phrases that most of its responses share, from all of them."""
    size: int
    words: int
    """How many words of each respondent were drawn for the phrases."""
    bytes: int
    """How many bytes of each respondent were drawn for the compression."""
    responses: int
    dropped: int


def repetition(
    frame: pl.DataFrame,
    *,
    size: int = 4,
    draws: int = 20,
    top: int = 10,
    min_responses: int = 10,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[Repetition]:
    """Each respondent's repetition across responses, from as much text as all others have.

    Both measures grow with the amount of text, so the same amount is drawn from everybody: as
    many words (for the compression: bytes, at most 32,768) as the respondent with the least has,
    in random order of responses, `draws` times. Respondents with fewer than `min_responses`
    responses do not set the amount and have NaN. Where everything is used up each time, the
    interval has no width: it says how much the choice of responses matters, no more.

    Shaib, C., Barrow, J., Sun, J., Siu, A. F., Wallace, B. C., & Nenkova, A. (2024). Standardizing
    the measurement of text diversity. arXiv 2403.00553; Salkar, N., Trikalinos, T., Wallace,
    B. C., & Nenkova, A. (2022). Self-repetition in abstractive neural summarizers. AACL.
    """
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    table = responses.frame
    runs = phrases(coded_words(table[TEXT]), size)
    index = _RunIndex(runs, table[SITUATION])
    encoded = [item.encode() + b"\n" for item in table[TEXT]]
    words = np.bincount(runs.words.text, minlength=table.height)
    lengths = np.array([len(item) for item in encoded], dtype=np.int64)
    rows = {
        name: np.flatnonzero((table[RESPONDENT] == name).to_numpy())
        for name in responses.respondents
    }
    enough = {name: each for name, each in rows.items() if len(each) >= min_responses}
    budget = min((int(words[each].sum()) for each in enough.values()), default=0)
    most = min((_WINDOW, *(int(lengths[each].sum()) for each in enough.values())))
    rng = np.random.default_rng(seed)

    def ratio(chosen: Numbers) -> float:
        joined = b"".join(encoded[number] for number in chosen)[:most]
        return len(joined) / len(zlib.compress(joined, 9))

    results = []
    for name, each in rows.items():
        shares = ratios = np.array([math.nan])
        if name in enough:
            shares = _drawn(index.repeated_share, each, words, budget, draws, rng)
            ratios = _drawn(ratio, each, lengths, most, draws, rng)
        phrase, compression = _spread(shares, confidence), _spread(ratios, confidence)
        results.append(
            Repetition(
                respondent=name,
                phrase_repetition=phrase[0],
                phrase_low=phrase[1],
                phrase_high=phrase[2],
                compression=compression[0],
                compression_low=compression[1],
                compression_high=compression[2],
                repeated=_most_repeated(runs, table, each, top),
                size=size,
                words=budget,
                bytes=most if enough else 0,
                responses=len(each),
                dropped=responses.dropped,
            )
        )
    return results


def _drawn(
    measure: Callable[[Numbers], float],
    rows: Numbers,
    amounts: Numbers,
    budget: int,
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """The measure on random responses that together just reach the budget, draw by draw."""
    values = []
    for _ in range(draws):
        order = rng.permutation(rows)
        needed = int(np.searchsorted(np.cumsum(amounts[order]), budget)) + 1
        values.append(measure(order[:needed]))
    return np.array(values)


def _spread(values: Array, confidence: float) -> tuple[float, float, float]:
    """The mean of the draws, and between which values most of them lie."""
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(values.mean()), float(low), float(high)


class _RunIndex:
    """The different runs of each text, so that a draw of texts is looked up, not searched."""

    def __init__(self, runs: Phrases, situations: pl.Series) -> None:
        self.different = max(1, runs.different)
        keys, self.uses = np.unique(runs.text * self.different + runs.terms, return_counts=True)
        text, self.term = np.divmod(keys, self.different)
        _, of_text = np.unique(situations.to_numpy(), return_inverse=True)
        self.situation = of_text[text]
        self.starts = np.searchsorted(text, np.arange(len(situations) + 1))

    def repeated_share(self, chosen: Numbers) -> float:
        """Of all runs in these texts, the share that one to another situation holds, too."""
        lengths = self.starts[chosen + 1] - self.starts[chosen]
        offset = np.cumsum(lengths) - lengths
        spots = np.repeat(self.starts[chosen] - offset, lengths) + np.arange(int(lengths.sum()))
        if not len(spots):
            return math.nan
        term, situation = self.term[spots], self.situation[spots]
        # One situation of each run; a run is repeated where it also stands in another.
        home = np.zeros(self.different, dtype=np.int64)
        home[term] = situation
        repeated = np.zeros(self.different, dtype=bool)
        repeated[term[home[term] != situation]] = True
        uses = self.uses[spots]
        return float(uses[repeated[term]].sum() / uses.sum())


def _most_repeated(
    runs: Phrases, table: pl.DataFrame, rows: Numbers, top: int
) -> tuple[Repeated, ...]:
    mine = np.zeros(table.height, dtype=bool)
    mine[rows] = True
    inside = mine[runs.text]
    counted = (
        pl.DataFrame(
            {
                "term": runs.terms[inside],
                "text": runs.text[inside],
                "situation": table[SITUATION].gather(runs.text[inside]),
            }
        )
        .group_by("term")
        .agg(
            pl.col("text").n_unique().alias("responses"),
            pl.col("situation").n_unique().alias("situations"),
        )
        .filter(pl.col("situations") > 1)
        .sort("responses", "term", descending=[True, False])
        .head(top)
    )
    spelled = runs.spelled(counted["term"].to_numpy()) if counted.height else []
    return tuple(
        Repeated(readable(phrase), int(responses), int(situations))
        for phrase, responses, situations in zip(
            spelled, counted["responses"], counted["situations"], strict=True
        )
    )
