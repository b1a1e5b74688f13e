"""Labs that cannot be written to, and database files without content."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from empathylab.errors import LabError
from empathylab.store import Lab
from empathylab.store.inserts import add_respondent
from empathylab.store.schema import respondents


def made(folder: Path) -> None:
    with Lab.open(folder) as lab, lab.writing() as connection:
        add_respondent(connection, "x/y", "model")


def forbid(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Makes the folder read-only, for the superuser too."""
    allowed = os.access

    def access(path: object, mode: int) -> bool:
        inside = str(path).startswith(str(folder))
        return not (mode == os.W_OK and inside) and allowed(str(path), mode)

    monkeypatch.setattr(os, "access", access)
    for path in folder.rglob("*"):
        path.chmod(0o500 if path.is_dir() else 0o400)
    folder.chmod(0o500)


def test_a_lab_that_cannot_be_written_to_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "lab")
    forbid(monkeypatch, tmp_path / "lab")
    before = sorted(path.name for path in (tmp_path / "lab").iterdir())
    with Lab.open(tmp_path / "lab", create=False) as lab:
        assert lab.frame(sa.select(respondents.c.name))["name"].to_list() == ["x/y"]
        with pytest.raises(LabError, match="cannot be written to"), lab.writing() as connection:
            add_respondent(connection, "a/b", "model")
    assert sorted(path.name for path in (tmp_path / "lab").iterdir()) == before


def test_an_old_lab_that_cannot_be_written_to_is_to_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "lab")
    with Lab.open(tmp_path / "lab") as lab, lab.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0009'"))
    forbid(monkeypatch, tmp_path / "lab")
    with pytest.raises(LabError, match="Copy the folder"):
        Lab.open(tmp_path / "lab", create=False)


@pytest.mark.parametrize("create", [True, False])
def test_an_empty_database_file_is_refused(tmp_path: Path, create: bool) -> None:
    file = tmp_path / "lab.sqlite"
    file.touch()
    os.utime(file, (time.time() - 60,) * 2)
    with pytest.raises(LabError, match="an empty file"):
        Lab.open(tmp_path, create=create)
    assert file.stat().st_size == 0


def test_a_file_that_another_process_has_just_begun_is_not_refused(tmp_path: Path) -> None:
    (tmp_path / "lab.sqlite").touch()
    Lab.open(tmp_path).close()
