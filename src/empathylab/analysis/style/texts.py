"""What is found from the texts themselves, in parts that processes can share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from empathylab.analysis.text.names import listed_some
from empathylab.compute import map_ordered, one_thread
from empathylab.style.authorship.predictability import WORTH_WORKERS, Identification
from empathylab.style.authorship.versions import Outcome, classified, together
from empathylab.style.chunks import Read
from empathylab.style.differences import FeatureDifference
from empathylab.style.distinctive import DistinctiveTerms, terms_by_respondent
from empathylab.style.openings import Recurrences, recurrences
from empathylab.style.repetition import Repetition, repetition
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT
from empathylab.style.self_similarity import SelfSimilarity, self_similarity

CHUNK = 10_000
"""Responses that are read together: few enough for memory, enough for one go of a process."""
MOST_COMPARED = 100_000
"""Responses that are compared with each other: their words must be in memory together."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """How much each respondent repeats itself, one result for each."""

    repetition: tuple[Repetition, ...]
    similarity: tuple[SelfSimilarity, ...]
    openings: tuple[Recurrences, ...]
    closings: tuple[Recurrences, ...]


class TextResults(NamedTuple):
    """The parts of the analysis that take long; most may be computed in another process."""

    features: pl.DataFrame
    """One row per response."""
    sentences: list[pl.DataFrame]
    """Their tactics, chunk by chunk; empty where another tagger does it."""
    differences: list[FeatureDifference]
    distinctive: tuple[DistinctiveTerms, ...]
    reuse: Reuse
    authorship: list[Outcome]
    notes: tuple[str, ...]


def read_texts(
    responses: pl.DataFrame,
    read: Callable[[pl.DataFrame], Read],
    authorship: Identification | None,
    names: list[str],
    against: str | None,
    seed: int,
    compare: Callable[[pl.DataFrame], list[FeatureDifference]],
) -> TextResults:
    """Everything that rests on the texts, spread over processes where it takes long.

    `compare` tests features for differences, in a thread beside the other processes' work.
    """
    texts = _compared(responses, seed)
    chunks = [partial(read, part) for part in responses.iter_slices(CHUNK)]
    whole: dict[str, Callable[[], Any]] = {
        "distinctive": partial(terms_by_respondent, texts, names, against),
        "repetition": partial(repetition, texts, seed=seed),
        "similarity": partial(self_similarity, texts),
        "openings": partial(recurrences, texts, where="opening"),
        "closings": partial(recurrences, texts, where="closing"),
    }
    versions = authorship.versions if authorship else ()
    classifying = [partial(classified, group) for group in together(versions)]
    work = responses.height * max(1, len(versions))
    if work >= WORTH_WORKERS:
        # Short ones last, so that all workers end at about the same time.
        tasks: list[Callable[[], Any]] = [*chunks, *classifying, *whole.values()]
        long = work >= 4 * WORTH_WORKERS
        results: Iterator[Any] = map_ordered(operator.call, tasks, long=long)
        with ThreadPoolExecutor(max_workers=1) as beside:
            features, sentences = _joined(islice(results, len(chunks)))
            comparing = beside.submit(compare, features)
            identified = _flat(islice(results, len(classifying)))
            texts_results = list(results)
            differences = comparing.result()
    else:
        # Classifying is mostly products of matrices, which let another thread work.
        with one_thread(), ThreadPoolExecutor(max_workers=1) as beside:
            identifying = beside.submit(_called, classifying)
            features, sentences = _joined(_called(chunks))
            texts_results = _called(whole.values())
            identified = _flat(identifying.result())
        differences = compare(features)
    by_name = dict(zip(whole, texts_results, strict=True))
    distinctive = by_name.pop("distinctive")
    return TextResults(
        features=features,
        sentences=sentences,
        differences=differences,
        distinctive=distinctive,
        reuse=Reuse(**{name: tuple(part) for name, part in by_name.items()}),
        authorship=identified,
        notes=(*_alone(distinctive), *_left_out(responses.height - texts.height, texts.height)),
    )


def _joined(chunks: Iterable[Read]) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """The features of all chunks, and the sentences of each."""
    tables, sentences, before = [], [], 0
    for table, tactics in chunks:
        tables.append(table)
        if tactics is not None:
            sentences.append(tactics.with_columns(pl.col("response") + before))
        before += table.height
    return pl.concat(tables), sentences


def _called(tasks: Iterable[Callable[[], Any]]) -> list[Any]:
    return [task() for task in tasks]


def _flat(groups: Iterable[list[Outcome]]) -> list[Outcome]:
    return [outcome for group in groups for outcome in group]


def _compared(responses: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The responses, of very many those to situations drawn at random."""
    texts = responses.select(RESPONDENT, SITUATION, TEXT)
    if texts.height <= MOST_COMPARED:
        return texts
    sizes = texts.group_by(SITUATION).len().sort(SITUATION)
    order = sizes.sample(fraction=1, shuffle=True, seed=seed)
    kept = order.filter(pl.col("len").cum_sum() <= MOST_COMPARED)[SITUATION]
    return texts.filter(pl.col(SITUATION).is_in(kept.implode()))


def _left_out(responses: int, used: int) -> tuple[str, ...]:
    if not responses:
        return ()
    note = (
        f"Distinctive words, opening and closing phrases and repetition rest on {used:,} "
        f"responses, drawn by situation; {responses:,} more were not used."
    )
    return (note,)


def tagged_sentences(sentences: list[pl.DataFrame], responses: pl.DataFrame) -> pl.DataFrame:
    """The sentences of all chunks, as `tactic_table` has them."""
    whole = pl.concat(sentences)
    named = [responses[name].gather(whole["response"]) for name in (RESPONDENT, SITUATION)]
    return whole.select("response", *named, "place", "sentences", "tactics")


def _alone(distinctive: Iterable[DistinctiveTerms]) -> tuple[str, ...]:
    alone = [terms.respondent for terms in distinctive if not terms.paired]
    if not alone:
        return ()
    note = (
        f"{listed_some(alone)}: nobody else responded to the same situations, so distinctive "
        "words may reflect the situations rather than the author."
    )
    return (note,)
