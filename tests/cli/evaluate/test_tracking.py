"""`--track`: settings, results with intervals and the report reach a real tracker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from empathylab.tracking import TrackedRun, TrackingFailed, track
from tests.helpers.command_line import empathylab

PANAS = json.dumps({str(number): 1 + number % 4 for number in range(1, 21)})
READ_MLFLOW = """
import json, mlflow
[run] = mlflow.search_runs(experiment_names=["empathylab"], output_format="list")
files = [file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)]
print(json.dumps([run.info.run_name, run.data.params, run.data.metrics, files]))
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "answers.json").write_text(json.dumps([PANAS]))
    return f"scripted/{tmp_path / 'answers.json'}"


def evaluated(tmp_path: Path, script: str, *words: str, **environment: str) -> dict[str, Any]:
    """What the command prints as JSON, run in a process of its own: trackers keep threads."""
    command = [sys.executable, "-m", "empathylab", "evaluate", script, "--situations", "1"]
    done = subprocess.run(
        [*command, "--lab", tmp_path / "lab", "--json", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_mlflow_gets_settings_results_and_report(tmp_path: Path, script: str) -> None:
    store = {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'store.db'}"}
    printed = evaluated(tmp_path, script, "--track", "mlflow", "--seed", "7", **store)
    read = subprocess.run(
        [sys.executable, "-c", READ_MLFLOW],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | store,
        check=True,
    )
    name, settings, metrics, files = json.loads(read.stdout)
    assert name == script
    assert (settings["seed"], settings["scale"], settings["mode"]) == ("7", "panas", "structured")
    assert "judge" not in settings
    [row] = [
        one for one in printed["changes"] if one["subscale"] == "positive" and not one["emotion"]
    ]
    assert metrics["panas.positive.change"] == pytest.approx(row["cluster_delta"])
    assert metrics["replies.n"] == 32
    assert files == ["report.html"]


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
