"""Nobody takes part twice where that is excluded, however their id is written."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote

import pytest

from empathylab.store import Lab, schema
from empathylab.study.session.service import Closed, Page, StudyService, launch
from tests.study.recruiting.examples import finished, rating, recruiting, sent, served
from tests.study.service_examples import delete_expired, rows_of, step_on
from tests.study.service_examples import walk as walk_pages
from tests.study.web.raters import Read, Visitor, app_of, visiting, walk

ODD = "Zoë ﬁ Å ①"


@pytest.mark.parametrize("platform", ["prolific", "mturk", "sona"])
def test_an_id_is_the_same_in_every_normal_form(lab: Lab, platform: str) -> None:
    service, _ = served(lab, recruiting(platform))  # type: ignore[arg-type]
    forms = [unicodedata.normalize(form, ODD) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert len(set(forms)) == 4
    assert len({sent(service, value) for value in [*forms, f"  {ODD}\t"]}) == 1
    assert len(rows_of(lab, schema.slots)) == 1


@pytest.mark.parametrize(
    "other", ["ann.", "Ann", "ann ann", "ann'", "ann%00", "аnn", "ann\u0301", "ann/1"]
)
def test_ids_that_only_look_alike_are_different_people(sqlite_lab: Lab, other: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    assert sent(service, "ann") != sent(service, other)


def test_a_participant_who_has_finished_is_shown_the_end_and_takes_no_second_place(
    lab: Lab,
) -> None:
    service, _ = served(lab, recruiting("prolific"))
    person = finished(service, "ann")
    assert sent(service, "ann", session="another", study="another") == person
    assert len(rows_of(lab, schema.slots)) == 1


def test_a_participant_who_took_part_in_a_version_is_known_in_the_next(lab: Lab) -> None:
    service, clock = served(lab, recruiting("prolific"))
    rating(service, ODD)
    launch(lab, recruiting("prolific", version=2), now=clock())
    later = StudyService(lab, "small", clock=clock)
    view = later.view(sent(later, unicodedata.normalize("NFD", ODD)))
    assert isinstance(view, Closed)
    assert (view.reason, view.completion.code) == ("repeated", "CODE-SCREENED-3")


def test_a_participant_who_only_looked_in_may_come_to_the_next_version(sqlite_lab: Lab) -> None:
    service, clock = served(sqlite_lab, recruiting("prolific"))
    sent(service, "ann")
    launch(sqlite_lab, recruiting("prolific", version=2), now=clock())
    later = StudyService(sqlite_lab, "small", clock=clock)
    assert isinstance(later.view(sent(later, "ann")), Page)


def test_a_participant_who_deletes_their_data_cannot_try_again(lab: Lab) -> None:
    service, clock = served(lab, recruiting("prolific"))
    service.leave(rating(service, "ann"), delete=True)
    launch(lab, recruiting("prolific", version=2), now=clock())
    for version in (service, StudyService(lab, "small", clock=clock)):
        view = version.view(sent(version, "ann"))
        assert isinstance(view, Closed)
        assert (view.reason, view.completion.code) == ("repeated", "CODE-SCREENED-3")
    # What is kept tells nothing by itself, and goes with the platform ids.
    (kept,) = rows_of(lab, schema.departures)
    assert kept.keys() == {"study_id", "digest"}
    service.actions.close()
    clock.skip(days=91)
    delete_expired(service)
    assert rows_of(lab, schema.departures) == []


def test_a_participant_who_only_looked_in_and_deleted_that_may_return(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    service.leave(sent(service, "ann"), delete=True)
    assert isinstance(service.view(sent(service, "ann")), Page)


def test_a_participant_who_came_to_two_versions_at_once_gets_a_place_in_one(lab: Lab) -> None:
    service, clock = served(lab, recruiting("prolific"))
    launch(lab, recruiting("prolific", version=2), now=clock())
    later = StudyService(lab, "small@2", clock=clock)
    first, second = sent(service, "ann"), sent(later, "ann")
    walk_pages(service, first)
    while isinstance(later.view(second), Page):
        step_on(later, second)
    view = later.view(second)
    assert isinstance(view, Closed)
    assert view.reason == "repeated"
    assert [row["status"] for row in rows_of(lab, schema.slots)] == ["finished", "repeated"]


def test_a_study_that_wants_people_again_takes_them_again(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific", recruitment={"once": False}))
    first = finished(service, "ann")
    second = finished(service, "ann")
    assert first != second


@pytest.mark.parametrize(
    "query",
    [
        "",
        "PROLIFIC_PID=",
        "PROLIFIC_PID=%20%20",
        "PROLIFIC_PID=" + "x" * 4096,
        "PROLIFIC_PID=a%00b",
        "PROLIFIC_PID=ann%0d%0aSet-Cookie:x",
        "PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D",
        "PROLIFIC_PID=ann&PROLIFIC_PID=bob",
        "PROLIFIC_PID=ann&STUDY_ID=a&STUDY_ID=b",
        "prolific_pid=ann",
    ],
)
def test_a_link_that_does_not_say_who_comes_takes_no_place(sqlite_lab: Lab, query: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    with visiting(service) as visitor:
        page = visitor.get(f"/?{query}")
    assert page.status_code == 400
    assert Read(page.text).title == "This link is not complete"
    assert rows_of(sqlite_lab, schema.slots) == []


@pytest.mark.parametrize(
    "pid", ["żółć", "'; DROP TABLE places; --", "<script>", "{{7*7}}", "%s", "a b", "🙂", "x" * 200]
)
def test_any_id_that_can_be_written_takes_one_place(sqlite_lab: Lab, pid: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    app = app_of(service)
    for _ in range(2):  # two browsers
        visitor = Visitor(app)
        page = visitor.get(f"/?PROLIFIC_PID={quote(pid)}&SESSION_ID=s")
        assert page.status_code == 200
        visitor.close()
    (person,) = rows_of(sqlite_lab, schema.people)
    assert person["ids"] == {"person": pid, "session": "s"}
    assert len(rows_of(sqlite_lab, schema.slots)) == 1


def test_the_code_is_shown_again_only_where_the_first_answer_was_given(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    link = "/?PROLIFIC_PID=ann&STUDY_ID=s&SESSION_ID=x"
    with visiting(service) as owner, visiting(service) as guest:
        owner.get(link)
        assert "cc=CODE-COMPLETED-1" in walk(owner, service.study).text
        assert "cc=CODE-COMPLETED-1" in owner.get(link).text
        guest.get(link)
        page = walk(guest, service.study)
    assert "You started this study in another browser" in " ".join(page.text.split())
    assert not any("CODE-COMPLETED-1" in item.text for item in guest.sent)
    assert not any("CODE-COMPLETED-1" in str(item.headers) for item in guest.sent)
    assert service.actions.status().outcomes == {"completed": 1}


def test_a_deleted_visit_hides_no_later_one(sqlite_lab: Lab) -> None:
    study = recruiting("prolific", recruitment={"once": False})
    service, clock = served(sqlite_lab, study)
    visits = [finished(service, "ann") for _ in range(2)]
    third = rating(service, "ann")
    service.actions.forget(visits[0])
    service.actions.forget(visits[1])
    assert sent(service, "ann") == third
    walk_pages(service, third)
    service.actions.close()
    clock.skip(days=91)
    assert delete_expired(service) == (1, 0)
    assert service.actions.forget(platform_id="ann") == 1
    assert all(row["person"].startswith("deleted-") for row in rows_of(sqlite_lab, schema.slots))
