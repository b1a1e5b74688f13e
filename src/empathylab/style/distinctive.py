"""Words and phrases that mark a respondent off from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Flags, Numbers
from empathylab.stats.t_tests import z_margin
from empathylab.style.responses import (
    RESPONDENT,
    SITUATION,
    TEXT,
    Responses,
    require_respondent,
    require_several,
    usable_responses,
)
from empathylab.style.text.terms import Phrases, coded_words, phrases, readable

_NESTED_SHARE = 0.8
_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class DistinctiveTerm:
    """A word or phrase that a respondent uses more than the others."""

    term: str
    z: float
    """The log odds ratio over its standard error: how sure the difference is."""
    log_odds: float
    low: float
    high: float
    count: int
    against_count: int
    per_thousand: float
    """Uses per 1,000 words (for a phrase: per 1,000 runs of as many words)."""
    against_per_thousand: float
    situations: int
    """In how many situations the respondent used it."""
    examples: tuple[str, ...]
    """Sentences of the respondent that hold it, from different situations."""


@dataclass(frozen=True, slots=True)
class DistinctiveTerms:
    """One respondent's distinctive terms, and the data they rest on."""

    respondent: str
    against: str | None
    """None stands for all others together."""
    terms: tuple[DistinctiveTerm, ...]
    paired: bool
    situations: int
    responses: int
    against_responses: int
    dropped: int
    """Responses of both sides left out: blank, or to a situation that only one side answered."""


class _Side(NamedTuple):
    mine: Flags
    theirs: Flags
    pooled: Flags


class LogOdds(NamedTuple):
    """Per term, the log odds ratio of two corpora with its standard error."""

    estimate: Array
    se: Array


def log_odds(counts: Array, against: Array, prior: Array) -> LogOdds:
    """Each term's log odds ratio between two corpora, under an informative Dirichlet prior.

    `prior` holds pseudo-counts per term, which draw the ratio of rare terms towards 1. The
    variance keeps all four terms, so that frequent words are not taken for surer than they are.
    NaN where one term makes up a whole corpus.

    Monroe, B. L., Colaresi, M. P., & Quinn, K. M. (2008). Fightin' words. Political Analysis 16,
    372–403.
    """
    a, b = counts + prior, against + prior
    rest_a, rest_b = a.sum() - a, b.sum() - b
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.log(a) - np.log(rest_a) - np.log(b) + np.log(rest_b)
        se = np.sqrt(1 / a + 1 / rest_a + 1 / b + 1 / rest_b)
    known = (rest_a > 0) & (rest_b > 0)
    return LogOdds(np.where(known, estimate, np.nan), np.where(known, se, np.nan))


def distinctive_terms(
    frame: pl.DataFrame,
    *,
    against: str | None = None,
    paired: bool = True,
    longest: int = 3,
    min_count: int = 5,
    min_situations: int = 2,
    top: int = 50,
    examples: int = 2,
    prior_weight: float = 1.0,
    nested: bool = False,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
    confidence: float = 0.95,
) -> list[DistinctiveTerms]:
    """Each respondent's most distinctive words and phrases, by z, against the rest or `against`.

    Words and phrases of up to `longest` words that do not cross a sentence; each length is a
    corpus of its own. The prior is the counts of all respondents pooled, times `prior_weight`:
    the larger it is, the more evidence a rare term needs. As the prior holds the compared texts
    too, z ranks terms and is not a test. `paired` keeps only situations that both sides
    answered, so that what the situations are about does not distinguish the sides. A term that
    nearly always (80%) stands inside a longer listed phrase is left out unless `nested`.
    """
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    require_several(responses, "finding distinctive words")
    if against is not None:
        require_respondent(against, responses.respondents)
    if longest < 1 or not prior_weight > 0:
        raise InputError(
            "'longest' must be at least 1 and 'prior_weight' above 0",
            got=(longest, prior_weight),
            remedy="Leave them out for the usual values.",
        )
    words = coded_words(responses.frame[TEXT])
    sizes = [phrases(words, size) for size in range(1, longest + 1)]
    results = []
    for name in responses.respondents:
        if name == against:
            continue
        sides = _sides(responses.frame, name, against, paired=paired)
        rows = [
            row
            for phrase in sizes
            for row in _rank(phrase, sides, prior_weight, min_count, top * _CANDIDATES)
        ]
        chosen = _chosen(rows, top, nested=nested)
        listed = _listed(chosen, responses.frame, sides, examples, min_situations, confidence)
        terms = tuple(listed[:top])
        results.append(_summary(name, against, terms, responses, sides, paired=paired))
    return results


def terms_by_respondent(
    frame: pl.DataFrame, names: Sequence[str], against: str | None
) -> tuple[DistinctiveTerms, ...]:
    """Each respondent compared with the rest or `against`; that one itself with all others.

    Not `paired` are those to whose situations nobody else responded. Empty with one respondent.
    """
    if len(names) < 2:
        return ()

    def by_name(**options: Any) -> dict[str, DistinctiveTerms]:
        return {terms.respondent: terms for terms in distinctive_terms(frame, top=60, **options)}

    chosen = by_name(against=against)
    if against is not None:
        chosen[against] = by_name()[against]
    alone = [name for name, terms in chosen.items() if not terms.responses]
    if alone:
        unpaired = by_name(paired=False)
        chosen |= {name: unpaired[name] for name in alone}
    return tuple(chosen[name] for name in names)


class _Row(NamedTuple):
    term: str
    number: int
    z: float
    estimate: float
    se: float
    uses: int
    against_uses: int
    size: int
    total: int
    against_total: int
    phrase: Phrases


def _sides(frame: pl.DataFrame, name: str, against: str | None, *, paired: bool) -> _Side:
    """Which responses are the respondent's, which the others', and which the prior's."""
    mine = pl.col(RESPONDENT) == name
    theirs = pl.col(RESPONDENT) == against if against is not None else ~mine
    if not paired:
        flags = frame.select(mine=mine, theirs=theirs, pooled=pl.lit(value=True))
    else:
        both = mine.any().over(SITUATION) & theirs.any().over(SITUATION)
        flags = frame.select(mine=mine & both, theirs=theirs & both, pooled=both)
    return _Side(*(flags[column].to_numpy() for column in ("mine", "theirs", "pooled")))


def _rank(phrase: Phrases, sides: _Side, weight: float, fewest: int, most: int) -> list[_Row]:
    text = phrase.text
    counts, theirs, pooled = (
        np.bincount(phrase.terms[flags[text]], minlength=phrase.different).astype(float)
        for flags in sides
    )
    often = np.flatnonzero(counts >= fewest)

    def with_rest(every: Array) -> Array:
        """The terms that occur often enough, and all others as if they were one term."""
        kept = every[often]
        return np.append(kept, every.sum() - kept.sum())

    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = log_odds(with_rest(counts), with_rest(theirs), weight * with_rest(pooled))
        estimate, se = ratios.estimate[:-1], ratios.se[:-1]
        z = estimate / se
    eligible = np.flatnonzero(estimate > 0)
    order = eligible[np.lexsort((eligible, -z[eligible]))[:most]]
    numbers = often[order]
    total, against_total = int(counts.sum()), int(theirs.sum())
    return [
        _Row(
            spelling,
            int(number),
            float(z[place]),
            float(estimate[place]),
            float(se[place]),
            int(counts[number]),
            int(theirs[number]),
            phrase.size,
            total,
            against_total,
            phrase,
        )
        for place, number, spelling in zip(order, numbers, phrase.spelled(numbers), strict=True)
    ]


def _chosen(rows: Sequence[_Row], top: int, *, nested: bool) -> list[_Row]:
    ranked = sorted(rows, key=lambda row: (-row.z, row.term))
    if nested:
        return ranked[: 2 * top]
    longer: dict[str, int] = {}
    for row in ranked:
        parts = row.term.split(" ")
        for size in range(1, row.size):
            for start in range(row.size - size + 1):
                inner = " ".join(parts[start : start + size])
                longer[inner] = max(longer.get(inner, 0), row.uses)
    kept = [row for row in ranked if longer.get(row.term, 0) < _NESTED_SHARE * row.uses]
    return kept[: 2 * top]


def _uses(rows: Sequence[_Row], sides: _Side) -> dict[tuple[int, int], Numbers]:
    """For each row (by length and number), where the respondent uses its term."""
    uses = {}
    for size in {row.size for row in rows}:
        wanted = [row for row in rows if row.size == size]
        phrase = wanted[0].phrase
        flags = np.zeros(phrase.different, dtype=bool)
        flags[[row.number for row in wanted]] = True
        spots = np.flatnonzero(flags[phrase.terms] & sides.mine[phrase.text])
        spots = spots[np.argsort(phrase.terms[spots], kind="stable")]
        terms = phrase.terms[spots]
        for row in wanted:
            first, last = np.searchsorted(terms, [row.number, row.number + 1])
            uses[size, row.number] = phrase.starts[spots[first:last]]
    return uses


def _listed(
    rows: Sequence[_Row],
    frame: pl.DataFrame,
    sides: _Side,
    examples: int,
    min_situations: int,
    confidence: float,
) -> list[DistinctiveTerm]:
    places = _uses(rows, sides)
    z = z_margin(confidence)
    terms = []
    for row in rows:
        uses, words = places[row.size, row.number], row.phrase.words
        situations = frame[SITUATION].gather(words.text[uses])
        if situations.n_unique() < min_situations:
            continue
        first = situations.is_first_distinct().arg_true().to_numpy()[:examples]
        terms.append(
            DistinctiveTerm(
                term=readable(row.term),
                z=row.z,
                log_odds=row.estimate,
                low=row.estimate - z * row.se,
                high=row.estimate + z * row.se,
                count=row.uses,
                against_count=row.against_uses,
                per_thousand=1000 * row.uses / row.total,
                against_per_thousand=1000 * row.against_uses / max(1, row.against_total),
                situations=situations.n_unique(),
                examples=tuple(words.sentences.gather(words.sentence[uses[first]])),
            )
        )
    return terms


def _summary(
    name: str,
    against: str | None,
    terms: tuple[DistinctiveTerm, ...],
    responses: Responses,
    sides: _Side,
    *,
    paired: bool,
) -> DistinctiveTerms:
    everything = _sides(responses.frame, name, against, paired=False)
    used = int(sides.mine.sum()), int(sides.theirs.sum())
    answered = int(everything.mine.sum()) + int(everything.theirs.sum())
    return DistinctiveTerms(
        respondent=name,
        against=against,
        terms=terms,
        paired=paired,
        situations=responses.frame.filter(pl.Series(sides.mine))[SITUATION].n_unique(),
        responses=used[0],
        against_responses=used[1],
        dropped=answered - sum(used) + responses.dropped,
    )
