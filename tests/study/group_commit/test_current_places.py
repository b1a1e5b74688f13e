"""Claims that share a round: each sees those before it, and what frees a place."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import event

from empathylab.store import Lab, schema
from empathylab.study.session.service import Closed, Saved, StudyService
from tests.study.examples import between
from tests.study.service_examples import opened, rows_of, someone, walk


@contextlib.contextmanager
def one_round(service: StudyService) -> Iterator[None]:
    """While it lasts, anyone who claims a place waits; all are then served in one transaction."""
    go, begun = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        begun.set()
        go.wait()

    service.queue.soon(wait, person="nobody", locked=True)
    begun.wait()
    try:
        yield
    finally:
        go.set()


def held(lab: Lab) -> dict[str, tuple[object, object]]:
    return {row["person"]: (row["arm"], row["slot"]) for row in rows_of(lab, schema.slots)}


def counted(lab: Lab, word: str) -> list[str]:
    """The statements with that word that the lab's database is given from now on."""
    seen: list[str] = []

    def note(_c: object, _u: object, statement: str, *_: object) -> None:
        if word in statement:
            seen.append(statement)

    event.listen(lab.engine, "before_cursor_execute", note)
    return seen


def test_claims_of_one_round_are_level_and_take_no_slot_twice(lab: Lab) -> None:
    service, _ = opened(lab)
    people = [someone(service, f"person {index}") for index in range(9)]
    read = counted(lab, "places.slot, places.world")
    with one_round(service):
        coming = [service.submit_soon(person, "consent", {"agree": "yes"}) for person in people]
    assert all(isinstance(item.result(30), Saved) for item in coming)
    places = held(lab)
    arms = [arm for arm, _ in places.values()]
    assert sorted((arms.count("one"), arms.count("two"))) == [4, 5]
    assert len(set(places.values())) == 9
    if service.queue.alone:  # elsewhere some may have been served before the round
        assert sum("places.id" not in item for item in read) == 1


def test_a_participant_who_leaves_within_a_round_makes_room_for_the_next_in_it(lab: Lab) -> None:
    service, _ = opened(lab, between(batch_size=6))
    places = sum(len(slots) for slots in service.launched.slots.values())
    people = [someone(service, f"person {index}") for index in range(places + 1)]
    for person in people[:-1]:
        walk(service, person, until="reading")
    left, last = people[0], people[-1]
    leaving = threading.Thread(target=service.leave, args=(left,), kwargs={"delete": False})
    with one_round(service):
        leaving.start()
        while not service.queue._locked.waiting:
            leaving.join(0.01)
        coming = service.submit_soon(last, "consent", {"agree": "yes"})
    done = coming.result(30)
    leaving.join()
    assert isinstance(done, Saved)
    assert not isinstance(done.following, Closed)
    assert held(lab)[last] == held(lab)[left]


def test_a_person_who_comes_back_late_in_a_round_gets_their_own_place(lab: Lab) -> None:
    service, clock = opened(lab)
    late, newcomer = someone(service, "late"), someone(service, "newcomer")
    walk(service, late, until="reading")
    own = held(lab)[late]
    clock.skip(days=1)
    with one_round(service):
        first = service.submit_soon(newcomer, "consent", {"agree": "yes"})
        second = service.submit_soon(late, "tutorial/1", {})
    assert isinstance(first.result(30), Saved)
    assert isinstance(second.result(30), Saved)
    assert held(lab)[late] == own != held(lab)[newcomer]


def test_a_participant_who_comes_back_within_a_round_counts_once(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    places = sum(len(slots) for slots in service.launched.slots.values())
    back, first, *others = (someone(service, f"person {index}") for index in range(places))
    walk(service, back, until="reading")
    limit = timedelta(minutes=service.study.time_limits.abandon_after)
    seen = next(row["seen_at"] for row in rows_of(sqlite_lab, schema.slots) if row["arm"])
    # The first claims while the one who comes back is in time still; then a second passes.
    clock.time = seen + limit - timedelta(seconds=1)
    with one_round(service):
        coming = [
            service.submit_soon(first, "consent", {"agree": "yes"}),
            service.submit_soon(back, "tutorial/1", {}),
            *(service.submit_soon(other, "consent", {"agree": "yes"}) for other in others),
        ]
    done = [item.result(30) for item in coming]
    assert not any(isinstance(item.following, Closed) for item in done if isinstance(item, Saved))
    assert len(set(held(sqlite_lab).values())) == places


def test_a_late_place_that_is_seen_while_places_are_read_stays_taken(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, clock = opened(sqlite_lab)
    late, newcomer = someone(service, "late"), someone(service, "newcomer")
    walk(service, late, until="reading")
    clock.skip(days=1)
    # On PostgreSQL another transaction may come between the two statements.
    monkeypatch.setattr("empathylab.study.group_commit.current_places.late_slots", lambda *_: [])
    walk(service, newcomer, until="reading")
    places = held(sqlite_lab)
    assert places[newcomer] != places[late]
    assert places[newcomer][0] != places[late][0]


def test_many_who_arrive_at_once_are_all_known(lab: Lab) -> None:
    service, _ = opened(lab)
    arriving = [
        threading.Thread(target=someone, args=(service, f"person {index % 10}"))
        for index in range(20)
    ]
    with one_round(service):
        for item in arriving:
            item.start()
    for item in arriving:
        item.join()
    assert len(rows_of(lab, schema.slots)) == len(rows_of(lab, schema.people)) == 10
