"""SQLite's search index after a large import: which responses wait, and bringing them in."""

from __future__ import annotations

from sqlalchemy import Connection

from empathylab.store.lab import Lab
from empathylab.store.schema.search import ALL

_AT_ONCE = 100_000
_WORDS_BYTES = 64 * 1024 * 1024
_USUAL_WORDS_BYTES = 1024 * 1024
_WAITING = """
SELECT count(*) FROM responses WHERE id > (SELECT indexed_to FROM response_search_progress)
"""
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
    """Responses with ids above `newest` are not indexed as they come."""
    connection.exec_driver_sql(_LEAVE, (newest,))


def count_waiting(connection: Connection) -> int:
    """How many responses the search does not find yet."""
    if connection.dialect.name != "sqlite":
        return 0
    return int(connection.exec_driver_sql(_WAITING).scalar_one())


def update_search_index(lab: Lab) -> None:
    """Indexes the responses that wait, in parts: a part is kept whatever becomes of the next."""
    while _index_part(lab):
        pass


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
