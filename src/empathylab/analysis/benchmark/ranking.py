"""Respondents ranked by their estimates, with the ranks that cannot be ruled out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from empathylab.analysis.benchmark.measurements import CONFIDENCE, Estimate, Measurement
from empathylab.stats.arms.mean_differences import ArmDifferences, prediction_powered_differences
from empathylab.stats.judges.transfer import reach


@dataclass(frozen=True, slots=True)
class Entry:
    """A respondent's line."""

    respondent: str
    measurement: Measurement
    replies: int
    """The respondent's replies that people or the judge rated."""
    rated_first: date | None
    """The day of the first rating by people of this respondent, where it is known."""
    rated_last: date | None
    judged_first: date | None
    """The day of the judge's first judgement of this respondent, where a judge was used."""
    judged_last: date | None
    place: int = 0
    """By the estimate alone, from 1; equal estimates have the same place."""
    rank_low: int = 0
    rank_high: int = 0
    """The ranks that cannot be ruled out."""

    @property
    def estimate(self) -> Estimate:
        return self.measurement.headline


@dataclass(frozen=True, slots=True)
class Compared:
    """Two respondents compared."""

    upper: str
    lower: str
    difference: float
    low: float
    high: float
    """At the confidence that leaves all pairs together 95%; NaN where one has no interval."""
    paired: bool
    """Whether what both share, situations and raters, was taken into account."""
    shared: int
    """Situations in which people rated both."""

    @property
    def differs(self) -> bool:
        """Whether the upper one is better, by its interval."""
        return self.low > 0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Respondents from the highest estimate to the lowest, and how each two compare."""

    entries: tuple[Entry, ...]
    pairs: tuple[Compared, ...]


def ranks(entry: Entry) -> str:
    """The ranks that the respondent may have."""
    same = entry.rank_low == entry.rank_high
    return f"{entry.rank_low}" if same else f"{entry.rank_low}–{entry.rank_high}"


def ranked(entries: Sequence[Entry]) -> Ranking:
    """The entries from the highest estimate to the lowest, each with the ranks it may have.

    All pairs are compared, each at 1 − 0.05 / pairs, so that with a chance of 95% no claim of a
    difference is wrong. A respondent ranks below as many as are shown to be better, and above as
    many as are shown to be worse. Without an interval, any rank is possible.

    Mogstad, M., Romano, J. P., Shaikh, A. M., & Wilhelm, D. (2024). Review of Economic Studies 91,
    476–518 (ranks from differences).
    """
    order = sorted(entries, key=lambda item: (-item.estimate.estimate, item.respondent))
    places = list(itertools.combinations(range(len(order)), 2))
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(places))
    comparing = _Comparing.of(order, confidence)
    pairs = [comparing.pair(upper, lower) for upper, lower in places]
    better, worse = [0] * len(order), [0] * len(order)
    for (upper, lower), pair in zip(places, pairs, strict=True):
        better[lower] += pair.differs
        worse[upper] += pair.differs
    values = [item.estimate.estimate for item in order]
    comparisons = tuple(
        replace(
            one,
            place=1 + values.index(values[number]),
            rank_low=1 + better[number],
            rank_high=len(order) - worse[number],
        )
        for number, one in enumerate(order)
    )
    return Ranking(comparisons, tuple(pairs))


def compared(upper: Entry, lower: Entry, confidence: float = CONFIDENCE) -> Compared:
    """The upper estimate minus the lower one.

    Where people rated both, ratings of one situation or rater may be correlated across the two, and
    a situation that is hard for both does not blur their difference: it is paired, as far as they
    share situations and raters. Where one is estimated by a judge alone, its interval mostly covers
    the judge's bias toward it, which no situation shares, and the calibration's dependence on the
    other is not known for every pair: the two are taken as independent.

    Zou, G. Y., & Donner, A. (2008). Statistics in Medicine 27, 1693–1702 (a difference's ends).
    """
    return _Comparing.of([upper, lower], confidence).pair(0, 1)


@dataclass(frozen=True, slots=True)
class _Comparing:
    """Entries, and what the comparison of any two of them needs, found once for all."""

    entries: Sequence[Entry]
    people: ArmDifferences | None
    """Of those whom people rated; None with fewer than two."""
    rows: dict[int, int]
    """From an entry's place to its row there."""
    sides: dict[int, _Side]

    @classmethod
    def of(cls, entries: Sequence[Entry], confidence: float) -> _Comparing:
        rated = [n for n, one in enumerate(entries) if one.estimate.rows is not None]
        several = len(rated) > 1
        people = _differences([entries[n] for n in rated], confidence) if several else None
        # Where people rated all of them, no two are taken as independent.
        sides = range(len(entries)) if len(rated) < len(entries) else ()
        return cls(
            entries,
            people,
            {place: row for row, place in enumerate(rated)},
            {n: _Side.of(entries[n].estimate, confidence) for n in sides},
        )

    def pair(self, upper: int, lower: int) -> Compared:
        names = self.entries[upper].respondent, self.entries[lower].respondent
        if self.people is not None and upper in self.rows and lower in self.rows:
            both = self.rows[upper], self.rows[lower]
            shared = int(self.people.situations[both])
            return Compared(
                *names,
                float(self.people.estimate[both]),
                float(self.people.low[both]),
                float(self.people.high[both]),
                paired=bool(shared or self.people.raters[both]),
                shared=shared,
            )
        first, second = self.sides[upper], self.sides[lower]
        difference = first.estimate - second.estimate
        ends = (
            difference - _both(first.below, second.above),
            difference + _both(first.above, second.below),
        )
        return Compared(*names, difference, *ends, paired=False, shared=0)


def _differences(entries: Sequence[Entry], confidence: float) -> ArmDifferences:
    outcome = entries[0].estimate.outcome
    columns = [outcome.rating, "prediction", "rater", "situation"]
    rows = [
        one.estimate.rows.select(*columns, arm=pl.lit(f"{number}"))
        for number, one in enumerate(entries)
        if one.estimate.rows is not None
    ]
    return prediction_powered_differences(
        pl.concat(rows), rating=outcome.rating, limits=outcome.limits, confidence=confidence
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """An estimate with the lengths of its interval and of the scale to both sides."""

    estimate: float
    below: tuple[float, float]
    above: tuple[float, float]

    @classmethod
    def of(cls, estimate: Estimate, confidence: float) -> _Side:
        low, high = estimate.ends(confidence)
        # NaN stays NaN as the first of the two.
        return cls(
            estimate.estimate,
            (max(estimate.estimate - low, 0.0), estimate.estimate - estimate.outcome.lowest),
            (max(high - estimate.estimate, 0.0), estimate.outcome.highest - estimate.estimate),
        )


def _both(one: tuple[float, float], other: tuple[float, float]) -> float:
    if math.isnan(one[0]) or math.isnan(other[0]):
        return math.nan
    return max(reach(*one, min(other)), reach(*other, min(one)))
