"""Many threads that write: durable when told so, and nobody pays for another's mistake."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import Connection, text

from empathylab.store import Lab, schema
from empathylab.store.writing import now
from empathylab.study.turns import Turns
from tests.study.service_examples import rows_of


def add(name: str) -> dict[str, object]:
    return {"name": name, "kind": "human", "details": {}, "added_at": now()}


def test_work_gives_what_it_gives_once_it_is_stored(lab: Lab) -> None:
    def work(connection: Connection) -> int:
        connection.execute(schema.respondents.insert(), [add("a")])
        return 7

    assert Turns(lab).write(work) == 7
    assert [row["name"] for row in rows_of(lab, schema.respondents)] == ["a"]


def test_of_many_at_once_each_is_stored_or_gets_its_own_error(lab: Lab) -> None:
    turns = Turns(lab)
    stored: list[str] = []
    failed: list[str] = []
    held = threading.Event()

    def write(name: str) -> None:
        def work(connection: Connection) -> str:
            held.wait()
            connection.execute(schema.respondents.insert(), [add(name)])
            if name.endswith("5"):
                raise ValueError(name)
            return name

        try:
            stored.append(turns.write(work))
        except ValueError as error:
            failed.append(str(error))

    threads = [threading.Thread(target=write, args=(f"person {one}",)) for one in range(12)]
    for one in threads:
        one.start()
    held.set()
    for one in threads:
        one.join()
    assert failed == ["person 5"]
    assert len(stored) == 11
    assert {row["name"] for row in rows_of(lab, schema.respondents)} == set(stored)


def test_what_cannot_be_committed_is_told_to_everybody(sqlite_lab: Lab) -> None:
    turns = Turns(sqlite_lab)
    told: list[str] = []
    held = threading.Event()

    def write() -> None:
        def work(connection: Connection) -> None:
            held.wait()
            connection.execute(text("INSERT INTO nowhere VALUES (1)"))

        with pytest.raises(Exception, match="nowhere") as caught:
            turns.write(work)
        told.append(str(caught.value))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for one in threads:
        one.start()
    held.set()
    for one in threads:
        one.join()
    assert len(told) == 4
