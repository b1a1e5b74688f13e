"""Opening labs: new, old, newer, unusable."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, make_url, text

from empathylab.errors import LabError, LabTooNew, RunInUse
from empathylab.store import Lab
from empathylab.store.database import changing_schema, database_url, open_engine, transaction
from empathylab.store.migrate import schema_version, upgrade
from empathylab.store.migrations import HEAD
from empathylab.store.schema import metadata


def test_a_new_lab_has_todays_schema(lab: Lab) -> None:
    with lab.reading() as connection:
        assert schema_version(connection) == HEAD


def test_a_new_lab_is_what_the_migrations_give(tmp_path: Path, database: str | None) -> None:
    engine = open_engine(database_url(database or f"sqlite:///{tmp_path / 'migrated.sqlite'}"))
    with changing_schema(engine) as connection:
        upgrade(connection, HEAD)
        opts = {"compare_type": True, "include_object": is_declared}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []
        migrated = tables_of(connection)
        if database:  # the same one is used again
            for schema in ("DROP SCHEMA public CASCADE", "CREATE SCHEMA public"):
                connection.execute(text(schema))
    engine.dispose()
    with Lab.open(tmp_path / "lab", database=database) as lab, lab.reading() as connection:
        assert tables_of(connection) == migrated
    assert len(migrated) > 30


def is_declared(_thing: object, name: str | None, *_: object) -> bool:
    """Whether the schema declares it as an object: the search index is made by statements."""
    return not str(name).startswith(("response_search", "ix_responses_search"))


def tables_of(connection: Connection) -> dict[str, Any]:
    """All that the database knows of its tables, whatever the order in which it was made."""
    found = inspect(connection)
    return {
        table: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"], column["default"])
                for column in found.get_columns(table)
            },
            "primary": found.get_pk_constraint(table),
            # SQLite gives no name to a key that a step added to a table that was there.
            "foreign": in_order(key | {"name": ""} for key in found.get_foreign_keys(table)),
            "unique": in_order(found.get_unique_constraints(table)),
            "checks": in_order(found.get_check_constraints(table)),
            "indexes": in_order(found.get_indexes(table)),
        }
        for table in found.get_table_names()
    }


def in_order(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Sorted texts; the condition of an index is a clause, whose own text tells more."""
    return sorted(
        str(
            {
                **item,
                "dialect_options": {
                    name: str(value).replace("<>", "!=") for name, value in options.items()
                },
            }
        )
        for item in found
        for options in [item.get("dialect_options", {})]
    )


def test_head_is_the_newest_migration() -> None:
    import empathylab.store.migrations as migrations

    files = (Path(str(migrations.__file__)).parent / "versions").glob("0*.py")
    assert max(path.name[:4] for path in files) == HEAD


def test_an_older_lab_is_migrated_and_keeps_its_data(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    url = database_url(database or f"sqlite:///{folder / 'lab.sqlite'}")
    engine = open_engine(url)
    with transaction(engine, writes=True) as connection:
        upgrade(connection, "0001")
        connection.execute(
            text(
                "INSERT INTO respondents (name, kind, details, added_at) "
                "VALUES ('human', 'human', '{}', '2024-01-01')"
            )
        )
    engine.dispose()
    with Lab.open(folder, database=database) as lab, lab.reading() as connection:
        assert schema_version(connection) == HEAD
        assert connection.execute(text("SELECT name FROM respondents")).scalar() == "human"
        assert connection.execute(text("SELECT count(*) FROM ratings")).scalar() == 0


def test_a_newer_lab_is_refused_with_a_sentence(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "lab"
    with Lab.open(folder, database=database) as lab, lab.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(LabTooNew, match="newer EmpathyLab.*schema 9999.*pip install --upgrade"):
        Lab.open(folder, database=database)


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "lab.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.close()
    with pytest.raises(LabError, match="belongs to another program"):
        Lab.open(tmp_path)
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("invoices",)]
    connection.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lab.sqlite").write_text("hello, this is not a database at all" * 50)
    with pytest.raises(LabError, match="not a lab's database"):
        Lab.open(tmp_path)


def test_a_missing_lab_is_not_made_by_readers(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="there is no lab here"):
        Lab.open(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone can become somebody else")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    script = (
        "import os, pathlib, sys\n"
        "from empathylab.errors import LabError\n"
        "from empathylab.store import Lab\n"
        "os.setuid(65534)\n"
        "try:\n"
        "    Lab.open(pathlib.Path(sys.argv[1]))\n"
        "except LabError as error:\n"
        "    print(error)\n"
    )
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent == Path(tempfile.gettempdir()):
            break
        parent.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert "is not writable" in done.stdout
    assert "--lab" in done.stdout


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lab").write_text("")
    with pytest.raises(LabError, match="cannot be made.*--lab"):
        Lab.open(tmp_path / "lab")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("not a url", "cannot be read"),
        ("sqlite://", "cannot be kept in memory"),
        ("mysql://root:secret@localhost/x", "SQLite or PostgreSQL"),
        ("postgresql://someone:secret@127.0.0.1:1/x", "cannot be reached"),
    ],
)
def test_a_wrong_database_url_is_one_sentence_without_the_password(
    tmp_path: Path, url: str, sentence: str
) -> None:
    with pytest.raises(LabError, match=sentence) as caught:
        Lab.open(tmp_path, database=url)
    assert "secret" not in str(caught.value)


@pytest.mark.postgres
def test_a_database_that_does_not_exist_is_one_sentence(tmp_path: Path, postgres_url: str) -> None:
    url = make_url(postgres_url).set(database="nosuch").render_as_string(hide_password=False)
    with pytest.raises(LabError, match="cannot be reached.*EMPATHYLAB_DATABASE_URL"):
        Lab.open(tmp_path, database=url)


def test_a_full_disk_is_one_sentence_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    with Lab.open(tmp_path) as lab:
        with lab.writing() as connection:
            connection.execute(
                text("INSERT INTO respondents VALUES (1, 'kept', 'human', '{}', '2024')")
            )
        # SQLite itself reports a full disk when a database reaches its page limit.
        with pytest.raises(LabError, match="disk is full.*Free some space"):
            with lab.writing() as connection:
                pages = connection.execute(text("PRAGMA page_count")).scalar()
                connection.execute(text(f"PRAGMA max_page_count = {pages}"))
                connection.execute(
                    text("INSERT INTO respondents VALUES (2, :name, 'human', '{}', '2024')"),
                    {"name": "x" * 1_000_000},
                )
    with Lab.open(tmp_path) as lab, lab.reading() as connection:
        assert connection.execute(text("SELECT name FROM respondents")).scalars().all() == ["kept"]


def test_sqlite_is_in_wal_mode_with_foreign_keys_on(sqlite_lab: Lab) -> None:
    with sqlite_lab.reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2


def test_only_the_owner_reads_the_labs_file_and_those_beside_it(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Lab.open(tmp_path / "lab") as lab, lab.writing() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
            found = {path.name: path.stat().st_mode & 0o777 for path in lab.folder.iterdir()}
    finally:
        os.umask(before)
    held = ("lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm")
    assert found == dict.fromkeys(held, 0o600)


def test_a_failed_transaction_leaves_no_trace(lab: Lab) -> None:
    insert = text(
        "INSERT INTO respondents (name, kind, details, added_at) "
        "VALUES ('a', 'human', '{}', '2024-01-01')"
    )
    with pytest.raises(RuntimeError), lab.writing() as connection:
        connection.execute(insert)
        raise RuntimeError
    with lab.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM respondents")).scalar() == 0


def test_work_held_by_one_process_is_refused_to_another(
    lab: Lab, tmp_path: Path, database: str | None
) -> None:
    with (
        Lab.open(tmp_path / "lab", database=database) as other,
        lab.exclusive("run-1", what="the run"),
    ):
        with pytest.raises(RunInUse, match="another process is working on the run"):
            with other.exclusive("run-1", what="the run"):
                pass
        with other.exclusive("run-2", what="another run"):
            pass
    with Lab.open(tmp_path / "lab", database=database) as other:
        with other.exclusive("run-1", what="the run"):
            pass


def test_many_processes_may_open_a_new_lab_at_once(tmp_path: Path, database: str | None) -> None:
    script = (
        "import pathlib, sys\n"
        "from empathylab.store import Lab\n"
        "Lab.open(pathlib.Path(sys.argv[1]), database=sys.argv[2] or None).close()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "lab"), database or ""]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
