"""Alerts: each sent once, tried again where a channel fails, against real servers on loopback."""

from __future__ import annotations

import contextlib
import json
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from empathylab.errors import InputError, LabError
from empathylab.store import Lab, schema
from empathylab.store.studies.alerts import comments_after
from empathylab.study.admin import alert_channels
from empathylab.study.admin.alert_channels import Email, Notice, Webhook, channels
from empathylab.study.admin.alerts import MOST_ATTEMPTS, Alerts, ErrorNotes
from empathylab.study.design.definition import Quota
from empathylab.study.session.service import StudyService
from tests.study.examples import between
from tests.study.service_examples import opened, rows_of, someone, walk
from tests.study.web.console.researchers import at_console
from tests.study.web.raters import visiting


class MailServer(socketserver.ThreadingTCPServer):
    """An SMTP server that keeps what it is given; `refuses` makes it answer 451."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), MailSession)
        self.messages: list[str] = []
        self.refuses = False


class MailSession(socketserver.StreamRequestHandler):
    """One client of the mail server."""

    def handle(self) -> None:
        server: Any = self.server
        self._say("220 loopback")
        while line := self.rfile.readline().decode().strip():
            word = line.upper().partition(" ")[0]
            if word in ("EHLO", "HELO"):
                self._say("250 loopback")
            elif word == "DATA" and not server.refuses:
                self._say("354 go on")
                server.messages.append(self._content())
                self._say("250 taken")
            elif word == "DATA":
                self._say("451 not now")
            elif word == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _content(self) -> str:
        lines = []
        while (line := self.rfile.readline().decode()) != ".\r\n":
            lines.append(line)
        return "".join(lines)

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


class HookServer(ThreadingHTTPServer):
    """A webhook that keeps what it is sent and answers `status`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HookRequest)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 200
        self.pause = 0.0


class HookRequest(BaseHTTPRequestHandler):
    """One request to the webhook."""

    def do_POST(self) -> None:
        server: Any = self.server
        time.sleep(server.pause)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.keys.append(self.headers["Idempotency-Key"])
        if server.status == 200:
            server.bodies.append(body)
        self.send_response(server.status)
        if server.status == 302:
            self.send_header("Location", "http://127.0.0.1:1/")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def running(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with running(MailServer()) as server:
        yield server


@pytest.fixture
def hook() -> Iterator[HookServer]:
    with running(HookServer()) as server:
        yield server


def alerts_of(service: StudyService, mail: MailServer, hook: HookServer) -> Alerts:
    email = Email("127.0.0.1", mail.server_address[1], "lab@example.org", ("ann@example.org",))
    webhook = Webhook(f"http://127.0.0.1:{hook.server_address[1]}/secret-path")
    return Alerts(service, {"email": email, "webhook": webhook}, "https://example.org/console")


def commented(service: StudyService, name: str, words: str) -> str:
    person = someone(service, name)
    walk(service, person, until="comment")
    service.submit(person, "comment", {"comment": words}, {})
    return person


def test_every_event_is_sent_once_by_every_channel(
    lab: Lab, mail: MailServer, hook: HookServer
) -> None:
    quota = Quota(by="sex", counts={"male": 2}, others=4)
    service, _ = opened(lab, between(quotas=(quota,), ratings_per_response=1))
    alerts = alerts_of(service, mail, hook)
    alerts.look()
    assert (mail.messages, hook.bodies) == ([], [])
    ann = commented(service, "ann-on-the-platform", "All was clear, secret words")
    alerts.look()
    commented(service, "bob", "This is unfair, nothing worked")
    alerts.look()
    alerts_of(service, mail, hook).look()  # another process, which has seen nothing yet
    kinds = [event["kind"] for body in hook.bodies for event in body["events"]]
    assert sorted(kinds) == ["comment", "complaint", "quota"]
    everything = "".join(mail.messages) + json.dumps(hook.bodies)
    assert len(mail.messages) == len(hook.bodies) == 2
    assert "Quota reached: sex = male (2)." in everything
    assert "https://example.org/console" in mail.messages[0]
    for secret in ("secret words", "ann-on-the-platform", ann, "unfair", "first/model"):
        assert secret not in everything
    assert {row["state"] for row in rows_of(lab, schema.alerts)} == {"sent"}


def test_a_comment_is_an_alert_even_if_the_lab_fails_or_it_becomes_visible_late(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise LabError("the disk is full", remedy="Make room.")

    service, _ = opened(sqlite_lab)
    people = [commented(service, name, "Hello") for name in ("ann", "bob")]
    slots = {row["person"]: str(row["id"]) for row in rows_of(sqlite_lab, schema.slots)}
    alerts = Alerts(service, {})
    with monkeypatch.context() as failing:
        failing.setattr("empathylab.study.admin.alerts.add_alerts", fails)
        with pytest.raises(LabError):
            alerts.look()
    read = comments_after
    with monkeypatch.context() as delayed:  # ann's transaction ends after bob's
        delayed.setattr(
            "empathylab.study.admin.alerts.comments_after", lambda *given: read(*given)[1:]
        )
        alerts.look()
    alerts.look()
    keys = {row["key"] for row in rows_of(sqlite_lab, schema.alerts)}
    assert keys == {slots[person] for person in people}


def test_the_end_is_announced_when_all_places_are_finished(
    sqlite_lab: Lab, mail: MailServer, hook: HookServer
) -> None:
    service, _ = opened(sqlite_lab, between(ratings_per_response=1))
    for number in range(6):
        walk(service, someone(service, f"rater {number}"))
    alerts = alerts_of(service, mail, hook)
    alerts.look()
    alerts.look()
    assert [event["text"] for body in hook.bodies for event in body["events"]] == [
        "All 6 slots are finished."
    ]


def test_what_a_channel_refuses_is_sent_later_and_given_up_in_the_end(
    lab: Lab, mail: MailServer, hook: HookServer
) -> None:
    service, clock = opened(lab)
    commented(service, "ann", "Hello")
    mail.refuses = True
    alerts = alerts_of(service, mail, hook)
    alerts.look()
    alerts.look()
    assert (len(mail.messages), len(hook.bodies)) == (0, 1)
    states = {row["channel"]: row["state"] for row in rows_of(lab, schema.alerts)}
    assert states == {"email": "pending", "webhook": "sent"}
    mail.refuses = False
    clock.skip(minutes=2)
    alerts.look()
    alerts.look()
    assert (len(mail.messages), len(hook.bodies)) == (1, 1)
    hook.status = 500
    commented(service, "bob", "Hello again")
    for _ in range(MOST_ATTEMPTS + 2):
        alerts.look()
        clock.skip(hours=7)
    last = max(rows_of(lab, schema.alerts), key=lambda row: (row["channel"], row["id"]))
    assert (last["state"], last["attempts"]) == ("failed", MOST_ATTEMPTS)
    assert len(set(hook.keys[1:])) == 1  # the same key at every attempt
    hook.status = 302
    commented(service, "cleo", "And again")
    alerts.look()
    assert len(hook.bodies) == 1  # a redirect is not followed


def test_a_participant_never_waits_for_a_channel(
    sqlite_lab: Lab, mail: MailServer, hook: HookServer
) -> None:
    service, _ = opened(sqlite_lab)
    commented(service, "ann", "Hello")
    hook.pause = 1.5
    thread = threading.Thread(target=alerts_of(service, mail, hook).look)
    thread.start()
    while not [row for row in rows_of(sqlite_lab, schema.alerts) if row["attempts"]]:
        time.sleep(0.01)
    walk(service, someone(service, "bob"))
    assert thread.is_alive()  # the webhook still has not answered
    thread.join()


def test_a_failed_page_is_kept_as_one_alert(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, _ = opened(sqlite_lab)
    with visiting(service) as visitor:
        visitor.get("/")
        monkeypatch.setattr(service, "view", lambda *_: 1 / 0)
        for _ in range(3):
            assert visitor.ask("GET", "/page").status_code == 500
    deadline = time.monotonic() + 60
    while len(rows_of(sqlite_lab, schema.alerts)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    rows = rows_of(sqlite_lab, schema.alerts)
    assert [(row["kind"], row["state"]) for row in rows] == [("error", "off")] * 2
    notes = ErrorNotes(attempts=1)
    notes.note(service)
    notes.note(service)


def test_channels_are_read_from_the_environment() -> None:
    assert channels({}) == {}
    found = channels(
        {
            "EMPATHYLAB_SMTP_URL": "smtps://me:p%40ss@mail.example.org",
            "EMPATHYLAB_ALERT_TO": "a@example.org, b@example.org",
            "EMPATHYLAB_ALERT_WEBHOOK": "https://hooks.example.org/very-secret",
        }
    )
    email = found["email"]
    assert isinstance(email, Email)
    assert (email.port, email.tls, email.user, email.password) == (465, True, "me", "p@ss")
    assert email.sender == "a@example.org"
    assert "p@ss" not in repr(found)
    assert "very-secret" not in repr(found) + found["webhook"].target
    for wrong in (
        {"EMPATHYLAB_SMTP_URL": "mail.example.org"},
        {"EMPATHYLAB_SMTP_URL": "smtp://mail.example.org:port"},
        {"EMPATHYLAB_SMTP_URL": "smtp://mail.example.org"},
        {"EMPATHYLAB_ALERT_WEBHOOK": "http://hooks.example.org/"},
        {"EMPATHYLAB_ALERT_WEBHOOK": "file:///etc/passwd"},
    ):
        with pytest.raises(InputError):
            channels(wrong)


def test_a_password_is_never_sent_without_tls_to_another_machine(
    mail: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_channels, "is_this_machine", lambda host: False)
    port = mail.server_address[1]
    email = Email("127.0.0.1", port, "lab@example.org", ("ann@example.org",), user="me")
    notice = Notice("1", "small", "small: a test", ("A test.",), ("test",), "")
    with pytest.raises(OSError, match="offers no TLS"):
        email.send(notice)
    assert mail.messages == []
    replace(email, user="").send(notice)
    assert len(mail.messages) == 1


def test_the_console_lists_alerts_and_sends_a_test(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as visitor:
        assert visitor.post("/console/alerts").status_code == 303
        page = visitor.get("/console/alerts").text
    assert "This is a test alert." in page
    assert "channel off" in page
    assert [item.action for item in service.actions.audit()].count("test alert") == 1
