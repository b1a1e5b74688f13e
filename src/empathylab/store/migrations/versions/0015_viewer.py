"""Search in responses, indexes for long lists, and results of analyses that are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_TABLE = """
CREATE VIRTUAL TABLE response_search
USING fts5(text, content='responses', content_rowid='id', tokenize='unicode61 remove_diacritics 0')
"""
_INSERT = """
CREATE TRIGGER response_search_insert AFTER INSERT ON responses BEGIN
INSERT INTO response_search(rowid, text) VALUES (new.id, new.text);
END
"""
_DELETE = """
CREATE TRIGGER response_search_delete AFTER DELETE ON responses BEGIN
INSERT INTO response_search(response_search, rowid, text) VALUES ('delete', old.id, old.text);
END
"""
_UPDATE = """
CREATE TRIGGER response_search_update AFTER UPDATE OF text ON responses BEGIN
INSERT INTO response_search(response_search, rowid, text) VALUES ('delete', old.id, old.text);
INSERT INTO response_search(rowid, text) VALUES (new.id, new.text);
END
"""
_POSTGRES = """
CREATE INDEX ix_responses_search ON responses
USING gin (to_tsvector('simple', left(text, 100000)))
"""
_REBUILD = "INSERT INTO response_search(response_search) VALUES ('rebuild')"
_TOTALS = (
    "run_id",
    "outcome",
    "reused_from",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "answered_at",
)


def upgrade() -> None:
    op.create_table(
        "cached_results",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_cached_results")),
    )
    op.create_index("ix_answers_totals", "answers", list(_TOTALS))
    op.create_index("ix_responses_outcome_id", "responses", ["outcome", "id"])
    sqlite = (_TABLE, _INSERT, _DELETE, _UPDATE, _REBUILD)
    for statement in sqlite if op.get_bind().dialect.name == "sqlite" else (_POSTGRES,):
        op.execute(statement)
