"""Lexical diversity that does not depend on length: MATTR and MTLD.

Both go by where each word stood before: a word is new to a stretch of text if it last stood before
the stretch began.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Numbers
from empathylab.style.responses import usable_responses
from empathylab.style.text.segments import segment

WINDOW = 20
"""Words in MATTR's window for single responses, which are short."""
RUNNING_WINDOW = 50
"""Words in MATTR's window for a respondent's running text."""
RUNNING_SHORTEST = 100
"""Words that a respondent's running text needs for MTLD."""
THRESHOLD = 0.72
"""The type–token ratio at which MTLD closes a factor (McCarthy & Jarvis 2010)."""
RUNNING_CHARACTERS = 1_000_000
"""A respondent's running text is cut here: what follows would hardly move the figures."""
_LONG = 2_000
"""Words from which on a text is walked alone: walking texts together helps while they are many."""


class Diversity(NamedTuple):
    """The lexical diversity of a respondent's responses, read as one text."""

    respondent: str
    mattr: float
    """NaN with fewer words than the window."""
    mtld: float
    """NaN below 100 words, and where no word comes twice."""
    words: int
    """Words used."""
    responses: int
    """Responses used, wholly or in part."""
    dropped: int
    """Responses left out: no text, or behind the cut."""


class Repeats(NamedTuple):
    """Where words stood before and will stand again, in their own text."""

    starts: Numbers
    """Where each text's words begin, and where the last one's end."""
    before: Numbers
    """The last earlier place of the same word, counted from the text's first; -1 without one."""
    after: Numbers
    """The same from the text's end, backwards."""


def diversity(
    frame: pl.DataFrame,
    *,
    respondent: str = "respondent",
    situation: str = "situation",
    text: str = "text",
    window: int = RUNNING_WINDOW,
) -> tuple[Diversity, ...]:
    """MATTR and MTLD of each respondent's responses, one after the other by situation."""
    usable = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    ordered = usable.frame.sort("respondent", "situation", "response")
    length = pl.col("text").str.len_chars()
    before = (length.cum_sum() - length).over("respondent")
    kept = ordered.filter(before < RUNNING_CHARACTERS).with_columns(
        pl.col("text").str.slice(0, RUNNING_CHARACTERS - before)
    )
    given = dict(frame.group_by(pl.col(respondent).cast(pl.String)).len().iter_rows())
    results = []
    for (name,), own in kept.group_by("respondent", maintain_order=True):
        codes, starts, _ = segment(own["text"]).word_sequence
        repeats = find_repeats(codes, starts[[0, -1]])
        results.append(
            Diversity(
                str(name),
                float(mattr(repeats, window)[0]),
                float(mtld(repeats)[0]) if len(codes) >= RUNNING_SHORTEST else math.nan,
                len(codes),
                own.height,
                int(given[name]) - own.height,
            )
        )
    return tuple(results)


def find_repeats(codes: Numbers, starts: Numbers) -> Repeats:
    """Where each word, given as a number, stood before and will stand again in its text."""
    size = len(codes)
    lengths = np.diff(starts)
    begins = np.repeat(starts[:-1], lengths)
    ends = np.repeat(starts[1:], lengths)
    before = np.full(size, -1, dtype=np.int64)
    after = np.full(size, -1, dtype=np.int64)
    if size:
        order, same = _equal_neighbours(codes, lengths)
        earlier, later = order[:-1][same], order[1:][same]
        before[later] = earlier - begins[later]
        after[earlier] = ends[earlier] - 1 - later
    return Repeats(starts, before, after)


def _equal_neighbours(codes: Numbers, lengths: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """The places sorted by text, word and place, and which follow one with the same word."""
    bits = len(codes).bit_length()
    text = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    word = text * (int(codes.max()) + 1) + codes
    # One sort of whole keys is several times faster than sorting places by key.
    keys = np.sort((word << bits) | np.arange(len(codes)))
    words = keys >> bits
    return keys & ((1 << bits) - 1), words[1:] == words[:-1]


def mattr(repeats: Repeats, window: int = WINDOW) -> Array:
    """For each text, the mean type–token ratio of all its windows; NaN with fewer words than one.

    A word is no new type in the windows that hold an earlier place of it, too: those that begin at
    its last earlier place or before.

    Covington, M. A., & McFall, J. D. (2010). Cutting the Gordian knot: The moving-average
    type–token ratio (MATTR). Journal of Quantitative Linguistics 17, 94–100.
    """
    if window < 1:
        raise InputError(
            "the window of MATTR must have at least one word",
            got=window,
            remedy="Give a larger window.",
        )
    starts, before, _ = repeats
    lengths = np.diff(starts)
    windows = np.maximum(lengths - window + 1, 0)
    repeated = np.flatnonzero(before >= 0)
    text = np.searchsorted(starts, repeated, side="right") - 1
    place = repeated - starts[text]
    first = np.maximum(place - window + 1, 0)
    last = np.minimum(np.minimum(place, windows[text] - 1), before[repeated])
    again = np.bincount(text, np.maximum(last - first + 1, 0), minlength=len(lengths))
    with np.errstate(invalid="ignore"):
        ratio: Array = 1 - again / (windows * float(window))
    return ratio


def mtld(repeats: Repeats, threshold: float = THRESHOLD) -> Array:
    """For each text, the mean length of stretches that keep a type–token ratio of the threshold.

    A stretch (factor) is closed when the ratio falls below the threshold; the rest of the text
    counts as the part of a factor that its ratio has come down. The mean of reading forwards and
    backwards. NaN where no word comes twice. Below about 100 words it is rough.

    McCarthy, P. M., & Jarvis, S. (2010). MTLD, vocd-D, and HD-D: A validation study of
    sophisticated approaches to lexical diversity assessment. Behavior Research Methods 42, 381–392.
    """
    starts, before, after = repeats
    lengths = np.diff(starts)
    backwards = np.repeat(starts[:-1] + starts[1:] - 1, lengths) - np.arange(len(after))
    with np.errstate(divide="ignore", invalid="ignore"):
        forth = lengths / _factors(before, starts, threshold)
        back = lengths / _factors(after[backwards], starts, threshold)
    both = (forth + back) / 2
    return np.where(np.isfinite(both), both, np.nan)


def _factors(before: Numbers, starts: Numbers, threshold: float) -> Array:
    """How many factors each text has, the last one in part."""
    lengths = np.diff(starts)
    order = np.argsort(-lengths, kind="stable")
    long = int((lengths > _LONG).sum())
    factors = np.zeros(len(lengths))
    for text in order[:long]:
        factors[text] = _factors_alone(before[starts[text] : starts[text + 1]].tolist(), threshold)
    short = order[long:]
    factors[short] = _factors_together(before, starts[:-1][short], lengths[short], threshold)
    return factors


def _factors_alone(before: list[int], threshold: float) -> float:
    factors, begun, types = 0, 0, 0
    for place, earlier in enumerate(before):
        types += earlier < begun
        if types / (place + 1 - begun) < threshold:
            factors, begun, types = factors + 1, place + 1, 0
    rest = len(before) - begun
    return factors + ((1 - types / rest) / (1 - threshold) if rest else 0.0)


def _factors_together(before: Numbers, first: Numbers, lengths: Numbers, threshold: float) -> Array:
    """The same for many texts, the longest first, word by word for all of them at once."""
    factors = np.zeros(len(first))
    begun = np.zeros(len(first), dtype=np.int64)
    types = np.zeros(len(first), dtype=np.int64)
    places = np.arange(int(lengths.max(initial=0)))
    texts_left = len(first) - np.searchsorted(lengths[::-1], places, side="right")
    for place, left in enumerate(texts_left):
        types[:left] += before[first[:left] + place] < begun[:left]
        closed = np.flatnonzero(types[:left] / (place + 1 - begun[:left]) < threshold)
        factors[closed] += 1
        begun[closed] = place + 1
        types[closed] = 0
    rest = lengths - begun
    ratio = types / np.where(rest > 0, rest, 1)
    return factors + np.where(rest > 0, (1 - ratio) / (1 - threshold), 0.0)
