"""Whether a judge can replace human raters: the alternative annotator test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError, UnknownName
from empathylab.stats.agreement.bootstrap import resampled_intervals
from empathylab.stats.agreement.table import rating_table, totals
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.corrections import benjamini_yekutieli
from empathylab.stats.notes import Note, note

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Score = Literal["accuracy", "rmse"]

_TIE = 1e-11
"""Scores nearer than this, relative to the largest, are equal: the error of floating point."""


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """The judge against one left-out person, both scored by the other people."""

    rater: str
    n: int
    """Situations compared."""
    advantage: float
    """Proportion of situations where the judge is at least as near to the others as the person."""
    person_advantage: float
    """Share where the person is at least as near as the judge."""
    p: float
    """Of the null that the person is ahead by ε or more."""
    p_corrected: float
    """Benjamini–Yekutieli over all people tested."""
    judge_wins: bool


@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorTest:
    """Whether the judge does as well as the people it would replace."""

    judge: str
    score: Score
    epsilon: float
    passes: bool
    """The judge wins against at least half of the people."""
    winning_rate: float
    """ω: the proportion of people whom the judge beats; NaN where no person could be tested."""
    advantage: float
    """ρ: the judge's mean advantage over the people tested."""
    advantage_low: float
    """Interval of ρ, over resampled situations."""
    advantage_high: float
    smallest_epsilon: float
    """The smallest ε at which the judge would pass; NaN where none up to 1 would do."""
    comparisons: tuple[AnnotatorComparison, ...]
    n: int
    """Situations used: rated by the judge and at least two people."""
    dropped: int
    """Situations left out."""
    left_out: tuple[str, ...]
    """People with too few situations to be tested."""
    confidence: float
    note: Note | None = None
    """Why there is no verdict, or why to be careful; empty where there is nothing to say."""


def alternative_annotator_test(
    frame: pl.DataFrame,
    judge: str,
    *,
    people: Sequence[str] | None = None,
    situation: str = "situation",
    rater: str = "rater",
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    score: Score = "rmse",
    epsilon: float = 0.2,
    fdr: float = 0.05,
    min_situations: int = 30,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> AlternativeAnnotatorTest:
    """Whether a judge can replace people, by leaving out each person in turn.

    On each situation both the judge and the left-out person are scored by their agreement with the
    other people: proportion of equal values (`accuracy`, for unordered categories) or the negative
    root mean squared difference (`rmse`, for rating scales). A one-sided t test per person tests
    whether the judge is at least as good within `epsilon`, which weighs the people's cost: 0.2 for
    experts, 0.15 for skilled workers, 0.1 for crowd workers. Its p values are
    corrected by Benjamini and Yekutieli; the judge passes where it wins against at least half of
    the people.

    `judge` and `people` are raters of the frame, which holds one dimension; without `people`, all
    others are. Situations that the judge or fewer than two people rated are left out and counted.
    People with fewer than `min_situations` situations are not tested (the t test wants 30) and are
    named. At least 3 people are wanted; with 2 each is scored by the other alone.

    Calderon, N., Reichart, R., & Dror, R. (2025). The alternative annotator test for
    LLM-as-a-judge. Proceedings of ACL 2025, arXiv 2501.10970.
    """
    if not 0 <= epsilon <= 1:
        raise InputError(
            "ε must be between 0 and 1", got=epsilon, remedy="For example 0.2, for experts."
        )
    names, rows = _rows(frame, judge, people, situation, rater, rating, levels)
    ahead, behind = _indicators(rows, score)
    sizes = np.bincount(rows.people, minlength=len(names))
    tested = sizes >= max(min_situations, 2)
    left_out = tuple(name for name, enough in zip(names, tested, strict=True) if not enough)
    trials = _Trials.of(rows, ahead, behind, tested)
    comparisons = trials.compared(
        [n for n, t in zip(names, tested, strict=True) if t], epsilon, fdr
    )
    wins = sum(comparison.judge_wins for comparison in comparisons)
    rate = wins / len(comparisons) if comparisons else math.nan
    low, high = trials.interval(rows.n, confidence, resamples, seed)
    return AlternativeAnnotatorTest(
        judge=judge,
        score=score,
        epsilon=epsilon,
        passes=bool(comparisons) and rate >= 0.5,
        winning_rate=rate,
        advantage=float(trials.advantage.mean()) if comparisons else math.nan,
        advantage_low=low,
        advantage_high=high,
        smallest_epsilon=trials.smallest_epsilon(fdr),
        comparisons=comparisons,
        n=rows.n,
        dropped=rows.dropped,
        left_out=left_out,
        confidence=confidence,
        note=_note(len(names), len(comparisons), min_situations),
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """People's ratings of situations that the judge and at least two of them rated."""

    situations: Codes
    people: Codes
    values: Array
    judge: Array
    """The judge's value of the same situation."""
    n: int
    """Situations."""
    dropped: int


def _rows(
    frame: pl.DataFrame,
    judge: str,
    people: Sequence[str] | None,
    situation: str,
    rater: str,
    rating: str,
    levels: Sequence[str | float] | None,
) -> tuple[list[str], _Rows]:
    """The people's names, and their ratings beside the judge's."""
    table = rating_table(frame, situation=situation, rater=rater, rating=rating, levels=levels)
    names = _people(table.rater_names, judge, people)
    number = {name: i for i, name in enumerate(names)}
    person = np.array([number.get(name, -1) for name in table.rater_names], dtype=np.int64)
    by_judge = np.full(table.n_situations, np.nan)
    own = table.raters == table.rater_names.index(judge)
    by_judge[table.situations[own]] = table.values[own]
    rated = person[table.raters] >= 0
    sizes = np.bincount(table.situations[rated], minlength=table.n_situations)
    usable = np.isfinite(by_judge) & (sizes >= 2)
    kept = rated & usable[table.situations]
    place = np.cumsum(usable) - 1
    return names, _Rows(
        situations=place[table.situations[kept]],
        people=person[table.raters[kept]],
        values=table.values[kept],
        judge=by_judge[table.situations[kept]],
        n=int(usable.sum()),
        dropped=int((~usable).sum()),
    )


def _people(known: Sequence[str], judge: str, people: Sequence[str] | None) -> list[str]:
    names = [item for item in known if item != judge] if people is None else list(people)
    for name in (judge, *names):
        if name not in known:
            raise UnknownName("rater", name, known)
    if judge in names:
        raise InputError(
            "the judge cannot be among the people", got=judge, remedy="Leave it out of the people."
        )
    if len(names) < 2:
        raise InputError(
            "the test needs at least 2 people besides the judge",
            got=", ".join(names) or "nobody",
            remedy="Give ratings by at least 3 people of the same situations.",
        )
    return names


def _indicators(rows: _Rows, score: Score) -> tuple[Array, Array]:
    """Of each rating: whether the judge is at least as near to the others, and the reverse.

    Sums over the others are sums over all minus the rating's own part, so no pairs are formed.
    """
    sizes = totals(rows.situations, np.ones(len(rows.values)), rows.n)
    if score == "accuracy":
        _, codes = np.unique(rows.values, return_inverse=True)
        key = rows.situations * (int(codes.max(initial=0)) + 1) + codes
        _, cell, counts = np.unique(key, return_inverse=True, return_counts=True)
        hit = (rows.values == rows.judge).astype(np.float64)
        hits = totals(rows.situations, hit, rows.n)
        by_person = sizes[rows.situations] - counts[cell]
        by_judge = sizes[rows.situations] - 1 - (hits[rows.situations] - hit)
    else:
        middle = rows.values.mean() if len(rows.values) else 0.0
        h, f = rows.values - middle, rows.judge - middle
        n = sizes[rows.situations] - 1
        sums = totals(rows.situations, h, rows.n)[rows.situations] - h
        # The others' squares are the same on both sides and are left out.
        by_person, by_judge = n * h**2 - 2 * h * sums, n * f**2 - 2 * f * sums
    near = _TIE * (1 + max(float(np.abs(item).max(initial=0)) for item in (by_judge, by_person)))
    ahead, behind = by_judge <= by_person + near, by_person <= by_judge + near
    return ahead.astype(np.float64), behind.astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Trials:
    """Outcomes by person: how often the judge, and how often the person, was as good or better."""

    n: Array
    advantage: Array
    person_advantage: Array
    spread: Array
    """Standard deviation of the difference of the two."""
    won: csr_array
    """Situations × people: whether the judge was as good or better."""
    there: csr_array

    @classmethod
    def of(cls, rows: _Rows, ahead: Array, behind: Array, tested: NDArray[np.bool_]) -> _Trials:
        from scipy.sparse import coo_array

        kept = tested[rows.people]
        person = (np.cumsum(tested) - 1)[rows.people[kept]]
        size = int(tested.sum())
        ahead, behind, situations = ahead[kept], behind[kept], rows.situations[kept]
        n = totals(person, np.ones(len(person)), size)
        gap = behind - ahead
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = totals(person, gap, size) / n
            squares = totals(person, (gap - mean[person]) ** 2, size)
            spread = np.sqrt(squares / (n - 1))
            shares = [totals(person, item, size) / n for item in (ahead, behind)]
        cells, shape = (situations, person), (rows.n, size)
        won = coo_array((ahead, cells), shape=shape).tocsr()
        there = coo_array((np.ones(len(person)), cells), shape=shape).tocsr()
        return cls(n, shares[0], shares[1], spread, won, there)

    def p_values(self, epsilon: float) -> Array:
        """One-sided p of each person: that the person is ahead by ε or more."""
        from scipy.special import stdtr

        mean = self.person_advantage - self.advantage
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (mean - epsilon) / (self.spread / np.sqrt(self.n))
        certain = np.where(mean < epsilon, 0.0, 1.0)
        return np.where(self.spread > _TIE, stdtr(self.n - 1, t), certain)

    def compared(
        self, names: Sequence[str], epsilon: float, fdr: float
    ) -> tuple[AnnotatorComparison, ...]:
        """The test of each person."""
        p = self.p_values(epsilon)
        corrected = benjamini_yekutieli(p.tolist())
        return tuple(
            AnnotatorComparison(
                rater=name,
                n=int(self.n[i]),
                advantage=float(self.advantage[i]),
                person_advantage=float(self.person_advantage[i]),
                p=float(p[i]),
                p_corrected=float(corrected[i]),
                judge_wins=bool(corrected[i] <= fdr),
            )
            for i, name in enumerate(names)
        )

    def smallest_epsilon(self, fdr: float) -> float:
        """By halving: a larger ε never makes the judge lose."""
        if len(self.n) == 0:
            return math.nan

        def passes(epsilon: float) -> bool:
            wins = benjamini_yekutieli(self.p_values(epsilon).tolist()) <= fdr
            return bool(wins.mean() >= 0.5)

        low, high = 0.0, 1.0
        if passes(low):
            return 0.0
        if not passes(high):
            return math.nan
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (low, middle) if passes(middle) else (middle, high)
        return high

    def interval(
        self, situations: int, confidence: float, resamples: int, seed: int
    ) -> tuple[float, float]:
        """Of the mean advantage, over resampled situations."""
        if len(self.n) == 0:
            return math.nan, math.nan

        def statistic(draws: Array) -> Array:
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = (self.won.T @ draws.T) / (self.there.T @ draws.T)
            return np.asarray(shares.mean(axis=0))

        ends = resampled_intervals(
            {"advantage": statistic},
            situations,
            resamples=resamples,
            seed=seed,
            confidence=confidence,
            limits={"advantage": (0.0, 1.0)},
        )
        return ends["advantage"]


def _note(people: int, tested: int, min_situations: int) -> Note | None:
    if tested == 0:
        return note("no_annotator_tested", situations=min_situations)
    if people < 3:
        return note("two_annotators")
    return None
