"""Opening the lab's database: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from empathylab.errors import LabBusy, LabError, MissingExtra
from empathylab.store.schema.search import FORGET_DELETED

_BUSY_SECONDS = 30
_POOL_SECONDS = 10
_JOURNAL_SECONDS = 2
_REMEDY_URL = "Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
_WHERE_URL = "EMPATHYLAB_DATABASE_URL"
_REPLICA = "EMPATHYLAB_REPLICA_URL"
_POOL = "EMPATHYLAB_DATABASE_CONNECTIONS"


def database_url(text: str, *, where: str = _WHERE_URL) -> URL:
    """The URL as SQLAlchemy takes it, with the driver this lab uses."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        # The text itself may hold a password, so it is not repeated.
        raise LabError(
            "the database URL cannot be read", where=where, remedy=_REMEDY_URL
        ) from error
    family = url.drivername.partition("+")[0]
    if family == "sqlite" and url.database in (None, "", ":memory:"):
        raise LabError(
            "a lab cannot be kept in memory",
            where=where,
            got=text,
            remedy="Unset the variable to use the SQLite file in the lab's folder.",
        )
    if family == "sqlite":
        return url.set(drivername="sqlite")
    if family not in ("postgresql", "postgres"):
        raise LabError(
            "the lab's database must be SQLite or PostgreSQL",
            where=where,
            got=family,
            remedy=_REMEDY_URL,
        )
    if importlib.util.find_spec("psycopg") is None:
        raise MissingExtra("psycopg", "postgres", "A lab on PostgreSQL")
    return url.set(drivername="postgresql+psycopg")


def open_engine(url: URL, *, read_only: bool = False) -> Engine:
    """An engine whose transactions are real ones, on either database."""
    if url.get_backend_name() != "sqlite":
        # A request that waits longer than this for a connection fails and can be tried again.
        most = connections()
        only = {"options": "-c default_transaction_read_only=on"} if read_only else {}
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=most - most // 3,
            max_overflow=most // 3,
            pool_timeout=_POOL_SECONDS,
            connect_args=only,
        )
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    if read_only:
        event.listen(engine, "connect", _forbid_writing)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def connections() -> int:
    """How many connections to PostgreSQL one process keeps at most.

    A server's 40 threads share them, and PostgreSQL accepts 100 by default: three server processes
    fit.
    """
    given = os.environ.get(_POOL) or "30"
    if not re.fullmatch(r"[1-9][0-9]{0,3}", given):
        raise LabError(
            "the number of connections must be a whole number of 1 or more",
            where=_POOL,
            got=given,
            remedy="For example: 30.",
        )
    return int(given)


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own transaction handling is off: it would begin late and commit around DDL.
    connection.isolation_level = None
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):  # a lab that cannot be written to keeps its journal
            raise
    connection.execute("PRAGMA synchronous = FULL")  # an acknowledged answer survives a power cut
    connection.execute("PRAGMA foreign_keys = ON")
    # Deleted words would stay readable in the file until the room is used again.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")


def _forbid_writing(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("PRAGMA query_only = ON")


def _begin_sqlite(connection: Connection) -> None:
    # A writer asks for the write lock at once; upgrading a read later could fail under load.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextlib.contextmanager
def transaction(engine: Engine, *, writes: bool) -> Iterator[Connection]:
    """A transaction: committed at the end, rolled back on any error."""
    with translated_errors(engine), engine.connect() as connection:
        connection = connection.execution_options(writes=writes)
        with connection.begin():
            yield connection


@contextlib.contextmanager
def changing_schema(engine: Engine) -> Iterator[Connection]:
    """A writing transaction in which SQLite's tables can be made again.

    SQLite changes a column by copying its table and dropping the old one; with foreign keys
    enforced, the drop would take along every row that refers to it. So they are enforced again
    only afterwards, and checked before the commit.
    """
    if engine.dialect.name != "sqlite":
        with transaction(engine, writes=True) as connection:
            yield connection
        return
    with translated_errors(engine), engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        driver.execute("PRAGMA foreign_keys = OFF")
        try:
            connection = connection.execution_options(writes=True)
            with connection.begin():
                yield connection
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                if broken:
                    raise LabError(
                        "rows refer to others that are not there",
                        where=str(engine.url.database),
                        got=f"{len(broken)} in the table {broken[0][0]}",
                        remedy="Restore the lab from a backup.",
                    )
        finally:
            driver.execute("PRAGMA foreign_keys = ON")


def empty_journal(engine: Engine) -> bool:
    """Whether what was deleted is gone from SQLite's search index and from the file beside it.

    Changes wait in that file, readable, until all of them are in the database itself. A reader at
    this very moment is waited for, though not for long: the next deletion does it, too.
    """
    if engine.dialect.name != "sqlite":
        return True
    with transaction(engine, writes=True) as connection:
        connection.exec_driver_sql(FORGET_DELETED)
    with translated_errors(engine), engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        driver.execute(f"PRAGMA busy_timeout = {_JOURNAL_SECONDS * 1000}")
        try:
            busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            driver.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
    return not busy


@contextlib.contextmanager
def translated_errors(engine: Engine) -> Iterator[None]:
    """Turns database errors that a user can fix into messages."""
    try:
        yield
    except DBAPIError as error:
        if (sentence := _sentence(engine.url, error)) is not None:
            raise sentence from error
        raise
    except PoolTimeout as error:
        raise LabError(
            f"no connection to the database became free within {_POOL_SECONDS} s",
            where=engine.url.render_as_string(hide_password=True),
            remedy=f"Try again. If it happens again, increase {_POOL}, or check what keeps the "
            "database server busy.",
        ) from error


def _sentence(url: URL, error: DBAPIError) -> LabError | None:
    where = url.render_as_string(hide_password=True)
    message = str(error.orig).strip()
    if url.get_backend_name() == "sqlite":
        where = url.database or where
        return _sqlite_sentence(where, message)
    sqlstate: Any = getattr(error.orig, "sqlstate", None)
    if sqlstate in ("53100", "53200"):
        return LabError(
            "the database server is full",
            where=where,
            got=message,
            remedy="Free some disk space or memory on the server.",
        )
    unheard = sqlstate is None and isinstance(error, OperationalError | InterfaceError)
    refused = sqlstate is not None and sqlstate[:2] in ("08", "28", "3D", "57")
    if error.connection_invalidated or unheard or refused:
        return LabError(
            "the database cannot be reached",
            where=where,
            got=" ".join(message.split())[:300],
            remedy=f"Check that the server is running and that {_configured()} correct.",
        )
    if sqlstate in ("40001", "40P01"):
        return LabBusy(
            "other processes were changing the same rows of the database",
            where=where,
            remedy="Try again.",
        )
    if sqlstate == "55P03":
        return LabBusy(
            "other processes are using a table of the lab, so its schema cannot be updated now; "
            "nothing was changed",
            where=where,
            remedy="Try again. If it happens again, wait for long analyses and imports to end.",
        )
    if sqlstate == "42501":
        return LabError(
            "the database user lacks a permission",
            where=where,
            got=message,
            remedy="Grant it to the user of the lab's database.",
        )
    return None


def _configured() -> str:
    return f"{_WHERE_URL} and {_REPLICA} are" if os.environ.get(_REPLICA) else f"{_WHERE_URL} is"


def _sqlite_sentence(where: str, message: str) -> LabError | None:
    for sign, what, remedy in (
        ("disk is full", "the disk is full; everything that was confirmed is kept", _ROOM),
        (
            "disk I/O error",
            "the disk cannot be written to; everything that was confirmed is kept",
            _ROOM,
        ),
        ("readonly database", "the lab cannot be written to", "Change its permissions."),
        ("unable to open", "the lab's database cannot be opened", "Check --lab."),
        (
            "not a database",
            "this file is not a lab's database",
            "Give another folder with --lab, or restore the file.",
        ),
        ("malformed", "the lab's database is damaged", "Restore it from a backup."),
        (
            "locked",
            f"another process has locked the lab for over {_BUSY_SECONDS} s",
            "Wait for it to end, then run the same command again.",
        ),
    ):
        if sign in message:
            return LabError(what, where=where, remedy=remedy)
    return None


_ROOM = "Free some space, then run the same command again."
