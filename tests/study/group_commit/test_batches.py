"""Several people's turns in one transaction: nothing read too early, nothing written too late."""

from __future__ import annotations

import pytest

from empathylab.store import Lab, schema
from empathylab.study.group_commit.batches import Batch
from empathylab.study.session.service import StudyService
from tests.study.service_examples import opened, rows_of, someone


def drafts(lab: Lab) -> dict[str, object]:
    return {row["person"]: row["draft"] for row in rows_of(lab, schema.slots)}


def answer(place: int, step: str, service: StudyService) -> dict[str, object]:
    now = service.now()
    return {
        "place_id": place,
        "step": step,
        "given": {"agree": "yes"},
        "shown_at": now,
        "answered_at": now,
        "timing": {},
        "corrections": 0,
    }


def test_what_several_change_is_written_at_the_end(lab: Lab) -> None:
    service = opened(lab)[0]
    people = [someone(service, name) for name in ("a", "b", "c")]
    with lab.writing() as connection:
        shared = Batch(connection, service.launched.row, people)
        for number, one in enumerate(people):
            shared.begin()
            row = shared.slot(one)
            shared.change_slot(row.id, {"draft": {"step": str(number)}})
            shared.add_answer(answer(row.id, "consent", service))
        shared.flush()
    assert drafts(lab) == {one: {"step": str(number)} for number, one in enumerate(people)}
    assert len(rows_of(lab, schema.page_answers)) == 3


def test_a_turn_that_is_dropped_leaves_the_others_as_they_are(lab: Lab) -> None:
    service = opened(lab)[0]
    kept, dropped = someone(service, "a"), someone(service, "b")
    with lab.writing() as connection:
        shared = Batch(connection, service.launched.row, [kept, dropped])
        shared.begin()
        shared.change_slot(shared.slot(kept).id, {"draft": {"step": "kept"}})
        shared.begin()
        shared.change_slot(shared.slot(dropped).id, {"draft": {"step": "lost"}})
        shared.drop()
        shared.flush()
    assert drafts(lab) == {kept: {"step": "kept"}, dropped: {}}


def test_what_a_dropped_turn_made_known_is_read_again(sqlite_lab: Lab) -> None:
    with sqlite_lab.writing() as connection:
        shared = Batch(connection, 1)
        for _ in range(2):
            shared.begin()
            places = shared.known("places", lambda _: ["finished"])
            assert places == ["finished"]
            places.append("claimed by the turn that is dropped")
            shared.drop()


def test_a_participant_who_takes_the_connection_finds_all_changes_written(lab: Lab) -> None:
    service = opened(lab)[0]
    people = [someone(service, name) for name in ("a", "b")]
    with lab.writing() as connection:
        shared = Batch(connection, service.launched.row, people)
        shared.begin()
        shared.change_slot(shared.slot(people[0]).id, {"language": "xx"})
        shared.begin()
        assert not shared.touched
        query = schema.slots.select().where(schema.slots.c.language == "xx")
        assert [row.person for row in shared.connection.execute(query)] == people[:1]
        assert shared.touched


def test_a_participant_whose_row_another_changed_is_read_anew(lab: Lab) -> None:
    service = opened(lab)[0]
    first, second = someone(service, "a"), someone(service, "b")
    with lab.writing() as connection:
        shared = Batch(connection, service.launched.row, [first, second])
        update = schema.slots.update().where(schema.slots.c.person == second)
        shared.connection.execute(update.values(language="xx"))
        shared.forget(second)
        assert shared.slot(second).language == "xx"
        assert shared.slot(first).language != "xx"


def test_answers_are_given_in_their_order_to_whom_they_belong(lab: Lab) -> None:
    service = opened(lab)[0]
    people = [someone(service, name) for name in ("a", "b", "c")]
    with lab.writing() as connection:
        shared = Batch(connection, service.launched.row, people)
        first, second, _ = (shared.slot(person).id for person in people)
        for place, step in ((first, "one"), (second, "two"), (first, "three")):
            shared.add_answer(answer(place, step, service))
        shared.flush()
        again = Batch(connection, service.launched.row, people)
        steps = [[item.step for item in again.given(again.slot(who).id)] for who in people]
    assert steps == [["one", "three"], ["two"], []]


@pytest.mark.parametrize("read", [True, False])
def test_nobody_is_known_by_a_key_that_nobody_has(lab: Lab, read: bool) -> None:
    service = opened(lab)[0]
    with lab.writing() as connection:
        shared = Batch(connection, service.launched.row, ["nobody"] if read else [])
        assert shared.slot("nobody") is None
