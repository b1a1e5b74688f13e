"""Administrations and responses from before imports were known."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import inspect, select, text

from empathylab.errors import LabBusy
from empathylab.store import (
    Lab,
    migrate,
    responses_frame,
    schema,
)
from empathylab.store.database import database_url, open_engine, transaction
from empathylab.store.migrations import ONLINE_SINCE

OLD = """
INSERT INTO respondents (id, name, kind, details, added_at)
VALUES (1, 'local/one', 'model', '{}', '2024-01-01');
INSERT INTO scales (id, name, version, fingerprint, definition, added_at)
VALUES (1, 'panas', 1, 'x', '{}', '2024-01-01');
INSERT INTO administrations (id, respondent_id, scale_id, phase, counterpart, mode, order_index,
                             item_order, repeat, outcome, added_at)
VALUES (1, 1, 1, 'default', false, 'free', 0, '[1]', 0, 'valid', '2024-01-01');
INSERT INTO item_answers (administration_id, item, value) VALUES (1, 1, 4.0);
INSERT INTO situation_sets (id, name, version, title, language, licence, validated, description,
                            fingerprint, added_at)
VALUES (1, 'mine', 1, 'Mine', 'en', 'CC0', false, '', 'x', '2024-01-01');
INSERT INTO situations (id, situation_set_id, key, emotion, valence, text)
VALUES (1, 1, 'a', 'sad', 'negative', 'It rains.');
INSERT INTO responses (id, situation_id, respondent_id, sample, text, outcome, added_at)
VALUES (1, 1, 1, 0, 'I am sorry.', 'valid', '2024-01-01')
"""


def test_what_an_older_lab_holds_is_kept(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    engine = open_engine(database_url(database or f"sqlite:///{folder / 'lab.sqlite'}"))
    with transaction(engine, writes=True) as connection:
        migrate.upgrade(connection, "0002")
        for statement in OLD.split(";"):
            connection.execute(text(statement))
    engine.dispose()
    with Lab.open(folder, database=database) as lab:
        assert lab.frame(select(schema.administrations.c.phase))["phase"].to_list() == ["default"]
        assert lab.frame(select(schema.item_answers.c.value))["value"].to_list() == [4.0]
        # Their tables were remade on the way; what refers to them must not go with the old ones.
        [response] = responses_frame(lab).to_dicts()
        assert (response["situation"], response["text"]) == ("a", "I am sorry.")


@pytest.mark.postgres
def test_an_update_waits_for_nobody_and_leaves_nothing_half_done(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "_LOCK_SECONDS", 1)
    engine = open_engine(database_url(postgres_url))
    with transaction(engine, writes=True) as connection:
        migrate.upgrade(connection, ONLINE_SINCE)
    with engine.connect() as other:
        # Another user's rating that is not committed yet: an index cannot be built past it.
        other.execute(text("LOCK TABLE ratings IN ROW EXCLUSIVE MODE"))
        with pytest.raises(LabBusy, match="its schema cannot be updated now"):
            Lab.open(tmp_path / "lab", database=postgres_url)
        assert migrate.schema_version(other) == ONLINE_SINCE
    Lab.open(tmp_path / "lab", database=postgres_url).close()
    with engine.connect() as connection:
        invalid = text("SELECT count(*) FROM pg_index WHERE NOT indisvalid")
        assert connection.execute(invalid).scalar() == 0
        found = {index["name"] for index in inspect(connection).get_indexes("ratings")}
        assert "ix_ratings_arm_id_rater_id" in found
    engine.dispose()
