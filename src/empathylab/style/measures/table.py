"""The features of each response: one row for each, all columns at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.arrays import Flags
from empathylab.style.measures.catalogue import FEATURES
from empathylab.style.measures.diversity import WINDOW, find_repeats, mattr, mtld
from empathylab.style.measures.lexicon_files import read_lexicons
from empathylab.style.measures.lexicons import Lexicon, builtin_lexicons
from empathylab.style.measures.readability import (
    flesch_kincaid_grade,
    flesch_reading_ease,
    in_latin_letters,
    syllable_counts,
)
from empathylab.style.measures.sentiment import sentiment_missing, sentiment_scores
from empathylab.style.responses import require_columns
from empathylab.style.text.emoji import emoji_column
from empathylab.style.text.emoticons import emoticon_column
from empathylab.style.text.layout import layout_columns
from empathylab.style.text.marks import MARKS, letter_columns, mark_columns
from empathylab.style.text.matching import Matcher, Resolved, matcher
from empathylab.style.text.quotations import quotation_columns, quotation_counts
from empathylab.style.text.segments import Codes, CutTexts, Segments, Vocabulary, Words, cut_parts
from empathylab.style.text.structure import full_kinds, piece_kinds, structure
from empathylab.style.text.totals import PieceCounts, Places, places

Column = NDArray[Any]
"""Counts or measures, one for each text."""

_THREADS = 4
_YOU = "second_person"
BATCH_BYTES = 64_000_000
BATCH_ROWS = 200_000
"""Texts are taken in batches of this size, so that memory does not grow with their number."""
PART_ROWS = 6_250
"""Texts that are counted together: their numbers stay in the processor's own memory."""

SHORTEST = 30
"""Words that a response needs for readability and MTLD."""
_OF_LONGER = ("flesch_reading_ease", "flesch_kincaid_grade", "mtld")


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
    shortest: int = SHORTEST,
) -> pl.DataFrame:
    """The features of each response, in the frame's order; see `FEATURES` for their meaning.

    The columns `respondent`, `situation` and, if the frame has it, `sample` come first. A missing
    text has null for every feature; an empty one has counts of 0 and null for measures. Columns
    for `lexicons` come last. `lists` is a word list, a `.dic`, or a folder of them: a list named
    like one that ships replaces it, others are added. `sentiment` needs the extra `style`: None
    leaves it out where that is not installed (`sentiment_missing` says why), False leaves it out.
    `diversity` gives MATTR, in windows of `window` words, and MTLD. Readability and MTLD are null
    for texts with fewer words than `shortest`, on which they mean nothing.
    """
    require_columns(frame, [respondent, situation, text], "responses")
    chosen = chosen_lexicons(lexicons, lists)
    matching = matcher(chosen)
    texts = frame[text].cast(pl.String)
    reading = _Reading(matching, window if diversity else None)
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, _THREADS)) as pool:
        table = pl.concat([_batch(batch, reading, pool.map) for batch in _batches(texts)])
    if sentiment or (sentiment is None and sentiment_missing() is None):
        table = table.with_columns(sentiment_scores(texts).alias("sentiment"))
    own = [name for name in FEATURES if name in table.columns]
    added = [name for name in matching.columns if name not in FEATURES]
    table = table.select(*own, *added)
    long = pl.col("words") >= shortest
    table = table.with_columns(
        pl.when(long).then(pl.col(name)).alias(name) for name in _OF_LONGER if name in table.columns
    )
    if texts.null_count():
        there = texts.is_not_null()
        table = table.select(pl.when(there).then(pl.all()).otherwise(None))
    return pl.concat([_identity(frame, respondent, situation), table], how="horizontal")


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
    ends = texts.str.len_bytes().fill_null(0).cast(pl.Int64).cum_sum().to_numpy()
    begin, before = 0, 0
    while True:
        fit = int(np.searchsorted(ends, before + BATCH_BYTES, side="right"))
        end = min(max(fit, begin + 1), begin + BATCH_ROWS, len(texts))
        yield texts.slice(begin, end - begin)
        if end == len(texts):
            return
        begin, before = end, int(ends[end - 1])


class _Reading(NamedTuple):
    """How texts are to be read."""

    matching: Matcher
    window: int | None


class _Known(NamedTuple):
    """What was found on the different pieces of a batch."""

    counts: PieceCounts
    kinds: NDArray[np.uint16]
    resolved: Resolved


def _batch(texts: pl.Series, reading: _Reading, run: Callable[..., Iterable[Any]]) -> pl.DataFrame:
    """The features of the texts, in order."""
    cut = cut_parts(texts, PART_ROWS, run)
    vocabulary = cut.vocabulary
    work = (
        partial(_matches, vocabulary.words, reading.matching),
        partial(_other_columns, vocabulary),
        partial(_piece_kinds, vocabulary),
        partial(_word_columns, vocabulary.words),
        partial(_characters, texts),
    )
    matches, others, kinds, of_words, characters = run(lambda item: item(), work)
    counts = PieceCounts(len(vocabulary), of_words | others | matches.columns)
    kinds = full_kinds(
        kinds, vocabulary.words, addressing=matches.addressing, in_phrases=matches.in_phrases
    )
    known = _Known(counts, kinds, matches.resolved)
    sums = counts.room(len(texts))
    own = [sums[:, first : first + PART_ROWS] for first in range(0, max(len(texts), 1), PART_ROWS)]
    count = partial(_part, cut, known=known, window=reading.window)
    counted = list(run(count, range(len(own)), own))
    columns: dict[str, Column] = dict(zip(counts.columns, sums, strict=True))
    columns |= {name: np.concatenate([part[name] for part in counted]) for name in counted[0]}
    columns["characters"] = characters
    columns |= quotation_counts(texts.fill_null(""), columns)
    return _table(columns)


def _part(
    cut: CutTexts, part: int, sums: Codes, *, known: _Known, window: int | None
) -> dict[str, Column]:
    """What is counted in each text of a part, apart from sums over pieces, which are written."""
    segments = cut.segments(part)
    built = structure(segments, known.kinds)
    known.counts.add_up(segments, sums)
    columns: dict[str, Column] = built.line_counts() | built.sentence_counts()
    named = dict(zip(known.counts.columns, sums, strict=True))
    for name, more in known.resolved.phrase_counts(built).items():
        named[name] += more
    columns |= _of_totals(named | columns)
    if window is not None:
        columns |= _of_words(segments, window)
    return columns


class _Matches(NamedTuple):
    """What the lexicons find on the different pieces."""

    resolved: Resolved
    columns: dict[str, Places]
    addressing: Flags
    """Which pieces say you."""
    in_phrases: Flags
    """Which pieces have a word of a phrase."""


def _matches(words: Words, matching: Matcher) -> _Matches:
    resolved = matching.resolved(words)
    addressing = words.summed(resolved.has(_YOU)) > 0
    return _Matches(resolved, resolved.piece_columns(), addressing, resolved.in_phrases)


def _characters(texts: pl.Series) -> Codes:
    lengths: Codes = texts.str.len_chars().fill_null(0).cast(pl.Int32).to_numpy()
    return lengths


def _word_columns(words: Words) -> dict[str, Places]:
    """What can be counted on the words of the different pieces."""
    columns = {
        "words": words.sizes,
        "words_in_capitals": words.summed_places(words.in_capitals),
        "syllables": words.summed(syllable_counts(words.folded)),
        "_latin": words.summed(in_latin_letters(words.folded)),
    }
    return {name: places(counts) for name, counts in columns.items()}


def _other_columns(vocabulary: Vocabulary) -> dict[str, Places]:
    """What else can be counted on the different pieces: letters, marks, layout and pictures."""
    plain, others = vocabulary.plain, vocabulary.others
    columns = letter_columns(others) | mark_columns(others) | layout_columns(others)
    columns |= quotation_columns(others)
    columns |= {"emoji": emoji_column(others), "emoticons": emoticon_column(others)}
    of_plain = {"letters": plain.letters, "capitals": plain.capitals, **plain.marks}
    of_plain["punctuation"] = np.sum(list(plain.marks.values()), axis=0)
    whole = {name: np.concatenate([of_plain[name], columns.pop(name)]) for name in of_plain}
    there = {name: places(counts) for name, counts in whole.items()}
    return there | {name: places(counts, len(plain)) for name, counts in columns.items()}


def _piece_kinds(vocabulary: Vocabulary) -> NDArray[np.uint16]:
    """What each of the pieces may be in a sentence or line, as bits."""
    plain = vocabulary.plain
    # Without a full stop, which abbreviations have, all words behave the same.
    marks = ["", ",", "!", "?"]
    by_mark = piece_kinds(pl.Series([letter + mark for mark in marks for letter in "Aa"]))
    mark = np.sum(
        [plain.marks[MARKS[one]] * place for place, one in enumerate(marks) if one], axis=0
    )
    kinds = by_mark[np.minimum(2 * mark + plain.begins_small, len(by_mark) - 1)]
    behind = plain.spelled.sizes - plain.letters
    unlike = np.flatnonzero((behind > 1) | (plain.marks["full_stops"] > 0))
    kinds[unlike] = piece_kinds(plain.spelled.chosen(unlike).strings())
    return np.concatenate([kinds, piece_kinds(vocabulary.others)])


def _table(columns: dict[str, Column]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            pl.Series(name, column, nan_to_null=True)
            if column.dtype.kind == "f"
            else pl.Series(name, column.astype(np.int32, copy=False))
            for name, column in columns.items()
            if not name.startswith("_")
        ]
    )


def _of_totals(columns: dict[str, Column]) -> dict[str, Column]:
    """What follows from the totals of a text."""
    words, sentences, syllables = (columns[name] for name in ("words", "sentences", "syllables"))
    hyphens = columns["double_hyphens"] + columns["spaced_hyphens"]
    english = np.where(2 * columns["_latin"] >= words, words, 0)
    return {
        "bold": columns["bold"] // 2,
        "code": columns["code"] // 2,
        "dashes": columns["en_dashes"] + columns["em_dashes"] + hyphens,
        "words_per_sentence": _ratio(words, sentences),
        "letters_per_word": _ratio(columns["letters"], words),
        "capital_share": _ratio(columns["capitals"], columns["letters"]),
        "exclamation_rate": _ratio(columns["exclamations"], sentences),
        "question_rate": _ratio(columns["questions"], sentences),
        "flesch_reading_ease": flesch_reading_ease(english, sentences, syllables),
        "flesch_kincaid_grade": flesch_kincaid_grade(english, sentences, syllables),
    }


def _of_words(segments: Segments, window: int) -> dict[str, Column]:
    codes, starts, _ = segments.word_sequence
    repeats = find_repeats(codes, starts)
    return {"mattr": mattr(repeats, window), "mtld": mtld(repeats)}


def _ratio(part: Column, whole: Column) -> NDArray[np.float64]:
    return part / np.where(whole > 0, whole, np.nan)
