"""Exports of a whole lab: every format, all or nothing, the same bytes for the same lab."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies
from sqlalchemy import insert, select, update

from empathylab.errors import InputError, UnknownName
from empathylab.export import export_lab, exported_tables, lab_tables, read_exported
from empathylab.export.tables import TABLES
from empathylab.store import Lab
from empathylab.store.inserts import add_respondent, now
from empathylab.store.schema import audit, responses
from empathylab.tables import harmless_cell, plain_cell
from tests.report.exports.full_lab import fill, open_study
from tests.study.archived import finished, released
from tests.study.service_examples import furnish

ODD = ["a/b\\c", '"quoted", name', "=cmd()", "🙂🙃", "../../up", "名前", "'=two", "-1+1"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("full")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        yield lab


def content(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_every_format_gives_back_every_value_with_its_type(
    full: Lab, tmp_path: Path, kind: str
) -> None:
    export_lab(full, tmp_path / "out", format=kind)  # type: ignore[arg-type]
    for name, frame in lab_tables(full).tables.items():
        if frame.height:
            again = read_exported(tmp_path / "out", name)
            assert again.rows() == frame.rows(), name
            assert again.columns == frame.columns


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "psych-ds"])
def test_the_same_lab_gives_the_same_bytes(full: Lab, tmp_path: Path, kind: str) -> None:
    for name in ("one", "two"):
        export_lab(full, tmp_path / name, format=kind)  # type: ignore[arg-type]
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.postgres
def test_both_databases_give_the_same_tables(tmp_path: Path, postgres_url: str) -> None:
    found = []
    for name, url in (("one", None), ("two", postgres_url)):
        with Lab.open(tmp_path / name, database=url) as lab:
            released(lab, tmp_path)
            furnish(lab, "b/Model", "B/model", "a/model")
            export_lab(lab, tmp_path / f"{name}-out")
        found.append(content(tmp_path / f"{name}-out"))
    assert found[0] == found[1]


def test_checksums_name_every_file_and_hold(full: Lab, tmp_path: Path) -> None:
    done = export_lab(full, tmp_path / "out")
    lines = (tmp_path / "out" / "SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    found = content(tmp_path / "out")
    assert sums == {
        name: hashlib.sha256(one).hexdigest() for name, one in found.items() if name != "SHA256SUMS"
    }
    assert {file.name: file.sha256 for file in done.files} == sums


def test_the_dictionary_is_the_same_in_three_forms(full: Lab, tmp_path: Path) -> None:
    export_lab(full, tmp_path / "out")
    rows = rows_of(tmp_path / "out" / "data_dictionary.csv")
    told = exported_tables(tmp_path / "out")
    assert {(row["table"], row["column"]): row["type"] for row in rows} == {
        (table, column): kind for table, columns in told.items() for column, kind in columns.items()
    }
    page = (tmp_path / "out" / "data_dictionary.md").read_text(encoding="utf-8")
    for table in told:
        assert f"\n## {table}\n" in page


def test_only_what_is_asked_for_is_written_even_without_rows(full: Lab, tmp_path: Path) -> None:
    export_lab(full, tmp_path / "out", what=["ratings", "comments"])
    assert set(content(tmp_path / "out")) == {
        "README.md",
        "SHA256SUMS",
        "analysis.R",
        "comments.csv",
        "croissant.json",
        "data_dictionary.csv",
        "data_dictionary.json",
        "data_dictionary.md",
        "ratings.csv",
        "versions.json",
    }
    assert read_exported(tmp_path / "out", "comments").columns == [
        "study",
        "rater",
        "block",
        "position",
        "text",
    ]


def test_identities_are_in_a_file_of_their_own_and_only_when_asked_for(
    lab: Lab, tmp_path: Path
) -> None:
    finished(lab)
    export_lab(lab, tmp_path / "without")
    done = export_lab(lab, tmp_path / "with", identities=True, who="somebody")
    path = tmp_path / "with" / "identities.csv"
    rows = rows_of(path)
    assert sorted(row["platform_id"] for row in rows) == [f"person {n}" for n in range(4)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "identities.csv" not in (tmp_path / "with" / "SHA256SUMS").read_text()
    assert "identifies people" in done.notes[0]
    rest = content(tmp_path / "with")
    del rest["identities.csv"]
    assert rest == content(tmp_path / "without")
    assert b"person 1" not in b"".join(rest.values())
    with lab.reading() as connection:
        said = connection.execute(select(audit.c.who, audit.c.action)).all()
    assert ("somebody", "export identities") in said


@pytest.mark.parametrize(
    ("kind", "place"), [("psych-ds", "out"), ("replication", "out"), ("csv", "out.zip")]
)
def test_what_is_made_to_be_passed_on_holds_no_identities(
    sqlite_lab: Lab, tmp_path: Path, kind: str, place: str
) -> None:
    finished(sqlite_lab)
    with pytest.raises(InputError, match="contain no identities"):
        export_lab(sqlite_lab, tmp_path / place, format=kind, identities=True)  # type: ignore[arg-type]
    assert not (tmp_path / place).exists()


def test_an_open_study_is_named_and_its_results_hidden(sqlite_lab: Lab, tmp_path: Path) -> None:
    open_study(sqlite_lab)
    done = export_lab(sqlite_lab, tmp_path / "out", format="replication")
    assert done.notes == (
        ("The study small is not closed: arms, and ratings by people and judges, are left out."),
    )
    assert not list((tmp_path / "out" / "tables").glob("ratings*"))
    ratings = read_exported(tmp_path / "out" / "data", "ratings")
    assert ratings["arm"].null_count() == ratings["rating"].null_count() == 4


def test_odd_names_and_formulas_come_back_as_they_were(sqlite_lab: Lab, tmp_path: Path) -> None:
    furnish(sqlite_lab, *ODD)
    texts = [
        "=1+1",
        "'=1+1",
        "''@x",
        "-5",
        "'-5",
        "\tx",
        "a\nb",
        'say "hi", now',
        "+31.3%",
        "x" * 100_000,
    ]
    with sqlite_lab.writing() as connection:
        chosen = select(responses.c.id).order_by(responses.c.id).limit(len(texts))
        numbers = connection.execute(chosen).scalars().all()
        for number, text in zip(numbers, texts, strict=True):
            connection.execute(update(responses).where(responses.c.id == number).values(text=text))
    done = export_lab(sqlite_lab, tmp_path / "out")
    again = read_exported(tmp_path / "out", "responses").sort("response")
    assert again["text"].head(len(texts)).to_list() == texts
    assert set(ODD) == set(again["respondent"])
    assert all(re.fullmatch(r"[\w.]+", file.name) for file in done.files)
    raw = (tmp_path / "out" / "responses.csv").read_text(encoding="utf-8")
    cells = [cell for row in csv.reader(io.StringIO(raw, newline="")) for cell in row]
    assert not [cell for cell in cells if cell[:1] in "=+@\t\n" and cell and cell != "+31.3%"]


@hypothesis.given(strategies.text(alphabet="'=+-@\t\n＝x1.% [,]"))
def test_a_harmless_cell_can_be_undone(text: str) -> None:
    cell = harmless_cell(text)
    assert plain_cell(cell) == text
    number = re.fullmatch(r"[+\-]?[\d.,]+%?( \[.*\])?", cell)
    assert number or not cell.startswith(("=", "+", "-", "@", "\t", "\n", "＝"))


def test_two_hundred_respondents_are_exported(sqlite_lab: Lab, tmp_path: Path) -> None:
    furnish(sqlite_lab, "a/model")
    with sqlite_lab.writing() as connection:
        row = connection.execute(select(responses)).first()
        assert row is not None
        for number in range(199):
            one = add_respondent(connection, f"model/{number}", "model")
            copy = {"situation_id": row.situation_id, "respondent_id": one, "sample": 0}
            rest = {"text": f"Reply {number}", "outcome": "valid", "added_at": now()}
            connection.execute(insert(responses), [copy | rest])
    export_lab(sqlite_lab, tmp_path / "out", format="jsonl")
    assert read_exported(tmp_path / "out", "respondents").height == 200


@pytest.mark.parametrize("kind", ["csv", "psych-ds", "replication"])
def test_an_empty_lab_is_one_sentence(sqlite_lab: Lab, tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match="the lab is empty"):
        export_lab(sqlite_lab, tmp_path / "out", format=kind)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over(full: Lab, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    (tmp_path / "file.zip").write_text("mine")
    for name in ("folder", "file.zip"):
        with pytest.raises(InputError, match="this path already"):
            export_lab(full, tmp_path / name)
    assert content(tmp_path) == {"file.zip": b"mine", "folder/mine.txt": b"mine"}


def test_an_empty_folder_is_taken(full: Lab, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    export_lab(full, tmp_path / "folder", what=["studies"])
    assert (tmp_path / "folder" / "studies.csv").is_file()


def test_the_present_folder_is_taken_where_it_is_empty(
    full: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    export_lab(full, Path(), what=["studies"])
    assert (tmp_path / "studies.csv").is_file()


def test_wrong_names_are_one_sentence_with_the_nearest(full: Lab, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'ratings'"):
        export_lab(full, tmp_path / "out", what=["ratngs"])
    with pytest.raises(UnknownName, match="there is no format 'xlsx'"):
        export_lab(full, tmp_path / "out", format="xlsx")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="every table that its analysis reads"):
        export_lab(full, tmp_path / "out", format="replication", what=["ratings"])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_neither_half_a_package_nor_a_note(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        finished(lab)
        with lab.reading() as connection:
            before = len(connection.execute(select(audit)).all())
    # The system itself refuses to let a file grow beyond 20 kB, in the middle of the tables.
    code = f"""
import resource
from pathlib import Path
from empathylab.errors import InputError
from empathylab.export import export_lab
from empathylab.store import Lab
folder = Path({str(tmp_path)!r})
with Lab.open(folder / "lab") as lab:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    for place in ("package", "package.zip"):
        try:
            export_lab(lab, folder / "out" / place)
        except InputError as error:
            print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout.count("the export cannot be written; got 'File too large'. Free some space")
        == 2
    )
    assert list((tmp_path / "out").iterdir()) == []
    with Lab.open(tmp_path / "lab") as lab, lab.reading() as connection:
        assert len(connection.execute(select(audit)).all()) == before


def test_a_zip_holds_the_files_of_the_folder(full: Lab, tmp_path: Path) -> None:
    for name in ("out", "out.zip"):
        export_lab(full, tmp_path / name, what=["studies", "ratings"])
    with zipfile.ZipFile(tmp_path / "out.zip") as packed:
        found = {name: packed.read(name) for name in packed.namelist()}
    assert found == content(tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.zip"}


def test_psych_ds_follows_the_rules_of_the_standard(full: Lab, tmp_path: Path) -> None:
    export_lab(full, tmp_path / "out", format="psych-ds")
    found = content(tmp_path / "out")
    told = json.loads(found["dataset_description.json"])
    assert told["@type"] == "Dataset"
    assert told["@context"] == "https://schema.org/"
    assert told["name"]
    assert told["description"]
    known = [item["name"] for item in told["variableMeasured"]]
    assert len(known) == len(set(known))
    assert all(item["@type"] == "PropertyValue" for item in told["variableMeasured"])
    data = [name for name in found if name.startswith("data/") and name.endswith(".csv")]
    # All but comments, partial answers and live turns, of which there are none.
    assert len(data) == len(TABLES) - 3
    for name in data:
        assert re.fullmatch(r"data/([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", name)
        header, *rows = csv.reader(io.StringIO(found[name].decode("utf-8"), newline=""))
        assert set(header) <= set(known)
        assert rows
        assert all(len(row) == len(header) for row in rows)
        beside = json.loads(found[name.replace(".csv", ".json")])
        assert [item["name"] for item in beside["variableMeasured"]] == header
    top = {name.split("/")[0] for name in found}
    assert top == {"README.md", "analysis", "data", "dataset_description.json", "documentation"}
    assert all(found.values()), "empty files are not allowed"


def test_an_exported_folder_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data_dictionary.json").write_text("[]")
    with pytest.raises(InputError, match="not the data dictionary of an export"):
        exported_tables(tmp_path)


def test_a_table_that_was_not_exported_is_named(full: Lab, tmp_path: Path) -> None:
    export_lab(full, tmp_path / "out", what=["studies"])
    with pytest.raises(UnknownName, match="there is no exported table 'ratings'"):
        read_exported(tmp_path / "out", "ratings")
