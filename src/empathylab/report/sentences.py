"""The report's main results and cautions, in words that carry their n and interval."""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.report.appraisal import Change, Patterns
from empathylab.report.collect import ReplyLengths, ReportData, RunSummary
from empathylab.report.formats import number, signed

# Huang et al. 2024, 1,266 people on their own 428 situations.
PEOPLE_CHANGE = {"positive": -5.13, "negative": 10.44}
_SUSPECT_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Tile:
    """One result, as a reader sees it first."""

    what: str
    value: str
    notes: tuple[str, ...]
    doubt: str | None = None
    """Why the value should not be believed."""


def tiles(data: ReportData) -> list[Tile]:
    """The main results, each with its n and interval."""
    suspect = {(one.respondent, one.scale) for one in data.patterns if _is_suspect(one)}
    affect = [
        _change_tile(change, doubtful=(change.respondent, change.scale) in suspect)
        for change in data.changes
        if change.emotion is None
    ]
    return affect + [_reply_tile(length) for length in data.lengths]


def _change_tile(change: Change, *, doubtful: bool) -> Tile:
    difference = change.difference
    notes = [
        f"95% interval {signed(difference.low)} to {signed(difference.high)}"
        if difference.varies
        else "no interval: the scores do not vary",
        (f"{number(change.default_mean)} at rest (n = {change.default_n}), "
        f"{number(change.mean)} after situations (n = {change.n})"),
    ]
    if change.scale == "panas" and change.subscale in PEOPLE_CHANGE:
        people = signed(PEOPLE_CHANGE[change.subscale], 2)
        notes.append(f"People: {people} (Huang et al. 2024, other situations)")
    return Tile(
        f"{change.respondent}: change in {change.subscale} affect",
        signed(difference.estimate),
        tuple(notes),
        "answered by position, not by content" if doubtful else None,
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


def cautions(data: ReportData) -> list[str]:
    """What a reader must know before believing the findings."""
    said = [_pattern_caution(one) for one in data.patterns if _is_suspect(one)]
    said += [sentence for run in data.runs for sentence in _run_cautions(run)]
    if any(change.n < 10 for change in data.changes if change.emotion is not None):
        said.append(
            "A few situations per emotion give a first look, not a test: "
            "the dots show every single score."
        )
    if data.left_out_runs:
        older = "1 older run" if data.left_out_runs == 1 else f"{data.left_out_runs} older runs"
        said.append(f"{older} of the same kind in this lab are left out, so nothing counts twice.")
    return said


def _is_suspect(pattern: Patterns) -> bool:
    return pattern.share >= _SUSPECT_SHARE


def _pattern_caution(pattern: Patterns) -> str:
    kinds = [
        (pattern.straight, "with the same number everywhere"),
        (pattern.counting, "by counting along the page"),
        (pattern.long_run, "with the same number for half the page or more"),
    ]
    listed = ", ".join(f"{count} {how}" for count, how in kinds if count)
    return (
        f"{pattern.respondent} answered {pattern.suspect} of {pattern.administrations} "
        f"valid {pattern.scale.upper()} questionnaires without regard to the items: {listed}. "
        "Its scores say little or nothing about affect."
    )


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
            f"{run.respondent} could not be used; the reasons are listed below."
        )
    return said
