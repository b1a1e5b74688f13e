"""Adding to the lab, and reading it back as frames."""

from __future__ import annotations

import dataclasses
import threading
from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
import sqlalchemy as sa

from empathylab.errors import InputError
from empathylab.scales import builtin_scale, scale_from_dict
from empathylab.situations import builtin_set
from empathylab.store import Lab, responses_frame, schema
from empathylab.store.administrations import read_appraisals
from empathylab.store.inserts import (
    add_item_answers,
    add_respondent,
    add_scale,
    add_situation_set,
    insert_returning_ids,
)
from empathylab.store.queries import scales_frame, situation_sets_frame

NOW = datetime(2025, 5, 1, 12, 30, tzinfo=UTC)


def test_adding_a_set_twice_changes_nothing(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    with lab.writing() as connection:
        first = add_situation_set(connection, dialogues)
    with lab.writing() as connection:
        second = add_situation_set(connection, dialogues)
    assert first == second
    assert len(first) == len(dialogues)
    assert situation_sets_frame(lab)["situations"].to_list() == [192]


def test_other_texts_under_the_same_version_are_refused(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    changed = dataclasses.replace(dialogues, title="Something else")
    with lab.writing() as connection:
        add_situation_set(connection, dialogues)
    with pytest.raises(InputError, match="Raise the set's version"), lab.writing() as connection:
        add_situation_set(connection, changed)


def test_a_respondents_kind_cannot_change(lab: Lab) -> None:
    with lab.writing() as connection:
        add_respondent(connection, "human", "human")
    with pytest.raises(InputError, match="is a human"), lab.writing() as connection:
        add_respondent(connection, "human", "model")


def test_a_scale_comes_back_as_it_was(lab: Lab) -> None:
    panas = builtin_scale("panas")
    with lab.writing() as connection:
        assert add_scale(connection, panas) == add_scale(connection, panas)
    import json

    [definition] = scales_frame(lab)["definition"]
    assert scale_from_dict(json.loads(definition)) == panas


def test_times_keep_their_zone(lab: Lab) -> None:
    moment = datetime(2025, 5, 1, 14, 30, tzinfo=timezone(timedelta(hours=2)))
    row = {"name": "r", "kind": "human", "details": {}, "added_at": moment}
    with lab.writing() as connection:
        insert_returning_ids(connection, schema.respondents, [row])
    frame = lab.frame(sa.select(schema.respondents.c.added_at))
    assert frame["added_at"].to_list() == [NOW]


def test_numbered_inserts_keep_their_order(lab: Lab) -> None:
    rows = [
        {"name": f"respondent {n}", "kind": "human", "details": {"n": n}, "added_at": NOW}
        for n in range(2_500)
    ]
    with lab.writing() as connection:
        ids = insert_returning_ids(connection, schema.respondents, rows)
    table = schema.respondents
    found = lab.frame(sa.select(table.c.id, table.c.name)).sort("id")
    names = dict(zip(found["id"], found["name"], strict=True))
    assert [names[number] for number in ids] == [row["name"] for row in rows]


def test_administrations_and_their_items_come_back_as_frames(lab: Lab) -> None:
    with lab.writing() as connection:
        situation_ids = add_situation_set(connection, builtin_set("appraisal"))
        row = {
            "respondent_id": add_respondent(connection, "local/x", "model"),
            "scale_id": add_scale(connection, builtin_scale("panas")),
            "situation_id": situation_ids["fear-social-1"],
            "phase": "evoked",
            "counterpart": False,
            "mode": "free",
            "order_index": 0,
            "item_order": list(range(1, 21)),
            "repeat": 0,
            "outcome": "valid",
            "added_at": NOW,
        }
        [number] = insert_returning_ids(connection, schema.administrations, [row])
        add_item_answers(connection, [(number, {1: 5, 2: 1})])
    frame = read_appraisals(lab).administrations
    assert frame.select("respondent", "scale", "emotion", "phase").row(0) == (
        "local/x",
        "panas",
        "fear",
        "evoked",
    )
    assert read_appraisals(lab).answers.rows() == [(number, 1, 5.0), (number, 2, 1.0)]


def test_an_evoked_administration_needs_its_situation(lab: Lab) -> None:
    with pytest.raises(sa.exc.IntegrityError), lab.writing() as connection:
        row = {
            "respondent_id": add_respondent(connection, "local/x", "model"),
            "scale_id": add_scale(connection, builtin_scale("panas")),
            "phase": "evoked",
            "counterpart": False,
            "mode": "free",
            "order_index": 0,
            "item_order": [],
            "repeat": 0,
            "outcome": "valid",
            "added_at": NOW,
        }
        insert_returning_ids(connection, schema.administrations, [row])


def test_empty_frames_have_their_types(lab: Lab) -> None:
    frame = responses_frame(lab)
    assert frame.is_empty()
    assert frame.schema["sample"] == pl.Int64
    assert frame.schema["text"] == pl.String
    assert read_appraisals(lab).administrations.schema["counterpart"] == pl.Boolean
    times = lab.frame(sa.select(schema.respondents.c.added_at))
    assert times.schema["added_at"] == pl.Datetime("us", "UTC")


def test_writers_in_several_threads_lose_nothing(lab: Lab) -> None:
    def write(first: int) -> None:
        for number in range(first, first + 20):
            row = {"name": f"r{number}", "kind": "human", "details": {}, "added_at": NOW}
            with lab.writing() as connection:
                insert_returning_ids(connection, schema.respondents, [row])

    threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 80, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    query = sa.select(sa.func.count(schema.respondents.c.name.distinct()).label("n"))
    assert lab.frame(query)["n"].to_list() == [80]
