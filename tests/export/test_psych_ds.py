"""An export in the form of Psych-DS, held against the standard's rules clause by clause."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from empathylab.export import export_lab
from empathylab.store import Lab
from tests.report.exports.full_lab import fill
from tests.report.exports.psych_ds_rules import broken_rules

Files = dict[str, bytes]
DESCRIPTION = "dataset_description.json"
STUDIES = "data/description-studies_data.csv"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of the export of a lab with something in every table."""
    folder = tmp_path_factory.mktemp("psych-ds")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        export_lab(lab, folder / "out", format="psych-ds")
    out = folder / "out"
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }


def test_the_export_breaks_no_rule_of_the_standard(exported: Files) -> None:
    assert broken_rules(exported) == []


def test_a_part_of_the_tables_breaks_none_either(sqlite_lab: Lab, tmp_path: Path) -> None:
    fill(sqlite_lab, tmp_path)
    out = tmp_path / "out"
    export_lab(sqlite_lab, out, format="psych-ds", what=["ratings", "studies"])
    files = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }
    assert broken_rules(files) == []


def described(change: Callable[[dict[str, object]], object]) -> Callable[[Files], None]:
    """A change of the data set's description."""

    def made(files: Files) -> None:
        told = json.loads(files[DESCRIPTION])
        change(told)
        files[DESCRIPTION] = json.dumps(told).encode()

    return made


def first_line(line: bytes) -> Callable[[Files], None]:
    """Another header of the studies' file."""

    def made(files: Files) -> None:
        files[STUDIES] = line + b"\n" + files[STUDIES].partition(b"\n")[2]

    return made


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda files: files.pop(DESCRIPTION), "is missing"),
        (described(lambda told: told.pop("description")), "description is missing"),
        (described(lambda told: told.update({"@type": "Data"})), "@type must be Dataset"),
        (described(lambda told: told["variableMeasured"].pop(0)), "is not described"),  # type: ignore[attr-defined]
        (
            described(lambda told: told["variableMeasured"].append("mood")),  # type: ignore[attr-defined]
            "variable mood is in no file",
        ),
        (lambda files: files.update({"data/studies.csv": files.pop(STUDIES)}), "not named by"),
        (lambda files: files.update({STUDIES: b"\xff" + files[STUDIES]}), "is not UTF-8"),
        (first_line(b"study,study"), "different names"),
        (lambda files: files.update({STUDIES: files[STUDIES] + b"alone\n"}), "different lengths"),
        (lambda files: files.update({"mine/notes.txt": b"x"}), "in no place"),
    ],
)
def test_each_rule_can_be_broken(
    exported: Files, damage: Callable[[Files], object], said: str
) -> None:
    files = dict(exported)
    damage(files)
    assert any(said in one for one in broken_rules(files))
