"""Logs that cannot be imported, a missing package, and Inspect's models as respondents."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from empathylab.export import lab_tables
from empathylab.store import Lab
from tests.helpers.command_line import as_json, empathylab
from tests.helpers.groups import unavailable

pytestmark = [
    pytest.mark.inspect,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def _installed() -> None:
    if importlib.util.find_spec("inspect_ai") is None:
        unavailable("inspect", "inspect-ai is not installed")


def a_log(path: Path, **given: Any) -> Path:
    """A log of another task, or with other metadata."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, write_eval_log

    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task=given.get("task", "inspect_evals/gpqa"),
        dataset=EvalDataset(),
        model="openai/gpt-4o",
        config=EvalConfig(),
        metadata=given.get("metadata"),
    )
    write_eval_log(EvalLog(eval=spec, samples=[]), path)
    return path


def refused(path: Path, lab: Path) -> str:
    done = empathylab("data", "import", "inspect", path, "--lab", lab)
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.stderr
    return done.stderr


def test_what_is_wrong_with_a_log_is_said_in_a_sentence(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    assert "there is no such file" in refused(tmp_path / "none.eval", lab)
    assert "inspect_evals/gpqa" in refused(a_log(tmp_path / "other.eval"), lab)
    own = {"empathylab": {"format": 99, "source": "x", "records": {}}}
    newer = a_log(tmp_path / "newer.eval", task="empathylab/respond", metadata=own)
    assert "format 99, this version reads 1" in refused(newer, lab)
    known = {"empathylab": {"format": 1, "source": "x", "records": {}}}
    empty = a_log(tmp_path / "empty.eval", task="empathylab/respond", metadata=known)
    assert "contains no samples" in refused(empty, lab)
    broken = tmp_path / "broken.eval"
    broken.write_bytes(empty.read_bytes()[:200])
    assert "the log cannot be read" in refused(broken, lab)
    with zipfile.ZipFile(tmp_path / "zip.eval", "w") as packed:
        packed.writestr("hello.txt", "hello")
    assert "the log cannot be read" in refused(tmp_path / "zip.eval", lab)
    (tmp_path / "old.json").write_text('{"version": 99, "eval": {}}')
    assert "the log cannot be read" in refused(tmp_path / "old.json", lab)


def test_a_missing_package_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "inspect_ai" else found(name)
    )
    said = refused(tmp_path / "any.eval", tmp_path / "lab")
    assert "pip install 'empathylab[inspect]'" in said
    model = empathylab("respond", "inspect/openai/gpt-4o", "--lab", tmp_path / "lab")
    assert model.exit_code == 2
    assert "pip install 'empathylab[inspect]'" in model.stderr


def test_any_model_of_inspect_can_be_the_respondent(tmp_path: Path) -> None:
    importlib.import_module("empathylab.inspect_tasks.registry")  # as its entry point does
    name = "inspect/empathylab/scripted/tests.helpers.labs:person_like"
    few = ("--situations", 1, "--emotion", "sad", "--emotion", "proud")
    done = as_json("respond", name, *few, "--lab", tmp_path / "lab")
    assert done["sessions"][0]["done"] == 2
    with Lab.open(tmp_path / "lab") as lab:
        own = lab_tables(lab).tables["responses"]
    assert own["respondent"].unique().to_list() == [name]
    assert own["outcome"].to_list() == ["valid", "valid"]
    assert min(own["prompt_tokens"].to_list()) > 0
    unknown = empathylab("respond", "inspect/nobody/x", *few, "--lab", tmp_path / "lab")
    assert unknown.exit_code == 2
    assert "Inspect cannot open this model" in unknown.stderr


def test_the_command_of_inspect_finds_the_tasks(tmp_path: Path) -> None:
    if not any(point.name == "empathylab" for point in entry_points(group="inspect_ai")):
        unavailable("inspect", "the package's entry point is not installed: pip install -e .")
    words = ["eval", "empathylab/respond", "--limit", "1", "--display", "none"]
    words += ["--model", "empathylab/scripted/tests.helpers.labs:person_like"]
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *words, "--log-dir", str(tmp_path / "logs")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (log,) = (tmp_path / "logs").glob("*.eval")
    found = as_json("data", "import", "inspect", log, "--lab", tmp_path / "lab")
    assert found["logs"][0]["task"] == "empathylab/respond"
