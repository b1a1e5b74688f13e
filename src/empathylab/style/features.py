"""The features of each response: one row for each, all columns at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.style.catalogue import FEATURES
from empathylab.style.diversity import WINDOW, find_repeats, mattr, mtld
from empathylab.style.emoji import emoji_column
from empathylab.style.emoticons import emoticon_column
from empathylab.style.layout import layout_columns
from empathylab.style.lexicons import Lexicon, builtin_lexicons, read_lexicons
from empathylab.style.marks import letter_columns, mark_columns
from empathylab.style.matching import Matcher, Resolved, matcher
from empathylab.style.quotations import quotation_columns, quotation_counts
from empathylab.style.readability import (
    flesch_kincaid_grade,
    flesch_reading_ease,
    in_latin_letters,
    syllable_counts,
)
from empathylab.style.responses import require_columns
from empathylab.style.segments import (
    Columns,
    Flags,
    Numbers,
    Segments,
    columns_of,
    segment_parts,
)
from empathylab.style.sentiment import sentiment_missing, sentiment_scores
from empathylab.style.structure import piece_kinds, structure

Column = NDArray[Any]
"""Counts or measures, one for each text."""

_THREADS = 4
_YOU = "second_person"
BATCH_BYTES = 32_000_000
BATCH_ROWS = 100_000
"""Texts are taken in batches of this size, so that memory does not grow with their number."""
PART_ROWS = 25_000
"""Texts that are counted together: their numbers stay in the processor's own memory."""


def features(
    frame: pl.DataFrame,
    *,
    respondent: str = "respondent",
    situation: str = "situation",
    text: str = "text",
    lexicons: Sequence[Lexicon] = (),
    lists: str | Path | None = None,
    sentiment: bool | None = None,
    diversity: bool = True,
    window: int = WINDOW,
) -> pl.DataFrame:
    """The features of each response, in the frame's order; see `FEATURES` for their meaning.

    The columns `respondent`, `situation` and, if the frame has it, `sample` come first. A missing
    text has null for every feature; an empty one has counts of 0 and null for measures. Columns
    for `lexicons` come last. `lists` is a word list, a `.dic`, or a folder of them: a list named
    like one that ships replaces it, others are added. `sentiment` needs the extra `style`: None
    leaves it out where that is not installed (`sentiment_missing` says why), False leaves it out.
    `diversity` gives MATTR, in windows of `window` words, and MTLD.
    """
    require_columns(frame, [respondent, situation, text], "responses")
    chosen = chosen_lexicons(lexicons, lists)
    matching = matcher(chosen)
    you = matcher([lexicon for lexicon in chosen if lexicon.name == _YOU])
    texts = frame[text].cast(pl.String)
    reading = _Reading(matching, you, window if diversity else None)
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, _THREADS)) as pool:
        parts = [part for batch in _batches(texts) for part in _batch(batch, reading, pool.map)]
    table = pl.concat(parts)
    if sentiment or (sentiment is None and sentiment_missing() is None):
        table = table.with_columns(sentiment_scores(texts).alias("sentiment"))
    own = [name for name in FEATURES if name in table.columns]
    added = [name for name in matching.columns if name not in FEATURES]
    there = texts.is_not_null()
    blanked = table.select(
        pl.when(there).then(pl.col(name)).otherwise(None).alias(name) for name in [*own, *added]
    )
    return pl.concat([_identity(frame, respondent, situation), blanked], how="horizontal")


def chosen_lexicons(
    lexicons: Sequence[Lexicon] = (), lists: str | Path | None = None
) -> tuple[Lexicon, ...]:
    """The lists that ship, the user's in their place or beside them, and the lexicons given."""
    chosen = {lexicon.name: lexicon for lexicon in builtin_lexicons()}
    if lists is not None:
        chosen |= {lexicon.name: lexicon for lexicon in read_lexicons(lists)}
    ours = {lexicon.name for lexicon in builtin_lexicons()}
    taken = (set(FEATURES) - ours) | {"respondent", "situation", "sample"}
    every = [*chosen.values(), *lexicons]
    for name in (column for lexicon in every for column in lexicon.columns):
        if name in taken:
            raise InputError(
                "two features would have the same name",
                where="word lists",
                got=name,
                remedy="Rename the word list's file.",
            )
        taken.add(name)
    return tuple(every)


def _identity(frame: pl.DataFrame, respondent: str, situation: str) -> pl.DataFrame:
    roles = {"respondent": respondent, "situation": situation}
    if "sample" in frame.columns:
        roles["sample"] = "sample"
    return frame.select(pl.col(column).alias(role) for role, column in roles.items())


def _batches(texts: pl.Series) -> Iterator[pl.Series]:
    size = texts.str.len_bytes().fill_null(0).cum_sum()
    group = (size // BATCH_BYTES) + pl.arange(0, len(texts), eager=True) // BATCH_ROWS
    first = [0, *(group.diff().fill_null(0) != 0).arg_true().to_list(), len(texts)]
    for begin, end in pairwise(first):
        yield texts.slice(begin, end - begin)


class _Reading(NamedTuple):
    """How texts are to be read."""

    matching: Matcher
    you: Matcher
    window: int | None


class _Vocabulary(NamedTuple):
    """What was found on the different pieces of a batch."""

    columns: Columns
    kinds: NDArray[np.uint16]
    addressing: Flags
    resolved: Resolved


def _batch(
    texts: pl.Series, reading: _Reading, run: Callable[..., Iterable[Any]]
) -> list[pl.DataFrame]:
    """The features of the texts, in order, in several tables."""
    parts = segment_parts(texts, PART_ROWS, run)
    words, pieces = parts[0].words, parts[0].pieces
    work = (
        partial(_piece_columns, parts[0]),
        partial(piece_kinds, pieces),
        partial(reading.matching.resolved, words),
    )
    columns, kinds, resolved = run(lambda one: one(), work)
    addressing = words.summed_folded(reading.you.matched(words.folded)) > 0
    vocabulary = _Vocabulary(
        columns_of(columns | resolved.piece_columns()), kinds, addressing, resolved
    )
    own = [texts.slice(first, PART_ROWS) for first in range(0, max(len(texts), 1), PART_ROWS)]
    return list(run(partial(_part, vocabulary=vocabulary, window=reading.window), own, parts))


def _part(
    texts: pl.Series, segments: Segments, *, vocabulary: _Vocabulary, window: int | None
) -> pl.DataFrame:
    totals = segments.totals(vocabulary.columns)
    built = structure(segments, vocabulary.kinds)
    found: dict[str, Column] = dict(totals)
    found["characters"] = texts.str.len_chars().fill_null(0).cast(pl.Int32).to_numpy()
    found |= quotation_counts(texts.fill_null(""), totals)
    found |= built.line_counts()
    found |= built.sentence_counts(vocabulary.addressing)
    found |= vocabulary.resolved.phrase_counts(built)
    found |= _of_totals(found)
    if window is not None:
        found |= _of_words(segments, window)
    return _table(found)


def _piece_columns(segments: Segments) -> dict[str, Numbers]:
    """What can be counted on the different pieces."""
    words = segments.words
    columns = letter_columns(segments)
    columns["syllables"] = words.summed_folded(syllable_counts(words.folded))
    columns["_latin"] = words.summed_folded(in_latin_letters(words.folded))
    # Most pieces are plain words, which hold nothing else; xD is an emoticon.
    places = segments.pieces.str.contains("[^A-Za-z]|^[xX]D").arg_true().to_numpy()
    others = segments.pieces.gather(places)
    found = mark_columns(others) | layout_columns(others) | quotation_columns(others)
    found |= {"emoji": emoji_column(others), "emoticons": emoticon_column(others)}
    for name, counts in found.items():
        columns[name] = np.zeros(len(segments.pieces), dtype=np.int64)
        columns[name][places] = counts
    return columns


def _table(found: dict[str, Column]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            pl.Series(name, column, nan_to_null=True)
            if column.dtype.kind == "f"
            else pl.Series(name, column.astype(np.int32, copy=False))
            for name, column in found.items()
            if not name.startswith("_")
        ]
    )


def _of_totals(found: dict[str, Column]) -> dict[str, Column]:
    """What follows from the totals of a text."""
    words, sentences, syllables = (found[name] for name in ("words", "sentences", "syllables"))
    hyphens = found["double_hyphens"] + found["spaced_hyphens"]
    english = np.where(2 * found["_latin"] >= words, words, 0)
    return {
        "bold": found["bold"] // 2,
        "code": found["code"] // 2,
        "dashes": found["en_dashes"] + found["em_dashes"] + hyphens,
        "words_per_sentence": _ratio(words, sentences),
        "letters_per_word": _ratio(found["letters"], words),
        "capital_share": _ratio(found["capitals"], found["letters"]),
        "exclamation_rate": _ratio(found["exclamations"], sentences),
        "question_rate": _ratio(found["questions"], sentences),
        "flesch_reading_ease": flesch_reading_ease(english, sentences, syllables),
        "flesch_kincaid_grade": flesch_kincaid_grade(english, sentences, syllables),
    }


def _of_words(segments: Segments, window: int) -> dict[str, Column]:
    codes, starts, _ = segments.word_sequence
    repeats = find_repeats(codes, starts)
    return {"mattr": mattr(repeats, window), "mtld": mtld(repeats)}


def _ratio(part: Column, whole: Column) -> NDArray[np.float64]:
    return part / np.where(whole > 0, whole, np.nan)
