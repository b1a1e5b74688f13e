"""The demonstration study: complete, honest about its replies, and opened once."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from empathylab.errors import InputError
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.study.blocks.consent import Consent
from empathylab.study.blocks.registry import block_types
from empathylab.study.demo import demo_release, demo_study, furnish_demo, open_demo
from empathylab.study.design.checks import check_study
from empathylab.study.session.service import Finished, StudyService
from tests.study.service_examples import START, rows_of, someone, walk
from tests.study.web.raters import Visitor, app_of
from tests.study.web.raters import walk as walk_pages

MANNERS = ("attentive", "brisk", "cheerful")


def test_there_is_one_reply_of_each_manner_to_the_first_situation_of_each_emotion() -> None:
    first = [item.id for item in builtin_set("dialogues").first_per_group(1)]
    replies = demo_release().replies
    assert len(first) == 32
    assert [(reply.situation, reply.respondent) for reply in replies] == [
        (situation, f"demo/{manner}") for situation in first for manner in MANNERS
    ]


def test_replies_are_short_texts_of_their_own() -> None:
    texts = [reply.text for reply in demo_release().replies]
    assert len(set(texts)) == len(texts) == 96
    assert all(12 <= len(text.split()) <= 45 for text in texts)
    openings = [" ".join(text.split()[:3]) for text in texts]
    assert max(openings.count(opening) for opening in openings) <= 2


def test_replies_say_where_they_come_from() -> None:
    table = tomllib.loads((files("empathylab.study.demo") / "replies.toml").read_text("utf-8"))
    assert (table["licence"], table["validated"]) == ("CC0-1.0", False)
    assert all(
        reply.details is not None
        and reply.details["licence"] == "CC0-1.0"
        and reply.details["validated"] is False
        for reply in demo_release().replies
    )


def test_the_study_checks_without_a_problem_or_a_note(lab: Lab) -> None:
    furnish_demo(lab)
    plan = check_study(demo_study(), lab).plan
    assert plan.problems == ()
    assert plan.notes == ()
    assert (plan.raters, plan.batch_sizes) == (24, (8, 8))


def test_the_study_shows_every_kind_of_block_that_a_rating_study_has() -> None:
    shown = {block.kind for block in demo_study().blocks}
    other = {"compare", "imagine", "norm", "write"}
    live = {"chat", "feel", "reply", "tell"}
    assert shown == set(block_types()) - other - live


def test_the_consent_says_that_it_is_a_demonstration() -> None:
    consent = demo_study().blocks[0]
    assert isinstance(consent, Consent)
    assert "This is a demo" in consent.text.in_language("en")


def test_opened_twice_it_is_there_once(lab: Lab) -> None:
    assert open_demo(lab) == "demo"
    tables = (schema.studies, schema.responses, schema.scales, schema.selections, schema.audit)
    before = [rows_of(lab, table) for table in tables]
    assert open_demo(lab) == "demo"
    assert [rows_of(lab, table) for table in tables] == before
    assert len(before[1]) == 96


def test_a_participant_walks_through_it_and_may_return(lab: Lab) -> None:
    service = StudyService(lab, open_demo(lab))
    for _ in range(2):
        end = walk(service, someone(service, "the same"))
        assert isinstance(end, Finished)
        assert end.outcome == "completed"
    assert service.actions.status().outcomes == {"completed": 2}
    assert len(rows_of(lab, schema.ratings)) == 16


@pytest.mark.slow
def test_all_its_places_can_be_filled(sqlite_lab: Lab) -> None:
    service = StudyService(sqlite_lab, open_demo(sqlite_lab))
    for number in range(24):
        walk(service, someone(service, str(number)))
    rated = [row["response_id"] for row in rows_of(sqlite_lab, schema.ratings)]
    assert sorted(rated) == sorted(2 * list(set(rated)))
    assert len(set(rated)) == 96


def test_no_page_names_a_manner(sqlite_lab: Lab) -> None:
    service = StudyService(sqlite_lab, open_demo(sqlite_lab))
    visitor = Visitor(app_of(service))
    end = walk_pages(visitor, service.study)
    assert "Thank you" in end.text
    sent = "\n".join(item.text for item in visitor.sent).lower()
    visitor.close()
    assert not [manner for manner in MANNERS if manner in sent]


def test_an_imported_study_of_its_name_is_left_alone(lab: Lab) -> None:
    study = {
        "name": "demo",
        "version": 1,
        "title": "Another",
        "protocol": {},
        "protocol_hash": "",
        "status": "closed",
        "added_at": START,
    }
    with lab.writing() as connection:
        connection.execute(schema.studies.insert(), [study])
    with pytest.raises(InputError, match="imported study with this name"):
        open_demo(lab)
    assert rows_of(lab, schema.responses) == []
