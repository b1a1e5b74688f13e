"""The lab: a folder with a database, reports and exports."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import polars as pl
from sqlalchemy import URL, Connection, Engine, Select

from empathylab.errors import LabError, RunInUse
from empathylab.store.database import database_url, empty_journal, open_engine, transaction
from empathylab.store.frames import read_frame
from empathylab.store.locks import named_lock
from empathylab.store.migrate import (
    require_latest,
    require_replica,
    schema_version,
    upgrade_to_latest,
)
from empathylab.store.migrations import HEAD

DATABASE_FILE = "lab.sqlite"
REPLICA = "EMPATHYLAB_REPLICA_URL"
_BEGINNING_SECONDS = 10


class Lab:
    """A user's workspace. Open it with `Lab.open`; it is a context manager."""

    def __init__(self, folder: Path, url: URL, *, read_only: bool = False) -> None:
        self.folder = folder
        self.engine = open_engine(url, read_only=read_only)
        self._replica: Engine | None = None

    @classmethod
    def open_to_analyse(cls, folder: Path) -> Lab:
        """The lab in that folder; it reads from the replica where one is named.

        What the analysis keeps is written to the lab itself.
        """
        lab = cls.open(folder, create=False)
        replica = os.environ.get(REPLICA)
        if replica and lab.engine.dialect.name == "postgresql":
            lab._replica = open_engine(database_url(replica, where=REPLICA), read_only=True)
            with _closed_on_error(lab), lab.reading() as connection:
                require_replica(connection)
        return lab

    @classmethod
    def open(cls, folder: Path, *, create: bool = True, database: str | None = None) -> Lab:
        """The lab in that folder, made if it is not there, migrated if it is old."""
        if not create and database is None and not has_lab(folder):
            raise LabError(
                "there is no lab here",
                where=str(folder),
                remedy="Make one with `empathylab evaluate`, or name another with --lab.",
            )
        database = database or _configured_url()
        file = folder / DATABASE_FILE
        if database is None and not create and is_read_only(file):
            return cls._read_only(folder, file)
        _make_folder(folder)
        if database is None:
            _refuse_empty(file)
        url = lab_url(folder, database)
        _make_file(url)
        lab = cls(folder, url)
        with _closed_on_error(lab):
            upgrade_to_latest(lab.engine)
        return lab

    @classmethod
    def open_read_only(cls, folder: Path, *, database: str | None = None) -> Lab:
        """The lab in that folder, to look at: nothing in it can be changed, not even its schema.

        It is read from the replica where one is named.
        """
        configured = _configured_url()
        database = database or (configured and os.environ.get(REPLICA)) or configured
        file = folder / DATABASE_FILE
        if database is None and not file.is_file():
            raise LabError(
                "there is no lab here", where=str(folder), remedy="Name another with --lab."
            )
        if database is None and is_read_only(file):
            return cls._read_only(folder, file)
        if database is None:
            _refuse_empty(file)
        url = lab_url(folder, database)
        lab = cls(folder, url, read_only=True)
        with _closed_on_error(lab), lab.reading() as connection:
            require_latest(connection, where=str(folder))
        return lab

    @classmethod
    def _read_only(cls, folder: Path, file: Path) -> Lab:
        """A lab that cannot be written to: it can be listed and analysed."""
        # Without a journal beside it nobody writes, and SQLite need not put files there.
        journal = Path(f"{file}-wal")
        still = not (journal.is_file() and journal.stat().st_size)
        query = {"mode": "ro", "uri": "true"} | ({"immutable": "1"} if still else {})
        name = f"file:{quote(str(file.resolve()))}"
        lab = cls(folder, URL.create("sqlite", database=name, query=query))
        with _closed_on_error(lab), lab.reading() as connection:
            if (version := schema_version(connection)) != HEAD:
                raise LabError(
                    "this lab was made by another version of EmpathyLab and cannot be written to",
                    where=str(folder),
                    got=f"schema {version}, this version has {HEAD}",
                    remedy="Copy the folder to a place you can write to, and use the copy.",
                )
        return lab

    @property
    def reports(self) -> Path:
        return self.folder / "reports"

    def reading(self) -> contextlib.AbstractContextManager[Connection]:
        """A transaction that reads one consistent state."""
        return transaction(self._replica or self.engine, writes=False)

    def writing(self) -> contextlib.AbstractContextManager[Connection]:
        """A transaction that is durable once it has ended, or leaves no trace."""
        return transaction(self.engine, writes=True)

    def empty_journal(self) -> bool:
        """Whether what was deleted can no longer be read in the database's files."""
        return empty_journal(self.engine)

    def frame(self, query: Select[tuple[object, ...]]) -> pl.DataFrame:
        """The query's rows as a frame, with the types of its columns even when empty."""
        with self.reading() as connection:
            return read_frame(connection, query)

    @contextlib.contextmanager
    def exclusive(self, name: str, *, what: str, part: tuple[int, int] = (1, 1)) -> Iterator[None]:
        """Holds a named piece of work, so that no other process does it at the same time.

        Or a part of it, such as (3, 8), where the lab is on PostgreSQL.
        """
        if part[1] > 1 and self.engine.dialect.name != "postgresql":
            raise LabError(
                "work can be divided only in a lab on PostgreSQL, which several machines can reach",
                where=str(self.folder),
                remedy="Set EMPATHYLAB_DATABASE_URL, or leave out --shard.",
            )
        with named_lock(self.engine, self.folder, re.sub(r"[^\w-]+", "-", name), part) as lock:
            if not lock.held:
                raise RunInUse(
                    f"another process is working on {_divided(what, part[1], lock.parts)}",
                    where=str(self.folder),
                    remedy="Wait until it ends, then run the same command again to resume.",
                )
            yield

    def close(self) -> None:
        self.engine.dispose()
        if self._replica is not None:
            self._replica.dispose()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _closed_on_error(lab: Lab) -> Iterator[None]:
    try:
        yield
    except BaseException:
        lab.close()
        raise


def _divided(what: str, parts: int, other: int | None) -> str:
    """The work that another process has begun, and how it divides it."""
    if other is None:
        return what if parts == 1 else f"the same shard of {what}"
    if other == 1:
        return f"{what}, which it has not divided into shards"
    return f"{what}, which it has divided into {other} shards"


def has_lab(folder: Path) -> bool:
    """Whether there is a lab to open."""
    return _configured_url() is not None or (folder / DATABASE_FILE).is_file()


def lab_url(folder: Path, database: str | None = None) -> URL:
    """Where the lab's database is: as given, as configured, or the file in its folder."""
    database = database or _configured_url()
    file = folder / DATABASE_FILE
    return database_url(database) if database else URL.create("sqlite", database=str(file))


def _configured_url() -> str | None:
    return os.environ.get("EMPATHYLAB_DATABASE_URL") or None


def is_read_only(file: Path) -> bool:
    """Whether SQLite cannot write to the lab's file."""
    return not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def _refuse_empty(file: Path) -> None:
    """Refuses a database file without content; a process that begins one leaves it for a moment."""
    if not file.is_file() or file.stat().st_size or Path(f"{file}-wal").exists():
        return
    if time.time() - file.stat().st_mtime > _BEGINNING_SECONDS:
        raise LabError(
            "the lab's database is an empty file",
            where=str(file),
            remedy="Restore it from a backup, or delete it to begin a new lab.",
        )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError as error:
        raise LabError(
            "the lab's folder cannot be made",
            where=str(folder),
            got=error.strerror,
            remedy="Give another folder with --lab or EMPATHYLAB_LAB.",
        ) from error
    if not writable:
        raise LabError(
            "the lab's folder is not writable",
            where=str(folder),
            remedy="Change its permissions, or give another folder with --lab or EMPATHYLAB_LAB.",
        )


def _make_file(url: URL) -> None:
    """Makes SQLite's file, so that only its owner reads it: it holds people's ids and secrets.

    The files that SQLite puts beside it get the same permissions.
    """
    file = url.database or ""
    if url.get_backend_name() != "sqlite" or not file or file.startswith("file:"):
        return
    # What cannot be made here cannot be opened there, which says why.
    with contextlib.suppress(OSError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
