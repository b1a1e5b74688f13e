"""A researcher's message stands on a person's page until they go on from it."""

from __future__ import annotations

import pytest

from empathylab.store import Lab
from empathylab.study.admin.reviews import Reviews
from empathylab.study.session.service import Page, StudyService
from tests.study.service_examples import careful, opened, someone


@pytest.fixture
def service(sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> StudyService:
    monkeypatch.setattr("empathylab.study.admin.reviews._LOOK_AGAIN", _Never())
    return opened(sqlite_lab)[0]


class _Never:
    """No time, so that every look is a fresh one."""

    def total_seconds(self) -> float:
        return 0.0


def page_of(service: StudyService, person: str) -> Page:
    page = service.view(person)
    assert isinstance(page, Page)
    return page


def test_a_message_stands_on_that_persons_page_until_they_go_on(
    service: StudyService, sqlite_lab: Lab
) -> None:
    ann, bob = someone(service, "ann"), someone(service, "bob")
    Reviews(sqlite_lab, service.launched.row).message(ann, "Thank you for waiting.")
    for _ in range(2):
        assert page_of(service, ann).messages == ("Thank you for waiting.",)
    assert page_of(service, bob).messages == ()
    page = page_of(service, ann)
    service.submit(ann, page.step, careful(service.study, page), {})
    assert page_of(service, ann).messages == ()


def test_a_message_that_came_after_the_page_was_shown_is_not_lost(
    service: StudyService, sqlite_lab: Lab
) -> None:
    ann = someone(service, "ann")
    reviews = Reviews(sqlite_lab, service.launched.row)
    reviews.message(ann, "First.")
    page = page_of(service, ann)
    reviews.message(ann, "Second.")
    done = service.submit(ann, page.step, careful(service.study, page), {})
    assert done.following.messages == ("First.", "Second.")  # type: ignore[union-attr]
