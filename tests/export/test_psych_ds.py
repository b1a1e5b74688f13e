"""An export in the form of Psych-DS, checked by the rules of its published schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from empathylab.export import export_lab
from empathylab.store import Lab
from tests.report.exports.full_lab import fill
from tests.report.exports.psych_ds_rules import broken_rules

Files = dict[str, bytes]
Damage = Callable[[Files], object]
DESCRIPTION = "dataset_description.json"
STUDIES = "data/description-studies_data.csv"
SIDECAR = "data/description-studies_data.json"


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


def described(change: Callable[[dict[str, Any]], object], file: str = DESCRIPTION) -> Damage:
    """A change of what describes the data set, or one of its files."""

    def changed(files: Files) -> None:
        description = json.loads(files[file])
        change(description)
        files[file] = json.dumps(description).encode()

    return changed


def variables(change: Callable[[list[Any]], object]) -> Damage:
    """A change of the variables of the studies' file."""
    return described(lambda description: change(description["variableMeasured"]), SIDECAR)


def studies(change: Callable[[bytes], bytes]) -> Damage:
    """Another content of the studies' file."""
    return lambda files: files.update({STUDIES: change(files[STUDIES])})


def moved(old: str, new: str) -> Damage:
    return lambda files: files.update({new: files.pop(old)})


DAMAGES: list[tuple[str, Damage]] = [
    ("MISSING_DATASET_DESCRIPTION", lambda files: files.pop(DESCRIPTION)),
    ("INVALID_JSON_FORMATTING", lambda files: files.update({DESCRIPTION: b"{"})),
    ("JSON_ENCODING_ERROR", lambda files: files.update({SIDECAR: b"\xff"})),
    ("JSON_KEY_REQUIRED", described(lambda found: found.update({"name": ""}), SIDECAR)),
    ("MISSING_DATASET_TYPE", described(lambda found: found.update({"@type": None}), SIDECAR)),
    ("INCORRECT_DATASET_TYPE", described(lambda found: found.update({"@type": "Data"}), SIDECAR)),
    ("UNKNOWN_NAMESPACE", described(lambda found: found.update({"@context": "a.org"}), SIDECAR)),
    ("INVALID_JSONLD_FORMATTING", described(lambda found: found.update({"@column": 1}))),
    ("INVALID_SCHEMAORG_PROPERTY", described(lambda found: found.update({"mood": "good"}))),
    ("OBJECT_TYPE_MISSING", variables(lambda found: found[0].pop("@type"))),
    ("INVALID_OBJECT_TYPE", variables(lambda found: found[0].update({"@type": "Person"}))),
    ("CSV_COLUMN_MISSING_FROM_METADATA", variables(lambda found: found.pop(0))),
    ("VARIABLE_IN_NO_COLUMN", variables(lambda found: found.append("mood"))),
    ("MISSING_DATAFILE", lambda files: [files.pop(name) for name in data_files(files)]),
    ("FILENAME_KEYWORD_FORMATTING_ERROR", moved(STUDIES, "data/studies.csv")),
    ("FILENAME_UNOFFICIAL_KEYWORD_WARNING", moved(STUDIES, "data/mood-good_data.csv")),
    ("FILE_NOT_CHECKED", lambda files: files.update({"mine/notes.txt": b"x"})),
    ("FILE_EMPTY", lambda files: files.update({"documentation/notes.txt": b""})),
    ("WRONG_METADATA_LOCATION", moved(DESCRIPTION, f"data/{DESCRIPTION}")),
    ("CSV_FORMATTING_ERROR", studies(lambda content: b"\xff" + content)),
    ("CSV_HEADER_MISSING", studies(lambda content: b"\n" + content)),
    ("CSV_HEADER_REPEATED", studies(lambda content: b"study,study\n" + content)),
    ("CSV_HEADER_LENGTH_MISMATCH", studies(lambda content: content + b"alone\n")),
    ("ROWID_VALUES_NOT_UNIQUE", studies(lambda content: b"row_id\n1\n1\n")),
]


def data_files(files: Files) -> list[str]:
    return [name for name in files if name.endswith("_data.csv")]


@pytest.mark.parametrize(("code", "damage"), DAMAGES, ids=[code for code, _ in DAMAGES])
def test_each_rule_can_be_broken(exported: Files, code: str, damage: Damage) -> None:
    files = dict(exported)
    damage(files)
    assert code in {found for found, _ in broken_rules(files)}


def test_a_file_next_to_the_data_replaces_the_description(exported: Files) -> None:
    """The schema's rule of inheritance: keys of lower files replace those of higher ones whole."""
    files = dict(exported)
    del files[SIDECAR]
    missing = {found for found, _ in broken_rules(files)}
    assert missing == {"VARIABLE_IN_NO_COLUMN"}  # now all tables' variables hold for this file
    files["data/file_metadata.json"] = b'{"variableMeasured": ["study"]}'
    assert {found for found, where in broken_rules(files) if STUDIES in where} == {
        "CSV_COLUMN_MISSING_FROM_METADATA"
    }
