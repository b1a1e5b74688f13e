"""Scores by the rubric and the matrix of runs as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empathylab.analysis.run_selection import RunRow
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.scores.estimates import Comparison
from empathylab.analysis.text.numbers import number, signed

Rows = tuple[dict[str, Any], ...]

_PROTOCOLS = {
    "appraise": "scale",
    "respond": "replies",
    "converse": "conversations",
    "rubric": "scores by the rubric",
    "planted": "scores of planted replies",
    "judge": "ratings",
    "compare": "comparisons",
    "tag": "tactics",
}


def score_table(result: ScoresResult) -> Rows:
    """One row per run of replies and dimension; the composite comes first."""
    return tuple(
        {
            "respondent": scored.respondent,
            "run": number(scored.run, 0),
            "replies": number(scored.n, 0),
            "dimension": score.dimension,
            "mean": number(score.mean, 2),
            "95% from": number(score.low, 2),
            "to": number(score.high, 2),
        }
        for scored in result.respondents
        for score in scored.scores
    )


def change_table(comparison: Comparison) -> Rows:
    """One row per dimension; the composite comes first."""
    return tuple(
        {
            "dimension": change.dimension,
            comparison.reference: number(change.baseline, 2),
            f"run {comparison.run}": number(change.mean, 2),
            "difference": signed(change.difference, 2),
            "95% from": signed(change.low, 2),
            "to": signed(change.high, 2),
        }
        for change in comparison.dimensions
    )


def loss_table(comparison: Comparison) -> Rows:
    """The situations that lost most, with the scores of both replies."""
    return tuple(
        {
            "situation": loss.situation,
            comparison.reference: f"{number(loss.baseline, 2)}: {loss.baseline_reply}",
            f"run {comparison.run}": f"{number(loss.score, 2)}: {loss.reply}",
        }
        for loss in comparison.losses
    )


def planted_table(result: ScoresResult) -> Rows:
    """Whether the judge sees each fault of the planted replies."""
    checks = () if result.acceptance is None else result.acceptance.faults
    return tuple(
        {
            "planted fault": check.fault.replace("-", " ").replace("_", " "),
            "dimension": check.dimension,
            "mean of these replies": number(check.mean, 2),
            "lowest mean of other replies": number(check.lowest_other, 2),
            "seen": "yes" if check.passed else "no",
        }
        for check in checks
    )


def matrix_table(runs: Sequence[RunRow]) -> Rows:
    """Every run, how it was asked, and whether results rest on it."""
    return tuple(
        {
            "run": f"{run.run} ({run.name})" if run.name else str(run.run),
            "respondent": run.respondent,
            "asked for": _PROTOCOLS.get(run.protocol, run.protocol),
            "shown": ("yes, pinned" if run.pinned else "yes") if run.shown else "no",
            "instrument": run.instrument,
            "mode": run.mode or "–",
            "template": run.template or "–",
            "situations": number(run.situations, 0) if run.situations else "–",
            "answered": f"{number(run.answered, 0)} of {number(run.planned, 0)}",
            "temperature": "–" if run.temperature is None else f"{run.temperature:g}",
            "seed": "–" if run.seed is None else str(run.seed),
        }
        for run in runs
    )
