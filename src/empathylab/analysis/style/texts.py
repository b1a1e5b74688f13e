"""What is found from the texts themselves, in parts that processes can share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from empathylab.analysis.text.names import listed_some
from empathylab.compute import map_ordered, one_thread
from empathylab.style import Lexicon, features
from empathylab.style.authorship.predictability import WORTH_WORKERS, Identification
from empathylab.style.authorship.versions import Outcome, classified
from empathylab.style.distinctive import DistinctiveTerms, distinctive_terms
from empathylab.style.openings import Recurrences, recurrences
from empathylab.style.repetition import Repetition, repetition
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT
from empathylab.style.self_similarity import SelfSimilarity, self_similarity
from empathylab.style.tactics.tagging import tactic_table

CHUNK = 10_000
"""Responses that are read together: few enough for memory, enough for one go of a process."""
MOST_COMPARED = 100_000
"""Responses that are compared with each other: their words must be in memory together."""
_TERMS = 60


@dataclass(frozen=True, slots=True)
class Reuse:
    """How much each respondent repeats itself, one result for each."""

    repetition: tuple[Repetition, ...]
    similarity: tuple[SelfSimilarity, ...]
    openings: tuple[Recurrences, ...]
    closings: tuple[Recurrences, ...]


class Read(NamedTuple):
    """What is found in some of the responses, text by text."""

    features: pl.DataFrame
    tactics: pl.DataFrame | None
    """A row per sentence; None where another tagger does it."""


class Distinctive(NamedTuple):
    """Each respondent's terms, and what to know about them."""

    terms: tuple[DistinctiveTerms, ...] = ()
    notes: tuple[str, ...] = ()


class Found(NamedTuple):
    """The parts of the analysis that take long; each may be found in another process."""

    chunks: list[Read]
    distinctive: Distinctive
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
) -> Found:
    """Everything that is found from the texts, spread over processes where it takes long."""
    texts = _compared(responses, seed)
    chunks = [partial(read, part) for part in responses.iter_slices(CHUNK)]
    whole: dict[str, Callable[[], Any]] = {
        "distinctive": partial(_distinctive, texts, names, against),
        "repetition": partial(repetition, texts, seed=seed),
        "similarity": partial(self_similarity, texts),
        "openings": partial(recurrences, texts, where="opening"),
        "closings": partial(recurrences, texts, where="closing"),
    }
    versions = [
        partial(classified, version) for version in (authorship.versions if authorship else ())
    ]
    work = responses.height * max(1, len(versions))
    if work >= WORTH_WORKERS:
        # Short ones last, so that all workers end at about the same time.
        tasks: list[Callable[[], Any]] = [*chunks, *whole.values(), *versions]
        long = work >= 4 * WORTH_WORKERS
        results: Iterator[Any] = iter(list(map_ordered(operator.call, tasks, long=long)))
        read_chunks, found, identified = (
            list(islice(results, len(part))) for part in (chunks, whole, versions)
        )
    else:
        # Classifying is mostly products of matrices, which let another thread work.
        with one_thread(), ThreadPoolExecutor(max_workers=1) as beside:
            classifying = beside.submit(_called, versions)
            read_chunks, found = _called(chunks), _called(whole.values())
            identified = classifying.result()
    by_name = dict(zip(whole, found, strict=True))
    return Found(
        chunks=read_chunks,
        distinctive=by_name.pop("distinctive"),
        reuse=Reuse(**{name: tuple(part) for name, part in by_name.items()}),
        authorship=identified,
        notes=_left_out(responses.height - texts.height, texts.height),
    )


def _called(tasks: Iterable[Callable[[], Any]]) -> list[Any]:
    return [task() for task in tasks]


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


def read_chunk(
    part: pl.DataFrame, *, dictionaries: tuple[Lexicon, ...], lists: Path | None, tagged: bool
) -> Read:
    # What a sentence says, and who says it to whom, need not travel: the main process knows.
    rows = "response", "place", "sentences", "tactics"
    tactics = tactic_table(part).select(rows) if tagged else None
    return Read(features(part, lexicons=dictionaries, lists=lists), tactics)


def tagged_sentences(chunks: list[Read], responses: pl.DataFrame) -> pl.DataFrame:
    """The sentences of all chunks, with responses numbered through, as `tactic_table` has them."""
    tables, before = [], 0
    for table, tactics in chunks:
        if tactics is not None:
            tables.append(tactics.with_columns(pl.col("response") + before))
        before += table.height
    whole = pl.concat(tables)
    named = [responses[name].gather(whole["response"]) for name in (RESPONDENT, SITUATION)]
    return whole.select("response", *named, "place", "sentences", "tactics")


def _distinctive(responses: pl.DataFrame, names: list[str], against: str | None) -> Distinctive:
    """Each respondent compared with the rest or `against`; that one itself with all others."""
    if len(names) < 2:
        return Distinctive()
    by_reference = distinctive_terms(responses, against=against, top=_TERMS)
    found = {terms.respondent: terms for terms in by_reference}
    if against is not None:
        rest = distinctive_terms(responses, top=_TERMS)
        found |= {terms.respondent: terms for terms in rest if terms.respondent == against}
    alone = [name for name, terms in found.items() if not terms.responses]
    notes = []
    if alone:
        unpaired = distinctive_terms(responses, paired=False, top=_TERMS)
        free = {terms.respondent: terms for terms in unpaired}
        found |= {name: free[name] for name in alone}
        notes.append(
            f"{listed_some(alone)}: nobody else responded to the same situations, so distinctive "
            "words may reflect the situations rather than the author."
        )
    return Distinctive(tuple(found[name] for name in names), tuple(notes))
