"""What a live study leaves behind: exports, archives, deletion, retention."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path

from empathylab.models import ScriptedModel
from empathylab.store import Lab, schema
from empathylab.store.studies.received import live_replies
from empathylab.study.admin.retention import apply_retention
from empathylab.study.archives import pack_study, unpack_study
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import StudyService
from tests.study.live.examples import RECIPIENT, STORY, opened, settle, shown, teller
from tests.study.service_examples import rows_of

KEPT = RECIPIENT.replace("help: Call", "retention: {comments: 30}\nhelp: Call")


def finished(service: StudyService, count: int) -> list[str]:
    people = [teller(service, f"p{number}") for number in range(count)]
    settle(service, ScriptedModel(["I am sorry about your dog."]))
    for person in people:
        shown(service, person)
        service.submit(person, "reply", {})
        service.submit(person, "questions", {"heard": "3"})
        service.submit(person, "debrief/reveal", {"data": "keep"})
    return people


def test_a_closed_study_exports_what_was_told_and_answered_and_who_saw_what(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service = opened(sqlite_lab)
    finished(service, 4)
    service.actions.close()
    with sqlite_lab.reading() as connection:  # a model is one replier, whatever it calls itself
        replies = live_replies(connection, service.launched.row)
        assert {reply.replier for reply in replies} == {"model", "person"}
    export_study(sqlite_lab, "heard", tmp_path / "out")
    with (tmp_path / "out" / "live_turns.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    replies = [row for row in rows if row["sender"] == "respondent"]
    assert {(row["author"], row["label"]) for row in replies} == {
        *(("model", "ai"), ("model", "human"), ("person", "ai"), ("person", "human")),
    }
    for row in replies:
        assert 1.2 <= float(row["due_seconds"]) <= 1.5
        assert float(row["waited_seconds"]) >= float(row["due_seconds"])
    with (tmp_path / "out" / "raters.csv").open() as file:
        raters = list(csv.DictReader(file))
    assert {row["arm"] for row in raters} == {f"{row['author']}+{row['label']}" for row in raters}
    assert {row["heard"] for row in raters} == {"3"}


def test_an_archive_holds_the_conditions_and_answers_and_no_words(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service = opened(sqlite_lab)
    finished(service, 4)
    service.actions.close()
    archive = pack_study(sqlite_lab, "heard")
    written = b"".join(archive.members.values()).decode()
    assert STORY not in written
    assert "sorry about your dog" not in written
    with Lab.open(tmp_path / "other") as other:
        assert unpack_study(other, archive).change == "added"
        details = [row["details"] for row in rows_of(other, schema.raters)]
        assert {(detail["author"], detail["label"]) for detail in details} == {
            *(("model", "ai"), ("model", "human"), ("person", "ai"), ("person", "human")),
        }
        assert {detail["heard"] for detail in details} == {"3"}
        assert pack_study(other, "heard").hash == archive.hash


def test_deletion_and_retention_take_stories_and_replies(lab: Lab) -> None:
    service = opened(lab, KEPT)
    people = finished(service, 2)
    service.leave(people[0], delete=True)
    assert len(rows_of(lab, schema.live_conversations)) == 1
    assert len(rows_of(lab, schema.live_turns)) == 2
    service.actions.close()
    apply_retention(lab, "heard", 1, service.now() + timedelta(days=31))
    assert {row["text"] for row in rows_of(lab, schema.live_turns)} == {""}
    assert all("story" not in row["given"] for row in rows_of(lab, schema.page_answers))
