"""SQLite's search index may lag behind a large import: up to which response it is complete."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"

_TRIGGERS = {
    "insert": """AFTER INSERT ON responses
WHEN new.id <= (SELECT indexed_to FROM response_search_progress) BEGIN
INSERT INTO response_search(rowid, text) VALUES (new.id, new.text);
END""",
    "delete": """AFTER DELETE ON responses
WHEN old.id <= (SELECT indexed_to FROM response_search_progress) BEGIN
INSERT INTO response_search(response_search, rowid, text) VALUES ('delete', old.id, old.text);
END""",
    "update": """AFTER UPDATE OF text ON responses
WHEN old.id <= (SELECT indexed_to FROM response_search_progress) BEGIN
INSERT INTO response_search(response_search, rowid, text) VALUES ('delete', old.id, old.text);
INSERT INTO response_search(rowid, text) VALUES (new.id, new.text);
END""",
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute("CREATE TABLE response_search_progress (indexed_to INTEGER NOT NULL)")
    op.execute("INSERT INTO response_search_progress VALUES (9223372036854775807)")
    for name, does in _TRIGGERS.items():
        op.execute(f"DROP TRIGGER response_search_{name}")
        op.execute(f"CREATE TRIGGER response_search_{name} {does}")
