"""An evaluation as runs of an experiment tracker, one for each model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from empathylab import __version__
from empathylab.analysis.appraisal.result import interval_of
from empathylab.api.evaluation.measurement import Combination, JudgeOptions
from empathylab.api.evaluation.result import Evaluation
from empathylab.tracking import TrackedRun, Tracker, metrics_of, track


def track_evaluation(
    tracker: Tracker, evaluation: Evaluation, asked: Combination, judge: JudgeOptions, *, lab: Path
) -> None:
    """Logs what was measured of each model."""
    settings = {
        **dataclasses.asdict(asked),
        "judge": judge.name,
        "lab": str(lab),
        "empathylab": __version__,
    }
    content = evaluation.to_dict()
    runs = [
        TrackedRun(
            row["respondent"],
            settings | {"model": row["respondent"]},
            _metrics(row)
            | _changes(evaluation, row["respondent"])
            | _gates(row["respondent"], content["gates"]),
            (evaluation.report,),
        )
        for row in content["respondents"]
    ]
    track(tracker, runs)


def _metrics(row: dict[str, Any]) -> dict[str, float]:
    """How many answers can be used, and the scores of the replies."""
    metrics = {"requests": float(row["requests"]), "usable": float(row["usable"])}
    metrics |= {
        f"replies.{name}": float(row["replies"][name]) for name in ("n", "usable", "scored")
    }
    for name, cells in row["replies"]["scores"].items():
        metrics |= metrics_of(f"replies.{name}", cells, "mean")
    return metrics


def _changes(evaluation: Evaluation, respondent: str) -> dict[str, float]:
    """The change from baseline of every scale, over all situations."""
    metrics: dict[str, float] = {}
    for change in evaluation.overview.appraisal.changes:
        if change.respondent == respondent and change.emotion is None and change.factor is None:
            interval = interval_of(change)
            cells = {
                "change": change.cluster_delta,
                "low": interval and interval.low,
                "high": interval and interval.high,
            }
            metrics |= metrics_of(f"{change.scale}.{change.subscale}.change", cells, "change")
    return metrics


def _gates(respondent: str, gates: list[dict[str, Any]]) -> dict[str, float]:
    mine = [gate for gate in gates if gate["respondent"] == respondent]
    return {"gates.passed": float(all(gate["passed"] for gate in mine))} if mine else {}
