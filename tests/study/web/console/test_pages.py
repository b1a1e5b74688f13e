"""The console's pages: lists, decisions on participants, managing, downloads, the audit log."""

from __future__ import annotations

import csv
import html
import io
import math
import zipfile
from datetime import datetime

import httpx
import pytest
from sqlalchemy import select

from empathylab.store import Lab, schema
from empathylab.study import Study
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.session.service import PlatformIds, StudyService
from empathylab.study.web.console.overview import hourly_pay
from tests.study.examples import appraisal, between
from tests.study.recruiting.prolific_server import STUDY, TOKEN, prolific
from tests.study.service_examples import START, opened, rows_of, someone, walk
from tests.study.web.console.researchers import at_console, busy

NASTY = '=HYPERLINK("http://evil")<script>alert(1)</script>{{ 7*7 }}\' OR 1=1 --'


def commented(service: StudyService, name: str, words: str) -> str:
    person = someone(service, name)
    walk(service, person, until="comment")
    service.submit(person, "comment", {"comment": words}, {})
    return person


def cells(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="small-')
    return list(csv.DictReader(io.StringIO(answer.text)))


def crowd(lab: Lab, service: StudyService, count: int) -> None:
    """So many people who came and went, without walking them through."""
    rows = [
        {
            "study_id": service.launched.row,
            "person": f"key{number:05}",
            "world": "person",
            "status": "arrived",
            "traits": {},
            "language": "en",
            "arrived_at": START,
            "seen_at": START,
            "draft": {},
        }
        for number in range(count)
    ]
    with lab.writing() as connection:
        connection.execute(schema.slots.insert(), rows)


def test_the_overview_shows_how_far_the_study_is(lab: Lab) -> None:
    service, _ = busy(lab)
    with at_console(service, "viewer") as visitor:
        page = visitor.get("/console").text
    names = ("Participants", "Opened only", "Active now", "Finished", "Ratings, all arms")
    figures = dict(zip(names, "61148", strict=True))
    for name, value in figures.items():
        assert f"<dt>{name}</dt><dd>{value}" in page, name
    assert "0 / 4" in page
    assert '?review=none">4</a>' in page
    assert "Median time</dt><dd>1 min" in page
    assert "TEQ" in page
    assert "6 participants by hour" in page


@pytest.mark.parametrize(
    ("payment", "seconds", "shown"),
    [
        ("£1.50", 600.0, "£9.00"),
        ("2,10 EUR", 720.0, "10.50 EUR"),
        ("a voucher", 600.0, ""),
        (None, 600.0, ""),
        ("$3", math.nan, ""),
    ],
)
def test_the_pay_per_hour_follows_from_payment_and_median(
    payment: str | None, seconds: float, shown: str
) -> None:
    assert hourly_pay(payment, seconds) == shown


def test_a_long_list_comes_page_by_page(lab: Lab) -> None:
    service, _ = opened(lab)
    crowd(lab, service, 120)
    with at_console(service, "viewer") as visitor:
        first = visitor.get("/console/participants").text
        last = visitor.get("/console/participants?page=3").text
        beyond = visitor.get("/console/participants?page=99").text
    assert "1 to 50 of 120" in first
    assert "key00119" in first
    assert "page=2" in first
    assert "101 to 120 of 120" in last
    assert "key00000" in last
    assert "Nothing to show" in beyond


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("key=key0000", 10),
        ("key=key%25", 0),
        ("key=key_", 0),
        ("status=finished", 1),
        ("status=nonsense", 13),
        ("world=simulated", 0),
        ("world=nonsense&status=arrived", 12),
        ("page=x", 13),
        ("page=-1", 13),
        ("page=0", 13),
        ("key=%00", 13),
        ("key='%20OR%201=1", 0),
    ],
)
def test_participants_are_found_by_status_world_and_key(
    sqlite_lab: Lab, query: str, found: int
) -> None:
    service, _ = opened(sqlite_lab)
    crowd(sqlite_lab, service, 12)
    walk(service, someone(service, "ann"))
    with at_console(service, "viewer") as visitor:
        page = visitor.get(f"/console/participants?{query}")
    assert page.status_code == 200
    assert page.text.count('<th scope="row">') == found


@pytest.mark.parametrize("key", ["", "nobody", "%00", "..%2f", "x" * 5000])
def test_a_participant_who_is_none_is_not_found(sqlite_lab: Lab, key: str) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, "viewer") as visitor:
        assert visitor.get(f"/console/participant?key={key}").status_code == 404


def test_one_participant_is_shown_with_times_and_answers_but_no_ratings(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = commented(service, "platform-id-of-ann", "All was clear")
    with at_console(service, "viewer") as visitor:
        page = visitor.get(f"/console/participant?key={person}").text
        service.actions.close()
        closed = visitor.get(f"/console/participant?key={person}").text
    assert "All was clear" in page
    assert "passed" in page
    assert "How empathetic?" not in page
    assert page.count(">hidden<") == 2
    assert closed.count("<dt>How empathetic?</dt><dd>Okay</dd>") == 2
    assert "<dt>Your sex</dt><dd>male</dd>" in page
    assert "platform-id-of-ann" not in page + closed
    assert '<button type="submit">Approve' not in page


def test_acts_on_a_participant_are_done_and_on_record(lab: Lab) -> None:
    service, _ = busy(lab, people=2)
    done, live = (
        next(
            participant.person
            for participant in service.actions.participants()
            if participant.status == status
        )
        for status in ("finished", "live")
    )
    with at_console(service, "researcher") as visitor:
        for fields in (
            {"key": done, "act": "approve"},
            {"key": done, "act": "reject", "reason": "Too fast"},
            {"key": live, "act": "message", "text": "Take your time"},
            {"key": live, "act": "free"},
            {"key": done, "act": "exclude", "reason": "Did not read"},
        ):
            answer = visitor.post("/console/participant", **fields)
            assert answer.status_code == 303, fields
            assert 'class="done"' in visitor.get(answer.headers["location"]).text
        log = visitor.get("/console/audit").text
    acts = [(item.who, item.action) for item in service.actions.audit()]
    assert [act for who, act in acts if who == "some researcher"][1:] == [
        "approve",
        "reject",
        "message",
        "release",
        "exclude",
    ]
    status = {
        participant.person: participant.status for participant in service.actions.participants()
    }
    assert (status[done], status[live]) == ("excluded", "returned")
    assert "Did not read" in log


@pytest.mark.parametrize(
    "fields",
    [
        {"act": "reject", "reason": " "},
        {"act": "exclude", "reason": ""},
        {"act": "free"},
        {"act": "message", "text": ""},
        {"act": "message", "text": "x" * 2001},
    ],
    ids=lambda fields: str(fields)[:30],
)
def test_an_act_that_cannot_be_done_is_explained_and_changes_nothing(
    sqlite_lab: Lab, fields: dict[str, str]
) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person)
    before = (service.actions.participants(), len(service.actions.audit()))
    with at_console(service) as visitor:
        answer = visitor.refused("/console/participant", key=person, **fields)
        typed = fields.get("text") or fields.get("reason", "")
        assert html.escape(typed) in answer.text
        again = visitor.get(f"/console/participant?key={person}")
        assert 'role="alert"' not in again.text
    assert (service.actions.participants(), len(service.actions.audit()) - 1) == before


def test_the_study_is_paused_stopped_resumed_and_closed(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as visitor:
        visitor.post("/console/manage", act="pause")
        assert service.actions.status().status == "paused"
        visitor.post("/console/manage", act="resume")
        visitor.post("/console/manage", act="stop-arm", arm="one")
        assert [arm.stopped for arm in service.actions.status().arms] == [True, False]
        visitor.post("/console/manage", act="resume-arm", arm="one")
        visitor.refused("/console/manage", act="stop-arm", arm="none")
        assert 'value="smal"' in visitor.refused("/console/close", name="smal").text
        assert service.actions.status().status == "open"
        assert visitor.post("/console/close", name="small").status_code == 303
        visitor.refused("/console/manage", act="resume")
    assert service.actions.status().status == "closed"
    acts = [item.action for item in service.actions.audit() if item.who == "some owner"]
    assert acts[1:] == ["pause", "resume", "stop arm", "resume arm", "close"]


def test_words_of_strangers_are_words_on_every_page(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = commented(service, NASTY, NASTY)
    with at_console(service) as visitor:
        visitor.post("/console/participant", key=person, act="message", text=NASTY)
        visitor.post("/console/participant", key=person, act="exclude", reason=NASTY)
        pages = [
            visitor.get(path).text
            for path in (
                "/console/comments",
                f"/console/participant?key={person}",
                "/console/audit",
                f"/console/participants?key={NASTY}",
            )
        ]
        comments = cells(visitor.post("/console/downloads", file="comments.csv"))
    for page in pages:
        assert "<script>alert" not in page
        assert "alert(1)" in page
        assert "{{ 7*7 }}" in page
    assert comments[0]["comment"] == f"'{NASTY}"


def test_downloads_are_tables_and_on_record(lab: Lab) -> None:
    service, _ = busy(lab)
    commented(service, "last", "Thanks")
    with at_console(service, "researcher") as visitor:
        people = cells(visitor.post("/console/downloads", file="participants.csv"))
        times = cells(visitor.post("/console/downloads", file="page-times.csv"))
        comments = cells(visitor.post("/console/downloads", file="comments.csv"))
        audit = cells(visitor.post("/console/downloads", file="audit.csv"))
        unknown = visitor.post("/console/downloads", file="../lab.sqlite")
    assert len(people) == 8
    assert "arm" not in people[0]
    moments = [
        row[name]
        for row in (*people, *times, *comments, *audit)
        for name in row
        if name == "at" or name.endswith("_at")
    ]
    assert {datetime.fromisoformat(moment).second for moment in moments} == {0}
    assert {float(time["seconds"]) % 60 for time in times if time["seconds"]} == {0}
    assert {time["page"] for time in times} >= {"consent", "rate/1", "comment"}
    assert [comment["comment"] for comment in comments] == ["Thanks"]
    assert [item["details"] for item in audit if item["action"] == "download"] == [
        f"file: {name}"
        for name in ("participants.csv", "page-times.csv", "comments.csv", "audit.csv")
    ]
    assert unknown.status_code == 404


def test_ratings_are_downloaded_once_the_study_is_closed(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab)
    with at_console(service, "researcher") as visitor:
        visitor.refused("/console/downloads", file="ratings.csv")
        service.actions.close()
        ratings = cells(visitor.post("/console/downloads", file="ratings.csv"))
    assert len(ratings) == 8
    assert {rating["arm"] for rating in ratings} == {"one", "two"}


def test_platform_ids_leave_only_for_an_owner_who_says_so(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    for name, world in (("id-of-bot", "simulated"), ("id-of-trial", "test")):
        walk(service, someone(service, name, world=world))
    walk(service, someone(service, "platform-id-of-ann"))
    with at_console(service) as owner:
        for fields in ({}, {"sure": "yes"}, {"reason": "To pay"}):
            answer = owner.refused("/console/identities", **fields)
            assert "platform-id-of-ann" not in answer.text
        rows = cells(owner.post("/console/identities", sure="yes", reason="To pay"))
    assert [row["platform_person"] for row in rows] == ["platform-id-of-ann"]
    assert rows[0]["platform"] == "open"
    last = service.actions.audit()[-1]
    assert (last.action, last.details) == (
        "download",
        {"file": "identities.csv", "reason": "To pay"},
    )


def test_signing_in_and_out_and_inviting_is_on_record(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as owner:
        page = owner.shown("/console/invite", role="viewer").text
        assert "welcome?link=" not in owner.get("/console/accounts").text
        owner.post("/console/logout")
        owner.log_in("some owner")
    acts = [item.action for item in service.actions.audit() if item.who == "some owner"]
    assert acts == ["make account", "invite", "sign out", "sign in"]
    assert "http://study.test/console/welcome?link=" in page


def test_a_message_goes_by_prolific_where_a_token_is_there(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    recruitment = Recruitment(platform="prolific", codes={"completed": "C1"})
    service, _ = opened(sqlite_lab, between(recruitment=recruitment))
    person = service.arrive(PlatformIds("prolific", "pid", STUDY, "their-session"))
    with prolific() as known, at_console(service) as visitor:
        monkeypatch.setenv("PROLIFIC_BASE_URL", known.address)
        for token, expected in (("", "message"), (TOKEN, "sent"), ("no-such-token-here", "unsent")):
            monkeypatch.setenv("PROLIFIC_API_TOKEN", token)
            answer = visitor.post("/console/participant", key=person, act="message", text="Hello")
            assert answer.headers["location"].endswith(f"done={expected}")
        sent = known.messages
    assert sent == [{"recipient_id": "pid", "body": "Hello", "study_id": STUDY}]
    assert len(rows_of(sqlite_lab, schema.messages)) == 3


def test_approving_pays_by_prolific_where_a_token_is_there(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    recruitment = Recruitment(platform="prolific", codes={"completed": "C1"})
    service, _ = opened(sqlite_lab, between(recruitment=recruitment))
    person = service.arrive(PlatformIds("prolific", "pid", STUDY, "their-session"))
    walk(service, person)
    with prolific() as known, at_console(service) as visitor:
        monkeypatch.setenv("PROLIFIC_BASE_URL", known.address)
        for token, expected, hint in (
            ("", "approve", "does not pay"),
            (TOKEN, "paid", "Prolific is notified and pays"),
            ("no-such-token-here", "unpaid", "Prolific is notified and pays"),
        ):
            monkeypatch.setenv("PROLIFIC_API_TOKEN", token)
            assert hint in visitor.get(f"/console/participant?key={person}").text
            answer = visitor.post("/console/participant", key=person, act="approve")
            assert answer.headers["location"].endswith(f"done={expected}")
            assert 'class="done"' in visitor.get(answer.headers["location"]).text
        paid = known.approved
    assert paid == ["their-session"]
    acts = [item.action for item in service.actions.audit() if item.who == "some owner"]
    assert acts.count("approve on Prolific") == 1


def test_what_no_database_takes_is_taken_out_of_what_is_sent(lab: Lab) -> None:
    service, _ = busy(lab, people=1)
    key = next(
        participant.person
        for participant in service.actions.participants()
        if participant.status == "finished"
    )
    with at_console(service) as visitor:
        assert "1 to 1 of 1" in visitor.get(f"/console/participants?key={key}%00").text
        assert visitor.get(f"/console/participant?key={key}%00").status_code == 200
        for path in ("/console/welcome?link=%00", "/console/participant?key=x%00"):
            assert visitor.get(path).status_code in (403, 404), path
        for path, fields, status in (
            ("/console/participant", {"act": "exclude", "key": "x\x00", "reason": "bad"}, 303),
            ("/console/participant", {"act": "approve", "key": f"{key}\x00"}, 303),
            ("/console/participant", {"act": "exclude", "key": key, "reason": "a\x00b"}, 303),
            ("/console/identities", {"sure": "yes", "reason": "a\x00b"}, 200),
            ("/console/manage", {"act": "stop-arm", "arm": "x\x00"}, 303),
            ("/console/invite", {"role": "x\x00"}, 303),
        ):
            assert visitor.post(path, **fields).status_code == status, fields
    assert [
        item.details["reason"] for item in service.actions.audit() if item.action == "exclude"
    ] == ["ab"]


@pytest.mark.parametrize(
    ("study", "command"),
    [
        (between(), "empathylab analyze ratings --study small"),
        (appraisal(), "empathylab analyze appraisal --respondent human"),
    ],
    ids=["rated", "appraised"],
)
def test_the_results_name_a_command_that_there_is(
    sqlite_lab: Lab, study: Study, command: str
) -> None:
    service, _ = opened(sqlite_lab, study)
    service.actions.close()
    with at_console(service) as visitor:
        assert f"<code>{command}" in visitor.get("/console/results").text


def test_the_whole_package_is_sent_once_the_study_is_closed(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab)
    with at_console(service) as visitor:
        visitor.refused("/console/downloads", file="package.zip")
        fields = {"name": "small", "reason": "The board asks for it", "file": "package.zip"}
        early = visitor.post("/console/peek-download", **fields)
        service.actions.close()
        sent = visitor.post("/console/downloads", file="package.zip")
    for answer in (early, sent):
        names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
        assert any(name.startswith("small/ratings") for name in names), names
    acts = [(item.action, item.details.get("reason")) for item in service.actions.audit()]
    assert any(reason == "The board asks for it" for _, reason in acts), acts
    assert "export" in [action for action, _ in acts]


def test_a_study_without_comments_says_so(sqlite_lab: Lab) -> None:
    study = between()
    blocks = tuple(block for block in study.blocks if block.kind != "comment")
    service, _ = opened(sqlite_lab, between(blocks=blocks))
    with at_console(service) as visitor:
        assert "does not ask for comments" in visitor.get("/console/comments").text


def test_a_lab_that_cannot_be_reached_is_said_calmly(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from empathylab.errors import LabError

    service, _ = opened(sqlite_lab)
    with at_console(service) as visitor:

        def broken() -> None:
            raise LabError("the database cannot be reached", where="secret-host", remedy="Wait.")

        monkeypatch.setattr(sqlite_lab, "reading", broken)
        answer = visitor.ask("GET", "/console")
    assert answer.status_code == 503
    assert "secret-host" not in answer.text


def test_nobody_signs_in_to_a_lab_without_accounts(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, None) as visitor:
        assert "There is no account yet" in visitor.get("/console").text
        assert visitor.log_in("anybody").headers["location"] == "/console/login"
    with sqlite_lab.reading() as connection:
        assert connection.execute(select(schema.researchers)).all() == []
