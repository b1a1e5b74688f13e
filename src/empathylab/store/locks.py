"""Locks that end with the process that holds them, even when it is killed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import filelock
from sqlalchemy import Engine, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from empathylab.store.database import translated_errors


@contextlib.contextmanager
def named_lock(engine: Engine, folder: Path, name: str) -> Iterator[bool]:
    """Whether the lock of that name could be had; it is given back at the end."""
    if engine.dialect.name == "postgresql":
        with _advisory(engine, name) as got:
            yield got
        return
    path = folder / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(path, blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextlib.contextmanager
def _advisory(engine: Engine, name: str) -> Iterator[bool]:
    """PostgreSQL's own lock, tied to one connection kept open meanwhile."""
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    # Connections of their own: many runs at once would take all of the pool's, and a pooled
    # connection would keep its lock.
    own = create_engine(engine.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with translated_errors(engine):
        connection = own.connect()
    try:
        yield bool(
            connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar()
        )
    finally:
        # The server ends a closed connection a moment later; the lock must be free at once.
        with contextlib.suppress(DBAPIError):
            connection.execute(text("SELECT pg_advisory_unlock_all()"))
        connection.close()
        own.dispose()
