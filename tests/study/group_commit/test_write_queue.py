"""Many who write: durable when told so, and nobody pays for another's mistake."""

from __future__ import annotations

import functools
import threading
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from empathylab.errors import LabBusy
from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study.group_commit.batches import Batch
from empathylab.study.group_commit.write_queue import WriteQueue
from empathylab.study.session.service import Saved
from tests.study.service_examples import START, opened, rows_of, someone


def add(name: str) -> dict[str, object]:
    return {"name": name, "kind": "human", "details": {}, "added_at": now()}


def test_work_gives_what_it_gives_once_it_is_stored(lab: Lab) -> None:
    def work(connection: Connection) -> int:
        connection.execute(schema.respondents.insert(), [add("a")])
        return 7

    assert WriteQueue(lab).write(work) == 7
    assert [row["name"] for row in rows_of(lab, schema.respondents)] == ["a"]


def test_of_many_at_once_each_is_stored_or_gets_its_own_error(lab: Lab) -> None:
    turns = WriteQueue(lab)
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

    threads = [threading.Thread(target=write, args=(f"person {index}",)) for index in range(12)]
    for thread in threads:
        thread.start()
    held.set()
    for thread in threads:
        thread.join()
    assert failed == ["person 5"]
    assert len(stored) == 11
    assert {row["name"] for row in rows_of(lab, schema.respondents)} == set(stored)


def test_what_cannot_be_committed_is_told_to_everybody(sqlite_lab: Lab) -> None:
    turns = WriteQueue(sqlite_lab)
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
    for thread in threads:
        thread.start()
    held.set()
    for thread in threads:
        thread.join()
    assert len(told) == 4


class Held:
    """A line that stands still, so that whatever comes waits in it together."""

    def __init__(self, turns: WriteQueue) -> None:
        self._turns = turns
        self._go = threading.Event()
        self._begun = threading.Event()

    def __enter__(self) -> None:
        threading.Thread(target=self._turns.write, args=(self._wait,)).start()
        self._begun.wait()

    def _wait(self, connection: Connection) -> None:
        self._begun.set()
        self._go.wait()

    def __exit__(self, *_: object) -> None:
        self._go.set()


def test_what_waits_together_is_done_in_one_transaction(lab: Lab) -> None:
    service, _ = opened(lab)
    people = [someone(service, f"person {index}") for index in range(5)]
    turns = WriteQueue(lab, service.launched.row)
    with Held(turns):
        # The round that serves someone is what comes back.
        coming = [
            turns.soon(lambda shared: shared, person=person, locked=False) for person in people
        ]
    assert len({id(item.result()) for item in coming}) == 1


def test_one_person_twice_is_served_in_two_transactions(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "one")
    turns = WriteQueue(lab, service.launched.row)
    with Held(turns):
        coming = [turns.soon(lambda shared: shared, person=person, locked=False) for _ in range(2)]
    first, second = (item.result() for item in coming)
    assert first is not second


def test_the_work_of_one_person_keeps_its_order_over_full_batches(sqlite_lab: Lab) -> None:
    queue = WriteQueue(sqlite_lab)
    done: list[str] = []
    people = ["ann", "ann", *(f"person {number}" for number in range(80)), "ann"]
    with Held(queue):
        coming = [
            queue.soon(lambda shared, name=f"{name} {number}": done.append(name), person=name)  # type: ignore[misc]
            for number, name in enumerate(people)
        ]
    for item in coming:
        item.result(timeout=30)
    assert [name for name in done if name.startswith("ann")] == ["ann 0", "ann 1", "ann 82"]


def test_work_that_ends_its_thread_holds_nobody_up(sqlite_lab: Lab) -> None:
    def stop(connection: Connection) -> None:
        raise SystemExit

    queue = WriteQueue(sqlite_lab)
    with pytest.raises(SystemExit):
        queue.write(stop)
    assert queue.soon(lambda shared: 7).result(timeout=30) == 7


def test_a_place_is_claimed_when_its_turn_comes_not_when_it_was_asked_for(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    person = someone(service, "ann")
    with Held(service.queue):
        coming = service.submit_soon(person, "consent", {"agree": "yes"})
        clock.skip(minutes=10)
    assert isinstance(coming.result(timeout=30), Saved)
    (slot,) = rows_of(sqlite_lab, schema.slots)
    assert slot["claimed_at"] > START + timedelta(minutes=10)


def test_a_double_click_is_stored_once_and_acknowledged_twice(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "one")
    with Held(service.queue):
        coming = [service.submit_soon(person, "consent", {"agree": "yes"}) for _ in range(2)]
    assert [type(item.result()) for item in coming] == [Saved, Saved]
    assert len(rows_of(lab, schema.page_answers)) == 1


def test_an_error_in_one_turn_leaves_the_transaction_to_the_others(lab: Lab) -> None:
    service, _ = opened(lab)
    people = [someone(service, f"person {index}") for index in range(4)]
    turns = WriteQueue(lab, service.launched.row)

    def work(name: str, shared: Batch) -> Batch:
        shared.change_slot(shared.slot(name).id, {"language": "xx"})
        if name == people[1]:
            raise ValueError(name)
        return shared

    with Held(turns):
        coming = [
            turns.soon(functools.partial(work, person), person=person, locked=False)
            for person in people
        ]
    with pytest.raises(ValueError, match=people[1]):
        coming.pop(1).result()
    assert len({id(item.result()) for item in coming}) == 1
    changed = {row["person"] for row in rows_of(lab, schema.slots) if row["language"] == "xx"}
    assert changed == set(people) - {people[1]}


def test_two_processes_that_serve_the_same_people_do_not_block_each_other(lab: Lab) -> None:
    service, _ = opened(lab)
    people = [someone(service, f"person {index}") for index in range(20)]
    services = [WriteQueue(lab, service.launched.row) for _ in range(2)]

    def work(name: str, number: int, shared: Batch) -> None:
        row = shared.slot(name)
        shared.change_slot(row.id, {"draft": {"count": row.draft.get("count", 0) + 1}})

    coming = [
        turns.soon(functools.partial(work, one, number), person=one, locked=number % 3 == 0)
        for number in range(4)
        for order, turns in ((people, services[0]), (people[::-1], services[1]))
        for one in order
    ]
    for item in coming:
        item.result(timeout=60)
    assert [row["draft"] for row in rows_of(lab, schema.slots)] == [{"count": 8}] * 20


def test_a_participant_who_no_longer_waits_holds_nobody_up(lab: Lab) -> None:
    service, _ = opened(lab)
    turns = WriteQueue(lab, service.launched.row)
    held = threading.Event()
    ann, ben, cem, dee = (someone(service, name) for name in ("ann", "ben", "cem", "dee"))
    first = turns.soon(lambda _: held.wait(), person=ann, locked=False)
    gone = turns.soon(lambda _: 1, person=ben, locked=False)
    last = turns.soon(lambda _: 2, person=cem, locked=False)
    assert gone.cancel()
    held.set()
    assert first.result(10)
    assert last.result(10) == 2
    assert turns.soon(lambda _: 3, person=dee, locked=False).result() == 3


def test_work_that_met_others_at_the_same_rows_is_done_again(lab: Lab) -> None:
    tries = []

    def work(connection: Connection) -> str:
        tries.append(1)
        if len(tries) < 3:
            raise LabBusy("others were there", remedy="Try again.")
        connection.execute(schema.respondents.insert(), [add("a")])
        return "stored"

    assert WriteQueue(lab).write(work) == "stored"
    assert len(rows_of(lab, schema.respondents)) == 1
