"""`--track`: settings, results with intervals and the report reach a real tracker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import empathylab as el
from empathylab.stats import PlannedStudy, simulate_ratings
from empathylab.tracking import TrackedRun, TrackingFailed, track
from tests.helpers.command_line import as_json, empathylab

PANAS = json.dumps({str(number): 1 + number % 4 for number in range(1, 21)})
READ_MLFLOW = """
import json, mlflow
runs = mlflow.search_runs(experiment_names=["empathylab"], output_format="list")
print(json.dumps({
    run.info.run_name: [
        run.data.params,
        run.data.metrics,
        [file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)],
    ]
    for run in runs
}))
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "answers.json").write_text(json.dumps([PANAS]))
    return f"scripted/{tmp_path / 'answers.json'}"


def printed_json(tmp_path: Path, *words: str, **environment: str) -> dict[str, Any]:
    """What the command prints as JSON, run in a process of its own: trackers keep threads."""
    done = subprocess.run(
        [sys.executable, "-m", "empathylab", *words, "--lab", tmp_path / "lab", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def stored_in_mlflow(tmp_path: Path, **environment: str) -> Any:
    """Settings, metrics and files of each run in MLflow's store, by its name."""
    read = subprocess.run(
        [sys.executable, "-c", READ_MLFLOW],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | environment,
        check=True,
    )
    return json.loads(read.stdout)


@pytest.mark.slow
def test_mlflow_gets_evaluations_with_their_report_and_the_conclusions_of_a_rated_study(
    tmp_path: Path, script: str
) -> None:
    store = {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'store.db'}"}
    words = ("evaluate", script, "--situations", "1", "--track", "mlflow", "--seed", "7")
    printed = printed_json(tmp_path, *words, **store)
    ratings = simulate_ratings(PlannedStudy(12, 4, odds_ratio=4.0), seed=3)
    ratings.select(
        "rater",
        "rating",
        situation_text=pl.lit("It was hard."),
        text=pl.lit("I am sorry."),
        situation="situation",
        respondent="arm",
    ).write_csv(tmp_path / "rated.csv")
    as_json("data", "import", "ratings", tmp_path / "rated.csv", "--lab", tmp_path / "lab")
    printed_json(tmp_path, "analyze", "ratings", "--track", "mlflow", **store)
    stored = stored_in_mlflow(tmp_path, **store)
    assert set(stored) == {script, "rated"}

    settings, metrics, files = stored[script]
    assert (settings["seed"], settings["scale"], settings["mode"]) == ("7", "panas", "structured")
    assert "judge" not in settings
    [row] = [
        change
        for change in printed["changes"]
        if change["subscale"] == "positive" and not change["emotion"]
    ]
    assert metrics["panas.positive.change"] == pytest.approx(row["cluster_delta"])
    assert metrics["replies.n"] == 32
    assert files == ["report.html"]

    # `analyze ratings --track` logs the estimates that the analysis prints, with intervals.
    settings, metrics, files = stored["rated"]
    assert (settings["study"], files) == ("rated", [])
    assert settings["formula"].startswith("rating ~ arm")
    assert metrics["ratings"] == ratings.height
    [conclusion] = [
        found
        for found in el.open_lab(tmp_path / "lab").analyze.ratings().conclusions
        if found.subset == "all" and found.unit == "log-odds"
    ]
    logged = f"{conclusion.dimension}.{conclusion.subject}.log_odds"
    for value, ending in (("estimate", ""), ("low", ".low"), ("high", ".high"), ("p", ".p")):
        assert metrics[logged + ending] == pytest.approx(getattr(conclusion, value))


def test_wandb_writes_the_same_offline(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text("a report")
    settings = {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "WANDB_SILENT": "true"}
    code = f"""
from pathlib import Path
from empathylab.tracking import TrackedRun, track
metrics = {{"replies.empathy": 3.25, "replies.empathy.low": 3.0}}
track("wandb", [TrackedRun("mine/model", {{"seed": 7}}, metrics, (Path({str(report)!r}),))])
"""
    subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=tmp_path, env=os.environ | settings
    )
    [stored] = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    content = stored.read_bytes()
    for text in (b"mine/model", b"replies.empathy.low", b"3.25", b"report.html"):
        assert text in content


def test_a_tracker_that_is_not_installed_stops_before_anything_is_asked(
    tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    done = empathylab("evaluate", script, "--track", "wandb", "--lab", tmp_path / "lab")
    assert not (tmp_path / "lab").exists()
    assert done.exit_code == 2
    assert "Run: pip install 'empathylab[wandb]'" in done.stderr


def test_a_tracker_that_fails_says_that_the_lab_has_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def set_experiment(self, name: str) -> None:
            raise ConnectionError("no route to host")

    monkeypatch.setitem(sys.modules, "mlflow", Broken())  # type: ignore[arg-type]
    with pytest.raises(TrackingFailed, match=r"no route to host\. The lab has them"):
        track("mlflow", [TrackedRun("mine/model", {}, {})])
