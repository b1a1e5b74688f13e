"""A whole lab in one file, and back: everything the database holds, with rows counted.

The file is a ZIP archive of `manifest.json` and the database: a copy of the SQLite file, or what
PostgreSQL's own `pg_dump` writes. Nothing is migrated: a lab of an older version is kept as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, inspect, text

from empathylab import __version__
from empathylab.errors import InputError, LabError, LabTooNew
from empathylab.store.database import open_engine, translated_errors
from empathylab.store.inserts import now
from empathylab.store.lab import lab_url
from empathylab.store.migrate import schema_version
from empathylab.store.migrations import HEAD

_FORMAT = "empathylab lab backup"
_MEMBERS = {"sqlite": "lab.sqlite", "postgresql": "lab.pgdump"}
_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_FOR_ANY_USER = ("--no-owner", "--no-privileges")
# Tables that SQLite keeps for its search index; they follow from the responses.
_SEARCH = "response_search"


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds, or what was restored from one."""

    file: str
    database: str
    schema: str
    made_at: str
    rows: Mapping[str, int]
    """By table."""


def back_up(folder: Path, file: Path) -> Backup:
    """Writes the lab into a new file while it may be in use, and checks the rows in it."""
    if file.exists():
        raise InputError("the file already exists", where=str(file), remedy="Name another.")
    if not file.parent.is_dir():
        raise InputError(
            "there is no such folder", where=str(file.parent), remedy="Create it first."
        )
    url = lab_url(folder)
    kind = url.get_backend_name()
    if kind == "sqlite" and not Path(url.database or "").is_file():
        raise LabError("there is no lab here", where=str(folder), remedy="Name another with --lab.")
    engine = open_engine(url, read_only=True)
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".backup-") as place:
            copy = Path(place) / _MEMBERS[kind]
            version, rows = (_copy if kind == "sqlite" else _dump)(engine, copy)
            done = Backup(file.name, kind, version, now().isoformat(timespec="seconds"), rows)
            _pack(done, copy, file)
    finally:
        engine.dispose()
    return done


def restore(folder: Path, file: Path) -> Backup:
    """Restores the lab of a backup into an empty place, and checks that every row is there."""
    with _opened(file) as archive:
        backup = _manifest(archive, file)
        url = lab_url(folder)
        kind = url.get_backend_name()
        if backup.database != kind:
            remedy = (
                "Unset EMPATHYLAB_DATABASE_URL."
                if backup.database == "sqlite"
                else "Set EMPATHYLAB_DATABASE_URL to an empty database."
            )
            raise InputError(
                f"this is a backup of a lab on {_NAMES[backup.database]}",
                where=str(file),
                got=f"a lab on {_NAMES[kind]}",
                remedy=remedy,
            )
        try:
            if kind == "sqlite":
                _restore_file(archive, Path(url.database or ""), backup)
            else:
                _restore_dump(archive, url, backup)
        except (zipfile.BadZipFile, OSError, EOFError) as error:
            raise InputError(
                "the backup is damaged", where=str(file), got=str(error), remedy="Use another."
            ) from error
    return backup


def _copy(engine: Engine, copy: Path) -> tuple[str, dict[str, int]]:
    """SQLite's online copy of one state of the lab, and the rows of that state."""
    with translated_errors(engine), engine.connect() as connection:
        version, rows = _known(connection), _counts(connection)
        driver: Any = connection.connection.driver_connection
        with closing(sqlite3.connect(copy)) as target:
            driver.backup(target)
    _check_file(copy, rows, copy.name)
    return version, rows


def _dump(engine: Engine, copy: Path) -> tuple[str, dict[str, int]]:
    """What `pg_dump` writes of one state of the lab, and the rows of that state."""
    with translated_errors(engine), engine.connect() as connection:
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            program = _program("pg_dump", connection)
            snapshot = connection.execute(text("SELECT pg_export_snapshot()")).scalar_one()
            version, rows = _known(connection), _counts(connection)
            options = ("--format=custom", f"--snapshot={snapshot}", f"--file={copy}")
            _run([program, *options, *_FOR_ANY_USER], engine.url)
    return version, rows


def _known(connection: Connection) -> str:
    version = schema_version(connection)
    if version is None:
        raise LabError(
            "the database contains no lab",
            where=connection.engine.url.render_as_string(hide_password=True),
            remedy="Check EMPATHYLAB_DATABASE_URL and --lab.",
        )
    return version


def _counts(connection: Connection) -> dict[str, int]:
    tables = [name for name in inspect(connection).get_table_names() if _SEARCH not in name]
    quoted = connection.dialect.identifier_preparer.quote
    return {
        name: int(connection.execute(text(f"SELECT count(*) FROM {quoted(name)}")).scalar_one())  # noqa: S608
        for name in sorted(tables)
    }


def _pack(backup: Backup, copy: Path, file: Path) -> None:
    manifest = {
        "format": _FORMAT,
        "software": __version__,
        "database": backup.database,
        "schema": backup.schema,
        "made_at": backup.made_at,
        "rows": backup.rows,
    }
    begun = copy.with_name("backup.zip")
    with zipfile.ZipFile(begun, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("manifest.json", json.dumps(manifest, indent=1))
        # PostgreSQL's dump is compressed already.
        packed = zipfile.ZIP_STORED if backup.database == "postgresql" else zipfile.ZIP_DEFLATED
        archive.write(copy, copy.name, packed)
    begun.chmod(0o600)  # it holds people's ids and secrets
    with begun.open("rb") as written:
        os.fsync(written.fileno())
    begun.rename(file)


def _opened(file: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except OSError as error:
        raise InputError(
            "the file cannot be read", where=str(file), got=error.strerror, remedy="Check the path."
        ) from error
    except zipfile.BadZipFile as error:
        raise _no_backup(file) from error


def _no_backup(file: Path) -> InputError:
    return InputError(
        "this file is not a backup of a lab",
        where=str(file),
        remedy="Give a file that `empathylab lab backup` wrote; a study's archive goes into a lab "
        "with `empathylab data import study`.",
    )


def _manifest(archive: zipfile.ZipFile, file: Path) -> Backup:
    try:
        manifest = json.loads(archive.read("manifest.json"))
        backup = Backup(
            file.name,
            manifest["database"],
            manifest["schema"],
            manifest["made_at"],
            dict(manifest["rows"]),
        )
        if manifest["format"] != _FORMAT or _MEMBERS[backup.database] not in archive.namelist():
            raise _no_backup(file)
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise _no_backup(file) from error
    if backup.schema > HEAD:
        raise LabTooNew(
            "this backup comes from a newer version of EmpathyLab",
            where=str(file),
            got=f"schema {backup.schema}, this version knows up to {HEAD}",
            remedy="Run: pip install --upgrade empathylab",
        )
    return backup


def _restore_file(archive: zipfile.ZipFile, target: Path, backup: Backup) -> None:
    if target.exists():
        raise LabError(
            "there is already a lab here",
            where=str(target),
            remedy="Name a new folder with --lab.",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".restore-") as place:
        copy = Path(place) / target.name
        with archive.open(_MEMBERS["sqlite"]) as packed, copy.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
            unpacked.flush()
            os.fsync(unpacked.fileno())
        _check_file(copy, backup.rows, backup.file)
        copy.chmod(0o600)
        copy.rename(target)


def _check_file(copy: Path, rows: Mapping[str, int], where: str) -> None:
    engine = open_engine(URL.create("sqlite", database=str(copy)), read_only=True)
    try:
        with translated_errors(engine), engine.connect() as connection:
            sound = connection.execute(text("PRAGMA quick_check")).scalar_one() == "ok"
            _compare(rows, _counts(connection) if sound else {}, where)
    finally:
        engine.dispose()


def _compare(expected: Mapping[str, int], restored: Mapping[str, int], where: str) -> None:
    differ = [name for name in expected if expected[name] != restored.get(name)]
    if differ:
        raise LabError(
            f"the copy differs from the lab in {len(differ)} tables",
            where=where,
            got=f"{restored.get(differ[0], 0)} rows of {differ[0]}, not {expected[differ[0]]}",
            remedy="Check the disk, and try again.",
        )


def _restore_dump(archive: zipfile.ZipFile, url: URL, backup: Backup) -> None:
    engine = open_engine(url)
    try:
        with translated_errors(engine), engine.connect() as connection:
            program = _program("pg_restore", connection)
            if inspect(connection).get_table_names():
                raise LabError(
                    "the database is not empty",
                    where=url.render_as_string(hide_password=True),
                    remedy="Give an empty one in EMPATHYLAB_DATABASE_URL.",
                )
        with tempfile.TemporaryDirectory() as place:
            archive.extract(_MEMBERS["postgresql"], place)
            dump = f"{place}/{_MEMBERS['postgresql']}"
            options = ("--single-transaction", "--exit-on-error", f"--dbname={url.database}")
            _run([program, *options, *_FOR_ANY_USER, dump], url)
        with translated_errors(engine), engine.connect() as connection:
            _compare(backup.rows, _counts(connection), backup.file)
    finally:
        engine.dispose()


def _program(name: str, connection: Connection) -> str:
    """PostgreSQL's program, which must not be older than the server."""
    path = shutil.which(name)
    if path is None:
        raise LabError(
            f"PostgreSQL's program {name} is not installed",
            remedy="Install its client programs (Debian: apt install postgresql-client).",
        )
    version = subprocess.run(
        [path, "--version"], capture_output=True, text=True, check=False
    ).stdout
    number = re.search(r"(\d+)", version)
    server = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    if number is None or int(number[1]) < server:
        raise LabError(
            f"{name} is older than the database server",
            where=path,
            got=f"{version.strip() or 'no version'}, server {server}",
            remedy=f"Install PostgreSQL's client programs of version {server} or newer.",
        )
    return path


def _run(command: list[str], url: URL) -> None:
    """Runs one of PostgreSQL's programs; address and password stay out of the process list."""
    query = {name: str(value) for name, value in url.query.items()}
    settings = {
        "PGHOST": url.host or query.get("host"),
        "PGPORT": str(url.port) if url.port else query.get("port"),
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
        "PGSSLMODE": query.get("sslmode"),
    }
    environment = os.environ | {name: value for name, value in settings.items() if value}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(
            f"{Path(command[0]).name} failed",
            where=url.render_as_string(hide_password=True),
            got=" ".join(done.stderr.split())[:300],
            remedy="Fix what it names, and try again.",
        )
