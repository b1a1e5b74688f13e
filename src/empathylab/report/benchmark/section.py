"""A leaderboard as a page shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from empathylab.analysis.benchmark.leaderboard import HOW, LeaderboardResult, days
from empathylab.analysis.benchmark.prose import interval, rests_on, shown, what
from empathylab.analysis.benchmark.ranking import Entry, ranks

_TAGS = {"people": "usable", "people and judge": "usable", "judge": "doubtful"}


@dataclass(frozen=True, slots=True)
class Line:
    """An entry as the page shows it."""

    ranks: str
    respondent: str
    how: str
    tag: str
    """The class of its label."""
    estimate: str
    interval: str
    at: float
    """The position of the estimate between the ends of the scale, in percent; 50 for a scale
    without length."""
    bar: tuple[float, float] | None
    """The same of the interval; None without an interval."""
    beyond: bool
    """Whether the judge puts it outside all that it was calibrated on."""
    ratings: str
    rated: str
    judge: str
    judged: str
    rests_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaderboardSection:
    """What a page shows of a leaderboard."""

    id: str
    """Of its heading, no other of the lab's studies has it."""
    study: str
    """With its version, where it is an older one."""
    title: str
    what: str
    situations: int
    ends: tuple[str, str]
    """Of the scale."""
    lines: tuple[Line, ...]
    estimated: bool
    """Whether a respondent is estimated by a judge alone."""
    notes: tuple[str, ...]


def leaderboard_section(board: LeaderboardResult) -> LeaderboardSection:
    """The leaderboard for its own page, or for the report."""
    outcome = board.entries[0].estimate.outcome
    return LeaderboardSection(
        id=f"leaderboard-{board.reference.study.row}",
        study=board.reference.study.name,
        title=board.study.title,
        what=what(outcome),
        situations=len(board.study.situations),
        ends=(shown(outcome.lowest, outcome), shown(outcome.highest, outcome)),
        lines=tuple(_line(entry) for entry in board.entries),
        estimated=any(entry.measurement.basis == "judge" for entry in board.entries),
        notes=board.caveats,
    )


def _line(entry: Entry) -> Line:
    head = entry.estimate
    outcome = head.outcome

    length = outcome.highest - outcome.lowest

    def place(value: float) -> float:
        return round(100 * (value - outcome.lowest) / length, 2) if length > 0 else 50.0

    return Line(
        ranks=ranks(entry),
        respondent=entry.respondent,
        how=HOW[entry.measurement.basis],
        tag=_TAGS[entry.measurement.basis],
        estimate=shown(head.estimate, outcome),
        interval=interval(head),
        at=place(head.estimate),
        bar=None if math.isnan(head.low) else (place(head.low), place(head.high)),
        beyond=head.beyond,
        ratings=f"{head.n_ratings:,}",
        rated=days(entry.rated_first, entry.rated_last),
        judge=entry.measurement.judge or "",
        judged=days(entry.judged_first, entry.judged_last),
        rests_on=rests_on(entry.measurement),
    )
