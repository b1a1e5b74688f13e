"""Full-text search over responses: an index that the database keeps up to date by itself.

SQLite has a table of FTS5 beside `responses`, filled by triggers; it holds the words and no second
copy of the texts. The index holds the responses up to the id `indexed_to`: a large import lowers
it, and its responses are indexed before the first search (`store.listings.search_index`).
PostgreSQL has an index on the words of the text; of a text longer than 100,000 characters on those
of its beginning, because PostgreSQL refuses words beyond a megabyte. A large import drops it, and
it is built before the first search; without it, a search reads every text.
"""

from __future__ import annotations

from sqlalchemy import DDL, Table, event

ALL = 2**63 - 1
"""`indexed_to` where no response waits."""
_TABLE = """
CREATE VIRTUAL TABLE response_search
USING fts5(text, content='responses', content_rowid='id', tokenize='unicode61 remove_diacritics 0')
"""
_PROGRESS = "CREATE TABLE response_search_progress (indexed_to INTEGER NOT NULL)"
_NOTHING_WAITS = "INSERT INTO response_search_progress VALUES (9223372036854775807)"
_INSERT = """
CREATE TRIGGER response_search_insert AFTER INSERT ON responses
WHEN new.id <= (SELECT indexed_to FROM response_search_progress) BEGIN
INSERT INTO response_search(rowid, text) VALUES (new.id, new.text);
END
"""
_DELETE = """
CREATE TRIGGER response_search_delete AFTER DELETE ON responses
WHEN old.id <= (SELECT indexed_to FROM response_search_progress) BEGIN
INSERT INTO response_search(response_search, rowid, text) VALUES ('delete', old.id, old.text);
END
"""
_UPDATE = """
CREATE TRIGGER response_search_update AFTER UPDATE OF text ON responses
WHEN old.id <= (SELECT indexed_to FROM response_search_progress) BEGIN
INSERT INTO response_search(response_search, rowid, text) VALUES ('delete', old.id, old.text);
INSERT INTO response_search(rowid, text) VALUES (new.id, new.text);
END
"""
POSTGRES_INDEX = "ix_responses_search"
POSTGRES_WORDS = "responses USING gin (to_tsvector('simple', left(text, 100000)))"
FORGET_DELETED = "INSERT INTO response_search(response_search) VALUES ('optimize')"
"""Rewrites SQLite's index without the words of deleted texts, which stay in it until then."""


def add_search(responses: Table) -> None:
    """Makes the index whenever the table is made."""
    for dialect, statement in (
        ("sqlite", _TABLE),
        ("sqlite", _PROGRESS),
        ("sqlite", _NOTHING_WAITS),
        ("sqlite", _INSERT),
        ("sqlite", _DELETE),
        ("sqlite", _UPDATE),
        ("postgresql", f"CREATE INDEX {POSTGRES_INDEX} ON {POSTGRES_WORDS}"),
    ):
        ddl = DDL(statement)  # type: ignore[no-untyped-call]
        event.listen(responses, "after_create", ddl.execute_if(dialect=dialect))
