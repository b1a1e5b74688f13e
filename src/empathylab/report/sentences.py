"""The report's findings and cautions, in sentences that carry their n and interval."""

from __future__ import annotations

from empathylab.report.appraisal import Patterns
from empathylab.report.collect import ReportData, RunSummary
from empathylab.report.formats import number, signed

# Huang et al. 2024, 1,266 people on their own 428 situations.
PEOPLE_CHANGE = {"positive": -5.13, "negative": 10.44}
_SUSPECT_SHARE = 0.2


def findings(data: ReportData) -> list[str]:
    """What came out, one sentence per result."""
    found = []
    for change in data.changes:
        if change.emotion is not None:
            continue
        difference = change.difference
        interval = (
            f" (95% interval {signed(difference.low)} to {signed(difference.high)})"
            if difference.varies
            else " (no interval: the scores do not vary)"
        )
        sentence = (
            f"{change.respondent}, {change.subscale} affect: {number(change.default_mean)} at rest "
            f"(n = {change.default_n}), {number(change.mean)} after imagining situations "
            f"(n = {change.n}): a change of {signed(difference.estimate)}{interval}."
        )
        if change.scale == "panas" and change.subscale in PEOPLE_CHANGE:
            people = signed(PEOPLE_CHANGE[change.subscale], 2)
            sentence += f" People, in Huang et al. 2024 on other situations: {people}."
        found.append(sentence)
    for length in data.lengths:
        sentence = (
            f"{length.respondent} gave {length.replies} usable replies to {length.asked} requests"
        )
        if length.median_words is not None:
            sentence += (
                f", with a median of {number(length.median_words, 0)} words "
                f"({length.shortest} to {length.longest})"
            )
        found.append(sentence + ".")
    return found


def cautions(data: ReportData) -> list[str]:
    """What a reader must know before believing the findings."""
    said = [_pattern_caution(one) for one in data.patterns if one.share >= _SUSPECT_SHARE]
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
