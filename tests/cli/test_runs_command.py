"""`empathylab runs`: naming, pinning, comparing, deleting and exporting runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import Done, empathylab

MODEL = "scripted/tests.judging.scoring_judges:model"
OTHER = "scripted/tests.judging.scoring_judges:better"
STRICT = "scripted/tests.judging.scoring_judges:strict"


@pytest.fixture(autouse=True)
def _lab_in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, code: int = 0) -> Done:
    done = empathylab(*arguments)
    assert done.exit_code == code, done.output
    return done


def listed() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("runs", "list", "--json").stdout)["runs"]
    return rows


def test_a_trial_does_not_replace_the_result_until_it_is_pinned() -> None:
    run("evaluate", MODEL, "--situations", "2")
    done = run("evaluate", MODEL, "--situations", "1", "--json")
    # The summary is of what was asked just now; the report keeps the larger run.
    changes = json.loads(done.stdout)["changes"]
    assert {row["n"] for row in changes if row["label"] == "Overall"} == {8}
    appraisals = [row for row in listed() if row["protocol"] == "appraise"]
    assert [(row["shown"], row["how"].split(", ")[1]) for row in appraisals] == [
        (True, "16 situations"),
        (False, "8 situations"),
    ]
    run("runs", "pin", str(appraisals[1]["run"]))
    assert [row["shown"] for row in listed() if row["protocol"] == "appraise"] == [False, True]
    run("runs", "pin", str(appraisals[1]["run"]), "--remove")
    assert [row["shown"] for row in listed() if row["protocol"] == "appraise"] == [True, False]


def test_a_run_is_found_by_its_name() -> None:
    run("evaluate", MODEL, "--situations", "1")
    run("runs", "name", "2", "release-1")
    content = json.loads(run("runs", "show", "release-1", "--json").stdout)
    assert (content["run"], content["name"]) == (2, "release-1")
    assert "run 2 has this name" in run("runs", "name", "1", "release-1", code=2).stderr
    run("runs", "name", "1", "release-1", "--move")
    run("runs", "name", "release-1", "release-1")
    run("runs", "name", "2", "release-1", "--move")
    assert "must not be a number" in run("runs", "name", "1", "7", code=2).stderr
    assert "there is no run 'release-2'" in run("runs", "show", "release-2", code=2).stderr


def test_a_named_run_is_kept_and_another_is_deleted_with_its_answers(tmp_path: Path) -> None:
    run("evaluate", MODEL, "--situations", "1")
    run("runs", "name", "2", "release-1")
    assert "named 'release-1'" in run("runs", "delete", "2", "--yes", code=2).stderr
    run("runs", "export", "2", "answers.jsonl")
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert len(lines) == 32
    assert "I can hear" in json.loads(lines[0])["text"]
    again = run("runs", "export", "2", "answers.jsonl", code=2)
    assert again.stderr == (
        "Error: answers.jsonl: this file already exists. Choose another name.\n"
    )
    nowhere = run("runs", "export", "2", "nowhere/answers.jsonl", code=2)
    assert nowhere.stderr == (
        "Error: nowhere/answers.jsonl: the file cannot be written; got 'No such file or "
        "directory'. Check the folder and its permissions, or name another file.\n"
    )
    run("runs", "delete", "1", "--yes")
    assert [row["run"] for row in listed()] == [2]


def test_runs_are_compared_over_shared_situations_and_say_how_they_differ() -> None:
    run("evaluate", MODEL, OTHER, "--situations", "1", "--judge", STRICT, "--planted", "2")
    replies = [row["run"] for row in listed() if row["protocol"] == "respond"]
    content = json.loads(run("runs", "compare", *map(str, replies), "--json").stdout)
    [difference] = content["differences"]
    assert difference["estimate"] > 1
    assert difference["n"] == 32
    appraisals = [row["run"] for row in listed() if row["protocol"] == "appraise"]
    done = run("runs", "compare", *map(str, appraisals))
    assert "panas positive: run 1 minus run" in done.stdout
    assert "the same protocol" in run("runs", "compare", "1", str(replies[0]), code=2).stderr
    assert (
        "a judge has rated its replies"
        in run("runs", "delete", str(replies[0]), "--yes", code=2).stderr
    )


def test_a_lab_without_runs_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,text,emotion\ns01,It rains.,anger\n")
    run("data", "import", "situations", "mine.csv", "--name", "mine")
    done = run("runs", "list")
    assert (done.stdout.strip(), done.stderr.strip()) == (
        "",
        "The lab has no runs yet. Ask a model: empathylab evaluate MODEL",
    )
    assert listed() == []
