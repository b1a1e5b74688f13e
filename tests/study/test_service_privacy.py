"""Leaving, forgetting and deleting: what remains is counts."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import inspect, text

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.store.ratings import raters_frame, ratings_frame
from empathylab.study.admin.reviews import Reviews
from empathylab.study.design.definition import Retention
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.session.service import Closed, Finished, Moved, StudyService, launch
from tests.study.examples import between
from tests.study.service_examples import delete_expired, opened, rows_of, someone, step_on, walk

SECRET_WORDS = "my name is Zebedee Quux"


def everything(lab: Lab) -> str:
    """All that the database holds, as text."""
    with lab.reading() as connection:
        tables = [name for name in inspect(connection).get_table_names() if name != "scales"]
        return "\n".join(
            json.dumps([str(cell) for cell in row])
            for table in tables
            for row in connection.execute(text(f"SELECT * FROM {table}"))
        )


def finished(service: StudyService, name: str) -> str:
    person = someone(service, name)
    walk(service, person, until="comment")
    service.submit(person, "comment", {"comment": SECRET_WORDS}, {})
    return person


def test_platform_ids_are_kept_apart_from_all_answers(lab: Lab) -> None:
    service, _ = opened(lab)
    finished(service, "platform-id-of-ann")
    holding = [
        table.name
        for table in schema.metadata.sorted_tables
        if "platform-id-of-ann" in str(rows_of(lab, table))
    ]
    assert holding == ["people"]


def test_leaving_keeps_the_answers_and_frees_the_place(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="rate")
    before = len(rows_of(lab, schema.page_answers))
    service.leave(person, delete=False)
    end = service.view(person)
    assert isinstance(end, Finished)
    assert end.outcome == "withdrawn"
    assert isinstance(service.submit(person, "rate/1", {"empathy": "1"}, {}), Moved)
    assert len(rows_of(lab, schema.page_answers)) == before
    assert rows_of(lab, schema.slots)[0]["status"] == "withdrawn"


def test_leaving_with_deletion_leaves_only_counts(lab: Lab) -> None:
    recruitment = Recruitment(platform="open", codes={"withdrawn": "LEFT1"})
    service, _ = opened(lab, between(recruitment=recruitment))
    person = finished(service, "ann-from-the-platform")
    service.leave(person, delete=True)
    left = everything(lab)
    for trace in (person, "ann-from-the-platform", SECRET_WORDS):
        assert trace not in left
    for table in (schema.page_answers, schema.people, schema.raters, schema.ratings):
        assert rows_of(lab, table) == []
    assert rows_of(lab, schema.item_answers) == []
    status = service.actions.status()
    assert (status.arrivals, status.outcomes) == (1, {"withdrawn": 1})
    view = service.view(person)
    assert isinstance(view, Closed)
    assert (view.reason, view.completion.code) == ("unknown", "LEFT1")


def test_what_researchers_wrote_to_and_of_a_forgotten_person_goes_too(lab: Lab) -> None:
    service, _ = opened(lab)
    person = finished(service, "ann")
    reviews = Reviews(lab, service.launched.row, clock=service.now)
    reviews.message(person, "Dear Zebedee")
    reviews.reject(person, "Zebedee copied")
    assert service.actions.forget(person) == 1
    assert "Zebedee" not in everything(lab)


def test_messages_go_with_the_platform_ids_when_their_time_is_over(lab: Lab) -> None:
    service, clock = opened(lab, between(retention=Retention(platform_ids=30)))
    person = finished(service, "ann")
    Reviews(lab, service.launched.row, clock=service.now).message(person, "Thank you")
    service.actions.close()
    clock.skip(days=31)
    delete_expired(service)
    assert rows_of(lab, schema.messages) == []


def test_a_participant_who_has_finished_and_leaves_without_deleting_has_finished(lab: Lab) -> None:
    service, _ = opened(lab)
    person = finished(service, "ann")
    service.leave(person, delete=False)
    assert rows_of(lab, schema.slots)[0]["status"] == "finished"
    assert len(rows_of(lab, schema.ratings)) == 2


def test_a_forgotten_persons_slot_goes_to_someone_else(lab: Lab) -> None:
    service, _ = opened(lab, between(batch_size=6, ratings_per_response=1))
    ann = finished(service, "ann")
    finished(service, "bob")
    service.leave(ann, delete=True)
    finished(service, "cleo")
    assert [arm.finished for arm in service.actions.status().arms] == [1, 1]


@pytest.mark.parametrize("by", ["person", "platform_id"])
def test_forget_deletes_a_person_in_every_version_and_says_so_in_the_audit(
    lab: Lab, by: str
) -> None:
    service, clock = opened(lab)
    person = finished(service, "ann-from-the-platform")
    service.actions.exclude(person, "said so", who="eva")
    launch(lab, between(version=2), now=clock())
    later = StudyService(lab, "small", clock=clock)
    someone(later, "ann-from-the-platform")
    kept = finished(later, "bob")
    given = {by: person if by == "person" else "ann-from-the-platform"}
    assert later.actions.forget(**given, who="eva") == 2
    left = everything(lab)
    for trace in (person, "ann-from-the-platform"):
        assert trace not in left
    assert kept in left
    assert (later.actions.audit()[-1].action, later.actions.audit()[-1].details) == (
        "forget",
        {"places": 2},
    )
    assert later.actions.forget(**given) == 0


def test_forget_finds_a_person_whose_platform_id_was_deleted(lab: Lab) -> None:
    service, clock = opened(lab)
    finished(service, "ann")
    service.actions.close()
    clock.skip(days=90)
    assert delete_expired(service) == (1, 0)
    assert service.actions.forget(platform_id="ann") == 1
    assert rows_of(lab, schema.ratings) == []


def test_forget_wants_one_way_to_know_whom(lab: Lab) -> None:
    service, _ = opened(lab)
    with pytest.raises(InputError, match="by their key or by their platform ID"):
        service.actions.forget()


def test_ids_and_comments_are_deleted_when_their_time_is_over(lab: Lab) -> None:
    service, clock = opened(lab, between(retention=Retention(platform_ids=30, comments=60)))
    finished(service, "ann")
    assert delete_expired(service) == (0, 0)
    service.actions.close()
    clock.skip(days=31)
    assert delete_expired(service) == (1, 0)
    assert rows_of(lab, schema.people) == []
    clock.skip(days=31)
    assert delete_expired(service) == (0, 1)
    assert SECRET_WORDS not in everything(lab)
    assert len(rows_of(lab, schema.ratings)) == 2


def test_an_excluded_rater_counts_in_no_analysis_and_frees_the_slot(lab: Lab) -> None:
    service, _ = opened(lab)
    person, other = finished(service, "ann"), finished(service, "bob")
    assert service.actions.exclude(person, "answered in another language", who="eva")
    assert ratings_frame(lab, "small")["rater"].unique().to_list() == [other]
    assert raters_frame(lab, "small")["rater"].to_list() == [other]
    assert service.actions.status().ratings == 2
    assert rows_of(lab, schema.slots)[0]["status"] == "excluded"
    assert service.actions.audit()[-1].details["reason"] == "answered in another language"
    assert service.actions.exclude("nobody", "no reason") is False


def test_a_participant_who_left_before_answering_leaves_no_answers(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    service.view(person)
    service.leave(person, delete=True)
    assert rows_of(lab, schema.page_answers) == []
    assert service.actions.status().drop_outs == {"demographics": 1}
