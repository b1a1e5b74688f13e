"""Studies from before the lab could run any: imported ones stay as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError

from empathylab.store import Lab, schema
from empathylab.store.database import changing_schema, database_url, open_engine, transaction
from empathylab.store.inserts import now
from empathylab.store.migrate import upgrade
from empathylab.store.ratings import lab_study, raters_frame, ratings_frame
from empathylab.store.studies.arms import add_study

PROTOCOL = (
    '{"design": "between", "dimensions": '
    '[{"name": "empathy", "values": [1, 2, 3], "labels": ["Bad", "Okay", "Good"]}]}'
)
OLD = f"""
INSERT INTO respondents (id, name, kind, details, added_at)
VALUES (1, 'local/one', 'model', '{{}}', '2024-01-01');
INSERT INTO situation_sets (id, name, version, title, language, licence, validated, description,
                            fingerprint, added_at)
VALUES (1, 'mine', 1, 'Mine', 'en', 'CC0', false, '', 'x', '2024-01-01');
INSERT INTO situations (id, situation_set_id, key, emotion, valence, text)
VALUES (1, 1, 'a', 'sad', 'negative', 'It rains.');
INSERT INTO responses (id, situation_id, respondent_id, sample, text, outcome, added_at)
VALUES (1, 1, 1, 0, 'I am sorry.', 'valid', '2024-01-01');
INSERT INTO studies (id, name, title, protocol, protocol_hash, status, added_at)
VALUES (1, 'old', 'Old', '{PROTOCOL}', 'x', 'closed', '2024-01-01');
INSERT INTO raters (id, study_id, name, kind, details, added_at)
VALUES (1, 1, 'r1', 'person', '{{"age": 40}}', '2024-01-01');
INSERT INTO arms (id, study_id, name, respondent_id) VALUES (1, 1, 'one', 1);
INSERT INTO ratings (id, rater_id, response_id, arm_id, dimension, value, label)
VALUES (1, 1, 1, 1, 'empathy', 3, 'Good')
"""


def place(study: int, person: str, **values: object) -> dict[str, object]:
    row: dict[str, object] = {
        "study_id": study,
        "person": person,
        "world": "person",
        "arm": "one",
        "slot": 0,
        "status": "live",
        "traits": {},
        "language": "en",
        "arrived_at": now(),
        "claimed_at": now(),
        "seen_at": now(),
        "draft": {},
    }
    return row | values


def test_imported_studies_keep_their_ratings(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    engine = open_engine(database_url(database or f"sqlite:///{folder / 'lab.sqlite'}"))
    with changing_schema(engine) as connection:
        upgrade(connection, "0006")
    with transaction(engine, writes=True) as connection:
        # A colon in JSON is no parameter.
        for statement in OLD.split(";\n"):
            connection.exec_driver_sql(statement)
    engine.dispose()
    with Lab.open(folder, database=database) as lab:
        [rating] = ratings_frame(lab, "old").to_dicts()
        assert (rating["arm"], rating["rating"], rating["label"]) == ("one", 3.0, "Good")
        assert raters_frame(lab, "old")["age"].to_list() == [40.0]
        study = lab_study(lab, None)
        assert (study.name, study.status) == ("old", "closed")
        assert study.dimensions[0].values == (1.0, 2.0, 3.0)
        with lab.reading() as connection:
            [row] = connection.execute(text("SELECT version, secret, revision FROM studies"))
            assert tuple(row) == (1, None, 0)
            assert connection.execute(text("SELECT stopped FROM arms")).scalar() in (False, 0)


def test_a_slot_is_held_once_in_each_world_and_by_any_number_of_trials(lab: Lab) -> None:
    with lab.writing() as connection:
        study = add_study(connection, "s", "S", {"design": "between"}, status="open")
        rows = [
            place(study, "a"),
            place(study, "b", status="abandoned"),
            place(study, "c", world="simulated"),
            place(study, "d", world="test"),
            place(study, "e", world="test"),
            place(study, "f", slot=1, status="finished"),
        ]
        connection.execute(insert(schema.slots), rows)
    for taken in (place(study, "g"), place(study, "h", slot=1), place(study, "a", slot=5)):
        with pytest.raises(IntegrityError), lab.writing() as connection:
            connection.execute(insert(schema.slots), [taken])


def test_a_page_has_one_answer(lab: Lab) -> None:
    answer = {"place_id": 1, "step": "consent", "given": {}, "timing": {}, "corrections": 0}
    answer |= {"shown_at": now(), "answered_at": now()}
    with lab.writing() as connection:
        study = add_study(connection, "s", "S", {"design": "between"}, status="open")
        connection.execute(insert(schema.slots), [place(study, "a", id=1)])
        connection.execute(insert(schema.page_answers), [answer])
    with pytest.raises(IntegrityError), lab.writing() as connection:
        connection.execute(insert(schema.page_answers), [answer])


def test_deleting_a_study_deletes_all_of_it(lab: Lab) -> None:
    with lab.writing() as connection:
        study = add_study(connection, "s", "S", {"design": "between"}, status="open")
        connection.execute(insert(schema.slots), [place(study, "a")])
        connection.execute(schema.studies.delete())
        assert connection.execute(schema.slots.select()).all() == []
