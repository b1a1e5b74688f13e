"""The report's main results and cautions, in words that carry their n and interval."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from empathylab.analysis.appraisal.self_reports import SelfReport
from empathylab.analysis.overview.collect import ReplyLengths, ReportData, RunSummary
from empathylab.analysis.ratings.analysis import RatingsAnalysis
from empathylab.analysis.text.apa import listed
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.stats.arms import ArmTest
from empathylab.stats.intervals import change_interval
from empathylab.stats.questionnaires.appraisal import ScaleChange

PEOPLE = "human"
# Huang et al. 2024, 1,266 people on their own 428 situations; for labs that do not hold them.
PEOPLE_CHANGE = {"positive": -5.13, "negative": 10.44}
_MOST_TILES = 9
_FEW = 10


@dataclass(frozen=True, slots=True)
class Tile:
    """One result, as a reader sees it first."""

    what: str
    value: str
    notes: tuple[str, ...]
    doubt: str | None = None
    """Why the value should not be believed."""


def tiles(data: ReportData) -> list[Tile]:
    """The main results, each with its n and interval; the tables hold the rest."""
    verdicts = {(one.respondent, one.scale): one.validity.verdict for one in data.self_reports}
    overall = [one for one in data.analysis.changes if one.level == "overall"]
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


def _main_tests(study: RatingsAnalysis) -> list[ArmTest]:
    return [
        one for one in study.comparison.tests if one.kind == "all" and one.n and one.n_reference
    ]


def _rating_tile(test: ArmTest) -> Tile:
    found = test.clustered.difference
    share, reference = test.good / test.n, test.good_reference / test.n_reference
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
    return Tile(f"{test.arm}: good ratings", f"{number(100 * share)}%", tuple(notes))


def _change_tile(change: ScaleChange, people: ScaleChange | None, verdict: str | None) -> Tile:
    interval = change_interval(change)
    notes = [
        f"95% interval {signed(interval.low)} to {signed(interval.high)}"
        if interval
        else "no interval: the scores do not vary",
        (
            f"{number(change.default_mean)} at rest (n = {change.default_n}), "
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
        signed(change.delta),
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


def cautions(data: ReportData, respondents: Collection[str] | None = None) -> list[str]:
    """What a reader must know before believing the findings; of some respondents, or of all."""

    def wanted(one: SelfReport | RunSummary | ScaleChange) -> bool:
        return respondents is None or one.respondent in respondents

    reports = [one for one in data.self_reports if wanted(one)]
    said = _validity_cautions([one for one in reports if one.validity.verdict != "usable"])
    said += [sentence for run in data.runs if wanted(run) for sentence in _run_cautions(run)]
    emotions = [one for one in data.analysis.changes if one.level == "emotion" and wanted(one)]
    if any(one.n < _FEW for one in emotions):
        said.append(
            "A few situations per emotion give a first look, not a test: "
            "the dots show every single score."
        )
    said += data.unrated
    if data.left_out_runs:
        older, are = (
            ("1 older run", "is")
            if data.left_out_runs == 1
            else (
                f"{data.left_out_runs} older runs",
                "are",
            )
        )
        said.append(
            f"{older} of the same kind in this lab {are} left out, so nothing counts twice."
        )
    return said


def _validity_cautions(reports: Sequence[SelfReport]) -> list[str]:
    """A sentence for each scale and verdict; those with the same reasons are named together."""
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for one in reports:
        key = (one.scale.upper(), one.validity.verdict, tuple(one.validity.reasons))
        alike.setdefault(key, []).append(f"{one.respondent}'s")
    return [
        " ".join([f"{listed(names)} answers to {scale} are {verdict}.", *reasons])
        for (scale, verdict, reasons), names in alike.items()
    ]


def _run_cautions(run: RunSummary) -> list[str]:
    said = []
    if run.unanswered:
        said.append(
            f"The {run.protocol} run of {run.respondent} is incomplete: {run.unanswered} of "
            f"{run.planned} requests have no answer yet. The same command goes on with them."
        )
    if run.invalid_count:
        said.append(
            f"{run.invalid_count} of {run.answered} answers of the {run.protocol} run of "
            f"{run.respondent} could not be used ({percent(run.invalid_count / run.answered)}); "
            "the report lists the reasons."
        )
    return said
