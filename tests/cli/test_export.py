"""`empathylab export`, as someone types it."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from empathylab.store import Lab
from tests.helpers.command_line import empathylab
from tests.study.archived import released
from tests.study.service_examples import opened

run = functools.partial(empathylab, "export")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    with Lab.open(folder / "lab") as made:
        released(made, folder)
    return folder / "lab"


def test_the_folder_and_every_file_are_named(lab: Path, tmp_path: Path) -> None:
    done = run("--to", tmp_path / "out", "--lab", lab)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(str(tmp_path / "out"))
    for path in (tmp_path / "out").iterdir():
        assert path.name == "SHA256SUMS" or path.name in done.stdout
    assert done.stderr == ""


def test_without_a_place_an_earlier_export_is_not_written_over(lab: Path) -> None:
    words = ("--what", "ratings", "--what", "raters", "--format", "jsonl", "--json", "--lab", lab)
    found = [json.loads(run(*words).stdout) for _ in range(2)]
    assert [Path(item["path"]).name for item in found] == ["jsonl", "jsonl-2"]
    rows = {file["name"]: file["rows"] for file in found[1]["files"]}
    assert (rows["ratings.jsonl"], rows["raters.jsonl"]) == (48, 12)


def test_a_note_about_an_open_study_goes_to_stderr(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as made:
        opened(made)
    done = run("--what", "studies", "--to", tmp_path / "out", "--lab", tmp_path / "lab")
    assert "are left out." in done.stderr
    assert "are left out." not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--what", "rating"], "there is no table 'rating'. Did you mean 'ratings'"),
        (["--format", "psych-ds", "--identities"], "contain no identities"),
        (["--format", "replication", "--what", "ratings"], "Leave it out"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_2(
    lab: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    done = run(*words, "--to", tmp_path / "out", "--lab", lab)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_lab_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = run("--lab", tmp_path / "none")
    assert done.exit_code == 2
    assert "there is no lab here" in done.stderr
