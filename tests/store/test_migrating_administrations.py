"""Administrations from before imports were known."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from empathylab.store import Lab, administrations_frame, item_answers_frame
from empathylab.store.database import database_url, open_engine, transaction
from empathylab.store.migrate import upgrade

OLD = """
INSERT INTO respondents (id, name, kind, details, added_at)
VALUES (1, 'local/one', 'model', '{}', '2024-01-01');
INSERT INTO scales (id, name, version, fingerprint, definition, added_at)
VALUES (1, 'panas', 1, 'x', '{}', '2024-01-01');
INSERT INTO administrations (id, respondent_id, scale_id, phase, counterpart, mode, order_index,
                             item_order, repeat, outcome, added_at)
VALUES (1, 1, 1, 'default', false, 'free', 0, '[1]', 0, 'valid', '2024-01-01');
INSERT INTO item_answers (administration_id, item, value) VALUES (1, 1, 4.0)
"""


def test_administrations_and_their_answers_are_kept(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    engine = open_engine(database_url(database or f"sqlite:///{folder / 'lab.sqlite'}"))
    with transaction(engine, writes=True) as connection:
        upgrade(connection, "0002")
        for statement in OLD.split(";"):
            connection.execute(text(statement))
    engine.dispose()
    with Lab.open(folder, database=database) as lab:
        assert administrations_frame(lab)["phase"].to_list() == ["default"]
        assert item_answers_frame(lab)["value"].to_list() == [4.0]
