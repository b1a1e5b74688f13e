"""`study export`, `study add-arm` and `data import study`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from empathylab.store import Lab
from tests.helpers.command_line import as_json, empathylab
from tests.study.archived import finished
from tests.study.service_examples import furnish


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab with a closed study, and with replies of a model that was not in it."""
    folder = tmp_path_factory.mktemp("commands") / "lab"
    with Lab.open(folder) as opened:
        finished(opened)
        furnish(opened, "third/model")
    return folder


def test_export_names_the_folder_and_every_file(lab: Path, tmp_path: Path) -> None:
    done = empathylab("study", "export", "small", tmp_path / "out", "--lab", lab)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(str(tmp_path / "out"))
    for path in (tmp_path / "out").iterdir():
        assert path.name == "SHA256SUMS" or path.name in done.stdout


def test_export_without_a_folder_never_writes_over_an_earlier_one(lab: Path) -> None:
    done = [empathylab("study", "export", "small", "--json", "--lab", lab) for _ in range(2)]
    paths = [json.loads(item.stdout)["path"] for item in done]
    assert [Path(path).name for path in paths] == ["small", "small-2"]
    assert all((Path(path) / "ratings.csv").is_file() for path in paths)


def test_an_archive_goes_from_lab_to_lab(lab: Path, tmp_path: Path) -> None:
    made = empathylab(
        "study", "export", "small", "--archive", tmp_path / "a.zip", "--lab", lab, "--json"
    )
    assert made.exit_code == 0, made.output
    for change in ("added", "unchanged"):
        done = empathylab(
            "data", "import", "study", tmp_path / "a.zip", "--lab", tmp_path / "other", "--json"
        )
        found = json.loads(done.stdout)
        assert (found["study"], found["change"], found["ratings"]) == ("small", change, 8)
        assert found["hash"] in made.stdout
    again = empathylab(
        "study", "export", "small", "--archive", tmp_path / "b.zip", "--lab", tmp_path / "other"
    )
    assert again.exit_code == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_damaged_archive_is_one_sentence_and_exit_2(lab: Path, tmp_path: Path) -> None:
    empathylab("study", "export", "small", "--archive", tmp_path / "a.zip", "--lab", lab)
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:-30])
    done = empathylab("data", "import", "study", tmp_path / "a.zip", "--lab", tmp_path / "other")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "a.zip" in done.stderr


def test_an_archive_takes_no_identities(lab: Path, tmp_path: Path) -> None:
    done = empathylab(
        "study", "export", "small", "--archive", tmp_path / "a.zip", "--identities", "--lab", lab
    )
    assert done.exit_code == 2
    assert not (tmp_path / "a.zip").exists()


def test_add_arm_says_what_happened_and_what_is_missing(lab: Path) -> None:
    missing = empathylab("study", "add-arm", "small", "--respondent", "fourth/model", "--lab", lab)
    assert missing.exit_code == 2
    assert "empathylab respond fourth/model --set dialogues" in missing.stderr
    done = empathylab(
        "study", "add-arm", "small", "--respondent", "third/model", "--arm", "three", "--lab", lab
    )
    assert done.exit_code == 0, done.output
    assert "reopened for this arm only" in done.stdout
    again = empathylab(
        "study",
        "add-arm",
        "small",
        "--respondent",
        "third/model",
        "--arm",
        "three",
        "--lab",
        lab,
        "--json",
    )
    assert json.loads(again.stdout)["change"] == "unchanged"


def test_an_open_study_is_shown_without_counts_by_arm(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = finished(sqlite_lab, close=False)
    show = ("data", "show", "small", "--lab", tmp_path / "lab")
    shown = as_json(*show)
    assert len(shown["arms"]) > 1
    assert {(arm["raters"], arm["situations"]) for arm in shown["arms"]} == {(None, None)}
    assert shown["raters"] == 4
    assert "Counts by arm are shown once the study is closed." in empathylab(*show)[1]
    service.actions.close()
    assert sum(arm["raters"] for arm in as_json(*show)["arms"]) == 4
    assert "Counts by arm" not in empathylab(*show)[1]
