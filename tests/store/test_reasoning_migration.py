"""Labs from before reasoning was kept apart: their replies are re-checked once."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from sqlalchemy import select, text

from empathylab.store import Lab
from empathylab.store.database import database_url, open_engine, transaction
from empathylab.store.migrate import upgrade
from empathylab.store.schema import answers, responses

OLD = """
INSERT INTO respondents (id, name, kind, details, added_at) VALUES
  (1, 'x/r1', 'model', '{}', '2024-01-01'), (2, 'people', 'human', '{}', '2024-01-01');
INSERT INTO situation_sets (id, name, version, title, language, licence, validated, description,
                            fingerprint, added_at)
VALUES (1, 'mine', 1, 'Mine', 'en', 'CC0', false, '', 'x', '2024-01-01');
INSERT INTO situations (id, situation_set_id, key, emotion, valence, text)
VALUES (1, 1, 'a', 'sad', 'negative', 'It rains.');
INSERT INTO runs (id, protocol, respondent_id, fingerprint, generation, fresh, settings, planned,
                  software, started_at)
VALUES (1, 'respond', 1, 'f', 0, false, '{}', 4, 'empathylab 0.1', '2024-01-01');
INSERT INTO studies (id, name, title, protocol, protocol_hash, status, added_at)
VALUES (1, 'old', 'Old', '{}', 'x', 'closed', '2024-01-01');
INSERT INTO raters (id, study_id, name, kind, details, added_at)
VALUES (1, 1, 'r', 'person', '{}', '2024-01-01')
"""
TEXTS = [
    ("<think>hm</think>I am sorry.", "stop"),
    ("<think>hm and hm", "length"),
    ("I am sorry. I <3 you.", "stop"),
    ("<think>seen</think>Well done.", "stop"),
]


def test_reasoning_leaves_stored_replies_unless_raters_have_seen_them(
    tmp_path: Path, database: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    engine = open_engine(database_url(database or f"sqlite:///{folder / 'lab.sqlite'}"))
    with transaction(engine, writes=True) as connection:
        upgrade(connection, "0010")
        for statement in OLD.split(";"):
            connection.execute(text(statement))
        for number, (said, finish) in enumerate(TEXTS, start=1):
            connection.execute(
                text(
                    "INSERT INTO answers (id, run_id, key, fingerprint, messages, parameters, text,"
                    " finish_reason, outcome, prompt_tokens, completion_tokens, latency, attempts,"
                    " asked_at, answered_at) VALUES (:id, 1, :key, 'f', '[]', '{}', :said, :finish,"
                    " 'valid', 1, 1, 0.1, 1, '2024-01-01', '2024-01-01')"
                ),
                {"id": number, "key": f"k{number}", "said": said, "finish": finish},
            )
            connection.execute(
                text(
                    "INSERT INTO responses (id, situation_id, respondent_id, answer_id, sample,"
                    " text, outcome, added_at) VALUES (:id, 1, 1, :id, 0, :said, 'valid',"
                    " '2024-01-01')"
                ),
                {"id": number, "said": said},
            )
        connection.execute(
            text(
                "INSERT INTO responses (id, situation_id, respondent_id, sample, text, outcome,"
                " added_at) VALUES (9, 1, 2, 0, '<think>a person wrote this', 'valid',"
                " '2024-01-01')"
            )
        )
        connection.execute(
            text(
                "INSERT INTO ratings (id, rater_id, response_id, dimension, value)"
                " VALUES (1, 1, 4, 'empathy', 3)"
            )
        )
    engine.dispose()
    with caplog.at_level(logging.WARNING), Lab.open(folder, database=database) as lab:
        replies = lab.frame(select(responses.c.text, responses.c.outcome).order_by(responses.c.id))
        assert list(replies.iter_rows()) == [
            ("I am sorry.", "valid"),
            ("", "reasoning_cut_off"),
            ("I am sorry. I <3 you.", "valid"),
            ("<think>seen</think>Well done.", "valid"),
            ("<think>a person wrote this", "valid"),
        ]
        kept = lab.frame(select(answers.c.text, answers.c.reasoning).order_by(answers.c.id))
        assert list(kept.iter_rows())[:3] == [
            ("I am sorry.", "hm"),
            ("", "hm and hm"),
            ("I am sorry. I <3 you.", None),
        ]
    [note] = [record.getMessage() for record in caplog.records if record.name == "empathylab"]
    assert "removed from 2 stored replies. 1 more replies hold reasoning" in note
