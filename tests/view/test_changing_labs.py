"""Labs that change, disappear or are of another version while they are viewed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from empathylab.errors import LabError
from empathylab.store import Lab
from empathylab.store.inserts import add_respondent
from empathylab.store.listings.search_index import leave_for_later
from empathylab.store.schema.search import POSTGRES_INDEX
from empathylab.view import viewed_lab
from tests.view.viewing import add_replies, older, viewing


def test_a_lab_that_disappears_and_comes_back(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        add_replies(lab, {"one": ["the first lab"]})
    with viewing(lab) as visitor:
        assert "the first lab" in visitor.get("/replies/1").text
        shutil.move(tmp_path / "lab", tmp_path / "elsewhere")
        gone = visitor.get("/replies/1")
        assert gone.status_code == 503
        assert "the lab is no longer here" in gone.text
        assert "Traceback" not in gone.text
        with Lab.open(tmp_path / "lab") as other:
            add_replies(other, {"two": ["another lab"]})
        assert "another lab" in visitor.get("/replies/1").text


def test_what_another_process_adds_is_shown_at_once(lab: Lab, database: str | None) -> None:
    with viewing(lab, database=database) as visitor:
        assert visitor.get("/replies/1").status_code == 404
        add_replies(lab, {"one": ["new words"]})
        assert "new words" in visitor.get("/replies/1").text


def test_a_viewer_cannot_change_the_lab(lab: Lab, database: str | None) -> None:
    with Lab.open_read_only(lab.folder, database=database) as opened:
        with pytest.raises((LabError, DBAPIError)), opened.writing() as connection:
            add_respondent(connection, "x/y", "model")


def test_a_lab_of_an_older_version_is_named_and_left_alone(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        older(sqlite_lab)
        answer = visitor.get("/")
        assert answer.status_code == 503
        assert "older version of EmpathyLab" in answer.text
    command = [sys.executable, "-m", "empathylab", "view", "--lab", str(sqlite_lab.folder)]
    done = subprocess.run([*command, "--no-open"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "older version of EmpathyLab" in done.stderr
    assert "empathylab runs list" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_search_waits_for_the_replies_of_a_large_import(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite_lab.writing() as connection:
        leave_for_later(connection, 0)
    add_replies(sqlite_lab, {"one": ["rareword here"], "two": ["nothing"]})
    with viewing(sqlite_lab) as visitor:
        with monkeypatch.context() as patch:
            patch.setattr(viewed_lab, "is_read_only", lambda file: True)
            assert "leaves out 2 replies" in visitor.get("/replies?q=rareword").text
        asked = visitor.get("/replies?q=rareword").text
        assert "2 replies left" in asked
        assert "data-live" in asked
        indexing_ended()
        assert "1–1 of 1 reply<" in visitor.get("/replies?q=rareword").text


def indexing_ended() -> None:
    for thread in threading.enumerate():
        if thread.name == viewed_lab.INDEXING:
            thread.join(30)


@pytest.mark.postgres
def test_a_search_builds_the_index_that_a_large_import_dropped(
    tmp_path: Path, postgres_url: str
) -> None:
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        add_replies(lab, {"one": ["rareword here"], "two": ["nothing"]})
        with lab.writing() as connection:
            connection.exec_driver_sql(f"DROP INDEX {POSTGRES_INDEX}")
            for statement in (
                "CREATE ROLE guest LOGIN",
                "GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest",
            ):
                connection.exec_driver_sql(statement)
        guest = lab.engine.url.set(username="guest").render_as_string(hide_password=False)
        try:
            # Without the right to build it, everything is found, only more slowly.
            with viewing(lab, database=guest) as visitor:
                visitor.get("/replies?q=rareword")
                indexing_ended()
                page = visitor.get("/replies?q=rareword").text
                assert "1–1 of 1 reply<" in page
                assert "Searches take longer" in page
                assert "leaves out" not in page
            with viewing(lab, database=postgres_url) as visitor:
                assert "2 replies left" in visitor.get("/replies?q=rareword").text
                indexing_ended()
                page = visitor.get("/replies?q=rareword").text
                assert "1–1 of 1 reply<" in page
                assert "Searches take longer" not in page
        finally:
            with lab.writing() as connection:
                connection.exec_driver_sql("DROP OWNED BY guest")
                connection.exec_driver_sql("DROP ROLE guest")


def test_deleted_words_leave_the_search_index(sqlite_lab: Lab) -> None:
    from empathylab.store import schema

    add_replies(sqlite_lab, {"one": ["zyzzyvaword stays nowhere"], "two": ["kept"]})
    file = sqlite_lab.folder / "lab.sqlite"
    with sqlite_lab.writing() as connection:
        connection.execute(schema.responses.delete().where(schema.responses.c.id == 1))
    assert sqlite_lab.empty_journal()
    sqlite_lab.close()
    for part in sqlite_lab.folder.iterdir():
        if part.is_file():
            assert b"zyzzyvaword" not in part.read_bytes(), part
    assert file.is_file()
