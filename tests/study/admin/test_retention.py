"""What a study promised to delete is deleted, in every study and version, when its time is over."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, event

from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.added_arms.joining import add_arm
from empathylab.study.admin.retention import Expired, apply_everywhere
from empathylab.study.archives.packing import pack_study
from empathylab.study.design.definition import Retention
from empathylab.study.session.service import Finished, Page, StudyService, launch
from tests.study.examples import between
from tests.study.question_examples import ABOUT, EVERY_QUESTION
from tests.study.service_examples import delete_expired, furnish, opened, rows_of, someone, walk
from tests.study.test_service_privacy import SECRET_WORDS, everything, finished

SHORT = Retention(platform_ids=30, comments=60)


def test_drafts_go_when_their_time_is_over(lab: Lab) -> None:
    service, clock = opened(lab, between(retention=SHORT))
    person = someone(service, "ann")
    page = walk(service, person, until="comment")
    assert isinstance(page, Page)
    service.save_draft(person, page.step, {"comment": SECRET_WORDS})
    assert SECRET_WORDS in everything(lab)
    service.actions.close()
    clock.skip(days=31)
    delete_expired(service)
    assert SECRET_WORDS not in everything(lab)


def test_comments_that_are_deleted_are_counted_and_written_down_once(lab: Lab) -> None:
    service, clock = opened(lab, between(retention=SHORT))
    finished(service, "ann")
    service.actions.close()
    clock.skip(days=61)
    assert delete_expired(service) == (1, 1)
    assert delete_expired(service) == (0, 0)
    assert [item.action for item in service.actions.audit()].count("delete") == 1


def test_the_ids_of_a_closed_round_go_although_an_arm_opened_the_study_again(lab: Lab) -> None:
    service, clock = opened(lab, between(retention=SHORT))
    finished(service, "ann")
    service.actions.close()
    clock.skip(days=20)
    furnish(lab, "third/model")
    add_arm(lab, "small", "third/model", now=clock())
    later = StudyService(lab, "small", clock=clock)
    newcomer = someone(later, "bob")
    walk(later, newcomer, until="rate")
    assert delete_expired(later) == (0, 0)
    clock.skip(days=11)
    assert delete_expired(later) == (1, 0)
    assert [row["person"] for row in rows_of(lab, schema.people)] == [newcomer]
    later.actions.close()
    clock.skip(days=31)
    assert delete_expired(later) == (1, 1)


def test_every_version_of_every_study_is_looked_at(lab: Lab) -> None:
    service, clock = opened(lab, between(retention=SHORT))
    someone(service, "ann")
    launch(lab, between(retention=SHORT, version=2), now=clock())
    newer = StudyService(lab, "small", clock=clock)
    someone(newer, "bob")
    launch(lab, between(retention=SHORT, name="other"), now=clock())
    other = StudyService(lab, "other", clock=clock)
    someone(other, "cleo")
    service.actions.close()
    other.actions.close()
    later = clock() + timedelta(days=31)
    assert apply_everywhere(lab, later, name="other") == (Expired("other", 1, 1, 0),)
    assert apply_everywhere(lab, later) == (
        Expired("other", 1, 0, 0),
        Expired("small", 1, 1, 0),
        Expired("small", 2, 0, 0),
    )
    assert len(rows_of(lab, schema.people)) == 1


def test_what_retention_deletes_is_in_no_file_while_the_lab_is_open(tmp_path: Path) -> None:
    def not_by_itself(connection: object, _record: object) -> None:
        connection.execute("PRAGMA secure_delete = OFF")  # type: ignore[attr-defined]

    # As in builds of SQLite that leave deleted words in the file.
    event.listen(Engine, "connect", not_by_itself)
    try:
        with Lab.open(tmp_path / "lab") as lab:
            service, clock = opened(lab, between(retention=SHORT))
            finished(service, "ann-from-the-platform")
            service.actions.close()
            clock.skip(days=61)
            delete_expired(service)
            held = b"".join(path.read_bytes() for path in lab.folder.glob("lab.sqlite*"))
    finally:
        event.remove(Engine, "connect", not_by_itself)
    assert len(held) > 100_000
    for trace in ("ann-from-the-platform", SECRET_WORDS):
        assert trace.encode() not in held


def test_free_answers_to_questions_go_with_comments_and_are_in_no_archive(lab: Lab) -> None:
    kept = "retention: {platform_ids: 30, comments: 60}\nblocks:"
    study = parse_study(EVERY_QUESTION.replace("blocks:", kept))
    service, clock = opened(lab, study)
    person, other = someone(service, "ann"), someone(service, "bob")
    walk(service, person, until="questions")
    service.submit(person, "about", ABOUT | {"diary": f"{SECRET_WORDS} at home"}, {})
    for step in ("rate/1", "rate/2", "rate/3", "rate/4"):
        rated = {"empathy": "3", "warmth": "50", "heard": "1", "helped": "2", "traits.Kind": "Kind"}
        service.submit(person, step, rated | {"why": f"{SECRET_WORDS} at work"}, {})
    assert isinstance(walk(service, person), Finished)
    walk(service, other)
    held = everything(lab)
    assert held.count(f"{SECRET_WORDS} at home") == 2
    assert held.count(f"{SECRET_WORDS} at work") == 8
    service.actions.close()
    [archived, _] = pack_study(lab, "every-question").content["raters.jsonl"]
    assert SECRET_WORDS not in str(archived)
    assert archived["details"]["mood"] == 70
    clock.skip(days=61)
    assert delete_expired(service) == (2, 9)
    assert SECRET_WORDS not in everything(lab)
    about, rated = (
        next(row["given"] for row in rows_of(lab, schema.page_answers) if row["step"] == step)
        for step in ("about", "rate/1")
    )
    assert about["mood"] == 70
    assert rated["traits"] == ["Kind"]
    [rater, _] = rows_of(lab, schema.raters)
    assert rater["details"]["mood"] == 70
    asked = {answer["question"] for answer in rater["details"]["marks"]["answers"]}
    assert asked == {"traits", "preference"}


def test_free_answers_go_with_the_participant(lab: Lab) -> None:
    service, _ = opened(lab, parse_study(EVERY_QUESTION))
    person = someone(service, "ann")
    walk(service, person, until="questions")
    service.submit(person, "about", ABOUT | {"diary": SECRET_WORDS}, {})
    walk(service, person)
    assert "so sorry to hear it" in everything(lab)
    service.leave(person, delete=True)
    left = everything(lab)
    assert SECRET_WORDS not in left
    assert "so sorry to hear it" not in left
