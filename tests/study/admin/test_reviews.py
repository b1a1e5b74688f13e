"""What is decided of participants and said to them."""

from __future__ import annotations

import dataclasses

import pytest

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.store.studies.reviews import forget_reviews
from empathylab.study.admin.reviews import Inbox, Reviews
from empathylab.study.session.service import StudyService
from tests.study.service_examples import opened, rows_of, someone, walk


def reviews_of(service: StudyService) -> Reviews:
    return Reviews(service.lab, service.launched.row, clock=service.now)


def test_finished_work_is_approved_or_rejected_and_that_is_on_record(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person)
    reviews = reviews_of(service)
    reviews.approve(person, who="one")
    reviews.reject(person, "  Too fast ", who="two")
    (row,) = rows_of(lab, schema.slots)
    assert (row["review"], row["review_reason"]) == ("rejected", "Too fast")
    assert [(item.who, item.action, item.details) for item in service.actions.audit()[-2:]] == [
        ("one", "approve", {"person": person, "reason": ""}),
        ("two", "reject", {"person": person, "reason": "Too fast"}),
    ]


def test_a_review_changes_no_rating_and_no_status(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person)
    before = service.actions.status()
    reviews_of(service).reject(person, "Too fast")
    after = service.actions.status()
    assert (before.unreviewed, after.unreviewed) == (1, 0)
    assert dataclasses.replace(after, unreviewed=1) == before


def test_unfinished_work_cannot_be_approved(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person, until="rate")
    with pytest.raises(InputError, match="only finished work can be approved"):
        reviews_of(service).approve(person)
    assert rows_of(sqlite_lab, schema.slots)[0]["review"] is None


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 501])
def test_a_rejection_needs_a_reason(sqlite_lab: Lab, reason: str) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person)
    entries = service.actions.audit()
    with pytest.raises(InputError, match="a reason must have 1 to 500 characters"):
        reviews_of(service).reject(person, reason)
    assert service.actions.audit() == entries


@pytest.mark.parametrize("person", ["", "nobody", "\x00", "' OR 1=1 --"])
def test_nobody_is_nobody(lab: Lab, person: str) -> None:
    service, _ = opened(lab)
    with pytest.raises(InputError, match="there is no such participant"):
        reviews_of(service).message(person, "Hello")


def test_a_message_waits_until_it_was_read(lab: Lab) -> None:
    service, _ = opened(lab)
    ann, bob = someone(service, "ann"), someone(service, "bob")
    reviews = reviews_of(service)
    reviews.message(ann, "First", who="one")
    reviews.message(ann, "Second", who="two")
    inbox = Inbox(lab, service.launched.row, clock=service.now)
    assert inbox.unread(ann) == ("First", "Second")
    assert inbox.unread(bob) == ()
    inbox.mark_read(bob)
    inbox.mark_read(ann)
    assert inbox.unread(ann) == ()
    assert Inbox(lab, service.launched.row).unread(ann) == ()
    first, second = reviews.messages(ann)
    assert (first.who, first.text, second.who, second.text) == ("one", "First", "two", "Second")
    assert first.read_at is not None


def test_what_came_after_the_page_was_shown_is_not_marked_read(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    ann = someone(service, "ann")
    reviews = reviews_of(service)
    reviews.message(ann, "First")
    inbox = Inbox(sqlite_lab, service.launched.row)
    inbox.unread(ann)
    reviews.message(ann, "Second")
    inbox.mark_read(ann)
    assert Inbox(sqlite_lab, service.launched.row).unread(ann) == ("Second",)


def test_an_inbox_asks_the_database_once_for_many_pages(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, _ = opened(sqlite_lab)
    ann = someone(service, "ann")
    inbox = Inbox(sqlite_lab, service.launched.row)
    inbox.unread(ann)
    monkeypatch.setattr(sqlite_lab, "reading", lambda: pytest.fail("asked again"))
    for _ in range(100):
        assert inbox.unread(ann) == ()


@pytest.mark.parametrize("text", ["", " ", "x" * 2001])
def test_an_empty_or_endless_message_is_refused(sqlite_lab: Lab, text: str) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    with pytest.raises(InputError, match="a message must have 1 to 2000 characters"):
        reviews_of(service).message(person, text)
    assert rows_of(sqlite_lab, schema.messages) == []


def test_the_audit_log_says_to_whom_but_not_what(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    reviews_of(service).message(person, "My number is 555", who="one")
    assert service.actions.audit()[-1].details == {"person": person, "characters": 16}


def test_what_was_said_to_and_of_a_person_can_be_forgotten(lab: Lab) -> None:
    service, _ = opened(lab)
    ann, bob = someone(service, "ann"), someone(service, "bob")
    for person in (ann, bob):
        walk(service, person)
        reviews_of(service).message(person, "Hello")
        reviews_of(service).reject(person, "Too fast")
    first, second = rows_of(lab, schema.slots)
    with lab.writing() as connection:
        forget_reviews(connection, first["id"])
    assert [row["place_id"] for row in rows_of(lab, schema.messages)] == [second["id"]]
    assert [row["review_reason"] for row in rows_of(lab, schema.slots)] == [None, "Too fast"]
