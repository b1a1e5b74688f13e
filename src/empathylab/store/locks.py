"""Locks that end with the process that holds them, even when it is killed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import filelock
from sqlalchemy import Engine, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from empathylab.store.database import translated_errors

_FREE = "SELECT pg_try_advisory_lock(:key)"
_OTHER_DIVISION = """
SELECT min(objid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND classid = :name AND objid <> :count
"""


class Lock(NamedTuple):
    """Whether a lock could be had, and why not."""

    held: bool
    parts: int | None = None
    """Into how many parts another process has divided the work, 1 for the whole of it; None where
    another process holds the same part, or none."""


def lock_key(name: str) -> int:
    """The name as PostgreSQL wants it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


@contextlib.contextmanager
def named_lock(
    engine: Engine, folder: Path, name: str, part: tuple[int, int] = (1, 1)
) -> Iterator[Lock]:
    """Whether the lock of that name could be had; it is given back at the end.

    On PostgreSQL it can be had in parts, such as (3, 8): each by one process, and only while no
    process holds the whole or has divided it otherwise.
    """
    if engine.dialect.name == "postgresql":
        with _advisory(engine, name, part) as lock:
            yield lock
        return
    path = folder / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = filelock.FileLock(path, blocking=False)
    try:
        file.acquire()
    except filelock.Timeout:
        yield Lock(held=False)
        return
    try:
        yield Lock(held=True)
    finally:
        file.release()


@contextlib.contextmanager
def _advisory(engine: Engine, name: str, part: tuple[int, int]) -> Iterator[Lock]:
    """PostgreSQL's own locks, tied to one connection kept open meanwhile."""
    number, count = part
    whole = lock_key(name)
    keys = {"key": whole if count == 1 else lock_key(f"{name} {number}/{count}")}
    keys |= {"name": (whole >> 16) & 0x7FFFFFFF, "count": count}
    # Connections of their own: many runs at once would take all of the pool's, and a pooled
    # connection would keep its lock.
    own = create_engine(engine.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with translated_errors(engine):
        connection = own.connect()
    try:
        # One statement after the other: who divides the work otherwise is seen by one at least.
        connection.execute(text("SELECT pg_advisory_lock_shared(:name, :count)"), keys)
        free = bool(connection.execute(text(_FREE), keys).scalar())
        other = connection.execute(text(_OTHER_DIVISION), keys).scalar() if free else None
        yield Lock(free and other is None, other)
    finally:
        # The server ends a closed connection a moment later; the lock must be free at once.
        with contextlib.suppress(DBAPIError):
            connection.execute(text("SELECT pg_advisory_unlock_all()"))
        connection.close()
        own.dispose()
