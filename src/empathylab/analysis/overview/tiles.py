"""The report's main results, each with its n and interval."""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.analysis.appraisal.result import PEOPLE, interval_of, no_interval
from empathylab.analysis.overview.collect import LabOverview, ReplyLengths
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.arms import ArmTest
from empathylab.stats.questionnaires.appraisal import ScaleChange

# Huang et al. 2024, 1,266 people on their own 428 situations; for labs that do not hold them.
PEOPLE_CHANGE = {"positive": -5.13, "negative": 10.44}
_MOST_TILES = 9


@dataclass(frozen=True, slots=True)
class Tile:
    """One result, as a reader sees it first."""

    what: str
    value: str
    notes: tuple[str, ...]
    doubt: str | None = None
    """Why the value should not be trusted."""


def tiles(data: LabOverview) -> list[Tile]:
    """The main results, each with its n and interval; the tables hold the rest."""
    verdicts = {(one.respondent, one.scale): one.validity.verdict for one in data.self_reports}
    overall = [one for one in data.appraisal.changes if one.level == "overall"]
    people = {(one.scale, one.subscale): one for one in overall if one.respondent == PEOPLE}
    affect = [
        _change_tile(
            one, people.get((one.scale, one.subscale)), verdicts.get((one.respondent, one.scale))
        )
        for one in overall
        if one.respondent != PEOPLE and one.scale == "panas"
    ]
    rated = [_rating_tile(test) for study in data.ratings for test in _main_tests(study)]
    replies = [_reply_tile(length) for length in data.lengths]
    return (affect + rated + replies)[:_MOST_TILES]


def _main_tests(study: RatingsResult) -> list[ArmTest]:
    return [
        one for one in study.comparison.tests if one.kind == "all" and one.n and one.n_reference
    ]


def _rating_tile(test: ArmTest) -> Tile:
    found = test.clustered.difference
    proportion, reference = test.good / test.n, test.good_reference / test.n_reference
    notes = [
        (
            f"{test.reference}: {number(100 * reference)}% (n = {number(test.n_reference, 0)}; "
            f"this: {number(test.n, 0)})"
        ),
        (
            f"difference {signed(100 * found.estimate)} points, 95% interval "
            f"{signed(100 * found.low)} to {signed(100 * found.high)}, clustered by rater"
        ),
    ]
    return Tile(f"{test.arm}: good ratings", f"{number(100 * proportion)}%", tuple(notes))


def _change_tile(change: ScaleChange, people: ScaleChange | None, verdict: str | None) -> Tile:
    interval = interval_of(change)
    notes = [
        f"95% interval {signed(interval.low)} to {signed(interval.high)}"
        if interval
        else f"no interval: {no_interval(change)}",
        (
            f"{number(change.default_mean)} at baseline (n = {change.default_n}), "
            f"{number(change.mean)} after situations (n = {change.n})"
        ),
    ]
    if people is not None:
        notes.append(f"People: {signed(people.delta, 2)} (n = {people.n})")
    elif change.subscale in PEOPLE_CHANGE:
        known = signed(PEOPLE_CHANGE[change.subscale], 2)
        notes.append(f"People: {known} (Huang et al. 2024, other situations)")
    return Tile(
        f"{change.respondent}: change in {change.subscale} affect",
        signed(change.cluster_delta),
        tuple(notes),
        "these answers are meaningless" if verdict == "meaningless" else None,
    )


def _reply_tile(length: ReplyLengths) -> Tile:
    notes = []
    if length.median_words is not None:
        notes.append(
            f"median {number(length.median_words, 0)} words ({length.shortest} to {length.longest})"
        )
    return Tile(
        f"{length.respondent}: usable replies", f"{length.replies} of {length.asked}", tuple(notes)
    )
