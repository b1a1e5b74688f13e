"""The search index after a large import: which responses wait, and bringing them in."""

from __future__ import annotations

from sqlalchemy import Connection

from empathylab.store.database import translated_errors
from empathylab.store.lab import Lab
from empathylab.store.locks import named_lock
from empathylab.store.schema.search import ALL, POSTGRES_INDEX, POSTGRES_WORDS

_AT_ONCE = 100_000
_WORDS_BYTES = 64 * 1024 * 1024
_USUAL_WORDS_BYTES = 1024 * 1024
_WAITING = """
SELECT count(*) FROM responses WHERE id > (SELECT indexed_to FROM response_search_progress)
"""
_POSTGRES_WAITING = """
SELECT count(*) FROM responses WHERE NOT EXISTS (
SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('ix_responses_search') AND indisvalid)
"""
_BUILD_MEMORY = "256MB"
_NEXT = """
SELECT max(id) FROM (SELECT id FROM responses WHERE id > ? ORDER BY id LIMIT ?)
"""
_FILL = """
INSERT INTO response_search(rowid, text) SELECT id, text FROM responses WHERE id > ? AND id <= ?
"""
_LEAVE = "UPDATE response_search_progress SET indexed_to = min(indexed_to, ?)"
_REACHED = "UPDATE response_search_progress SET indexed_to = ?"
# How many bytes of words the index gathers in memory before it writes them.
_KEEP_WORDS = "INSERT INTO response_search(response_search, rank) VALUES ('hashsize', ?)"


def leave_for_later(connection: Connection, newest: int) -> None:
    """In SQLite, responses with ids above `newest` are not indexed as they come."""
    connection.exec_driver_sql(_LEAVE, (newest,))


def count_waiting(connection: Connection) -> int:
    """How many responses are not in the index.

    SQLite's search does not find them. PostgreSQL's reads all texts meanwhile.
    """
    sqlite = connection.dialect.name == "sqlite"
    return int(connection.exec_driver_sql(_WAITING if sqlite else _POSTGRES_WAITING).scalar_one())


def update_search_index(lab: Lab) -> None:
    """Indexes the responses that wait.

    SQLite does so in parts: a part is kept whatever becomes of the next. PostgreSQL builds the
    index while others read and write; nothing happens where another process is building it.
    """
    if lab.engine.dialect.name == "postgresql":
        with named_lock(lab.engine, lab.folder, "search-index") as lock:
            if lock.held:
                _build_index(lab)
        return
    while _index_part(lab):
        pass


def _build_index(lab: Lab) -> None:
    with translated_errors(lab.engine), lab.engine.connect() as connection:
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        if not count_waiting(connection):
            return
        # What a build that was interrupted left is kept up to date, but never searched.
        connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {POSTGRES_INDEX}")
        connection.exec_driver_sql(f"SET maintenance_work_mem = '{_BUILD_MEMORY}'")
        try:
            connection.exec_driver_sql(
                f"CREATE INDEX CONCURRENTLY {POSTGRES_INDEX} ON {POSTGRES_WORDS}"
            )
        finally:
            connection.exec_driver_sql("RESET maintenance_work_mem")


def _index_part(lab: Lab) -> bool:
    """Whether there may be more."""
    with lab.writing() as connection:
        reached = connection.exec_driver_sql(
            "SELECT indexed_to FROM response_search_progress"
        ).scalar_one()
        end = connection.exec_driver_sql(_NEXT, (reached, _AT_ONCE)).scalar_one()
        if end is None:
            connection.exec_driver_sql(_REACHED, (ALL,))
            return False
        connection.exec_driver_sql(_KEEP_WORDS, (_WORDS_BYTES,))
        connection.exec_driver_sql(_FILL, (reached, end))
        connection.exec_driver_sql(_KEEP_WORDS, (_USUAL_WORDS_BYTES,))
        connection.exec_driver_sql(_REACHED, (end,))
        return True
