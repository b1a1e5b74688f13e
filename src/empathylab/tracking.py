"""Results in an experiment tracker: MLflow or Weights & Biases (the extras `mlflow`, `wandb`).

Where results go is decided as these trackers always do: `MLFLOW_TRACKING_URI`, or `WANDB_MODE`,
`WANDB_PROJECT` and the login of `wandb`.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from empathylab.errors import EmpathyLabError, MissingExtra

Tracker = Literal["mlflow", "wandb"]
EXPERIMENT = "empathylab"


class TrackingFailed(EmpathyLabError):
    """The tracker did not take the results; the lab has them."""


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """What a tracker shows as one run."""

    name: str
    settings: Mapping[str, object]
    metrics: Mapping[str, float]
    """An interval's ends are metrics of their own: `replies.empathy.low`, `….high`."""
    files: tuple[Path, ...] = ()


def metrics_of(name: str, cells: Mapping[str, Any], value: str) -> dict[str, float]:
    """An estimate of `cells` with the ends of its interval as metrics; what is unknown is not."""
    found = {name: cells[value], f"{name}.low": cells.get("low"), f"{name}.high": cells.get("high")}
    return {
        key: float(number)
        for key, number in found.items()
        if number is not None and math.isfinite(number)
    }


def require_tracker(tracker: Tracker) -> Any:
    """The tracker's package; an error where it is not installed."""
    try:
        return importlib.import_module(tracker)
    except ImportError:
        purpose = f"--track {tracker}"
        name = "mlflow-skinny" if tracker == "mlflow" else tracker
        raise MissingExtra(name, tracker, purpose) from None


def track(tracker: Tracker, runs: Iterable[TrackedRun]) -> None:
    """Logs every run: settings, metrics, files."""
    package = require_tracker(tracker)
    log: Callable[[Any, TrackedRun], None] = _mlflow if tracker == "mlflow" else _wandb
    for run in runs:
        try:
            log(package, run)
        except Exception as error:
            raise TrackingFailed(
                f"{tracker} did not accept the results of {run.name}: {error}. The lab has them. "
                "Check the tracker's settings and run the same command again."
            ) from error


def _mlflow(mlflow: Any, run: TrackedRun) -> None:
    mlflow.set_experiment(EXPERIMENT)
    with mlflow.start_run(run_name=run.name):
        mlflow.log_params(
            {name: value for name, value in run.settings.items() if value is not None}
        )
        mlflow.log_metrics(dict(run.metrics))
        for file in run.files:
            mlflow.log_artifact(str(file))


def _wandb(wandb: Any, run: TrackedRun) -> None:
    # The argument would hide a project that the environment names.
    project = os.environ.get("WANDB_PROJECT", EXPERIMENT)
    with wandb.init(project=project, name=run.name, config=dict(run.settings)) as logged:
        logged.summary.update(dict(run.metrics))
        if run.files:
            artifact = wandb.Artifact(f"report-{logged.id}", type="report")
            for file in run.files:
                artifact.add_file(str(file))
            logged.log_artifact(artifact)
