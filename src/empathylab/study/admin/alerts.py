"""Alerts for researchers: quota reached, comment, complaint, error, all finished.

A thread of the server reads what happened from the lab and sends it, so that no participant ever
waits for a mail server. Each event is stored once for each channel and sent until the channel has
taken it. Alerts hold no answers, no comments, no ids and no arms: they say that it is time to look.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from empathylab.errors import UserError
from empathylab.store import Lab
from empathylab.store.studies.alerts import (
    Channel,
    add_alerts,
    change_alerts,
    claim_alerts,
    comments_after,
    stopped_for_safety,
)
from empathylab.store.studies.records import audit_rows
from empathylab.study.admin.alert_channels import Notice, Sender, channels
from empathylab.study.admin.background import BackgroundWork
from empathylab.study.admin.monitoring import Sums, read_status
from empathylab.study.live.pausing import ENGINE
from empathylab.study.session.launched import Launched
from empathylab.study.session.running import RunningStudy

EVERY = 30.0
MOST_ATTEMPTS = 10
_CLAIMED = timedelta(minutes=5)
_LONGEST_PAUSE = timedelta(hours=6)
_COMPLAINT = re.compile(
    r"complain|unfair|distress|upset|offen[sd]|broken|did(?: not|n't) work|error|bug\b|scam|unpaid"
    r"|beschwer|fehler|funktioniert nicht|queja|injust|no funciona|erreur|plainte"
    r"|ne fonctionne pas|reclama|não funciona|投诉|不公平|错误|不能用|苦情|エラー|불만|오류"
    r"|شكوى|خطأ",
    re.IGNORECASE,
)
_SENTENCES = {
    "quota": "Quota reached: {by} = {kind} ({limit}).",
    "done": "All {places} slots are finished.",
    "comment": "A participant left a comment.",
    "complaint": "A participant left a comment that may be a complaint.",
    "error": "The server failed on a page. See its log.",
    "safety": "A participant's session was ended for safety reasons. See the list of participants.",
    "outage": "The study is paused: the provider of the model is down or too slow.",
    "study-cap": "The study is paused: its cost limit is reached.",
    "test": "This is a test alert.",
}
log = logging.getLogger("empathylab.study.admin")


def sentence(kind: str, details: Mapping[str, Any]) -> str:
    """One event as it is sent."""
    return _SENTENCES[kind].format_map(details)


def configured() -> dict[Channel, Sender]:
    """The channels that the environment sets; none where its settings are wrong."""
    try:
        return channels()
    except UserError as error:
        log.warning("alerts are not sent: %s", error)
        return {}


def note_event(lab: Lab, study: int, kind: str, key: str, at: datetime) -> None:
    """Keeps an event, which the server's thread sends."""
    with lab.writing() as connection:
        add_alerts(connection, study, [(kind, key, {})], configured(), at)


class ErrorNotes:
    """Keeps failures of one server process as alerts, in a thread, once a minute at most."""

    def __init__(self, attempts: int = 5, pause: float = 30.0) -> None:
        self._attempts, self._pause = attempts, pause
        self._last = -60.0

    def note(self, service: RunningStudy) -> None:
        """Returns at once; where the database is away, the thread tries again later."""
        now = time.monotonic()
        if now - self._last >= 60:
            self._last = now
            threading.Thread(target=self._write, args=(service,), daemon=True).start()

    def _write(self, service: RunningStudy) -> None:
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(self._pause)
            try:
                at = service.now()
                note_event(service.lab, service.launched.row, "error", f"{at:%Y-%m-%d %H}", at)
            except Exception as error:  # noqa: BLE001 - a failing page must not fail twice
                log.warning("an error could not be stored as an alert: %s", type(error).__name__)
            else:
                return


class Alerts:
    """The alerts of one launched study."""

    def __init__(
        self, service: RunningStudy, senders: Mapping[Channel, Sender], console_url: str = ""
    ) -> None:
        self._service = service
        self._senders = senders
        self._url = console_url
        self._comments_read = self._newest_comment = 0
        """The newest answer that was read the time before the last, and the last time."""

    def look(self) -> None:
        """Stores what has happened since, and sends what is due."""
        service = self._service
        now = service.now()
        comments, newest = self._comments()
        events = [*self._progress(now), *comments, *self._live()]
        with service.lab.writing() as connection:
            add_alerts(connection, service.launched.row, events, self._senders.keys(), now)
        self._comments_read, self._newest_comment = self._newest_comment, newest
        self.send()

    def send(self) -> None:
        """Sends what is due; what a channel does not take is sent again later."""
        for channel, sender in self._senders.items():
            self._send(channel, sender)

    def _send(self, channel: Channel, sender: Sender) -> None:
        service, now = self._service, self._service.now()
        with service.lab.writing() as connection:
            row = service.launched.row
            due = claim_alerts(connection, row, channel, now, now + _CLAIMED)
        if not due:
            return
        numbers = [item.id for item in due]
        try:
            sender.send(self._notice(due))
        except OSError as error:
            log.warning("alerts by %s were not accepted: %s", channel, error)
            with service.lab.writing() as connection:
                for item in due:
                    pause = min(timedelta(minutes=2**item.attempts), _LONGEST_PAUSE)
                    state = "failed" if item.attempts + 1 >= MOST_ATTEMPTS else "pending"
                    change_alerts(connection, [item.id], state=state, next_at=now + pause)
            return
        with service.lab.writing() as connection:
            change_alerts(connection, numbers, state="sent")

    def _notice(self, due: Any) -> Notice:
        study = self._service.study
        lines = tuple(sentence(item.kind, item.details) for item in due)
        named = "/".join([study.name, *(str(item.id) for item in due)]).encode()
        about = lines[0] if len(due) == 1 else f"{len(due)} events"
        return Notice(
            hashlib.sha256(self._service.launched.secret + named).hexdigest()[:32],
            study.name,
            f"{study.name}: {about}",
            lines,
            tuple(item.kind for item in due),
            self._url,
        )

    def _progress(self, now: datetime) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        status = read_status(self._service.lab, self._service.launched, now, sums=_no_sums)
        for quota in status.quotas:
            if 0 < quota.limit <= quota.held:
                details = {"by": quota.by, "kind": quota.kind, "limit": quota.limit}
                yield "quota", f"{quota.by}={quota.kind}", details
        places = sum(arm.places for arm in status.arms)
        if 0 < places <= status.finished:
            yield "done", str(status.revision), {"places": places}

    def _comments(self) -> tuple[list[tuple[str, str, Mapping[str, Any]]], int]:
        """The newest comments, and the number of the last.

        Each is read at two looks: numbers are given before a transaction ends, so that one may
        appear after a higher one.
        """
        launched = self._service.launched
        steps = [block.id for block in launched.study.blocks if block.holds_comments]
        with self._service.lab.reading() as connection:
            comments = comments_after(connection, launched.row, steps, self._comments_read)
        events: list[tuple[str, str, Mapping[str, Any]]] = [
            ("complaint" if _COMPLAINT.search(text) else "comment", str(slot), {})
            for _, slot, text in comments
        ]
        return events, max((answer for answer, _, _ in comments), default=self._newest_comment)

    def _live(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Participants who were stopped for their safety, and pauses for want of replies."""
        launched = self._service.launched
        if launched.study.live is None:
            return
        with self._service.lab.reading() as connection:
            for slot in stopped_for_safety(connection, launched.row):
                yield "safety", str(slot), {}
            for entry in audit_rows(connection, launched.row):
                if entry.action == "pause" and entry.who == ENGINE:
                    yield entry.details["reason"], str(entry.id), {}


def _no_sums(connection: Connection, launched: Launched) -> Sums:
    return Sums((), {}, ())


def start_alerts(service: RunningStudy, console_url: str = "") -> BackgroundWork:
    """The running thread; without channels it stores events and sends nothing."""
    alerts = Alerts(service, configured(), console_url)

    def look() -> None:
        try:
            alerts.look()
        except Exception as error:  # noqa: BLE001 - participants must never feel it
            log.warning("alerts could not be sent: %s", type(error).__name__)

    return BackgroundWork(look, EVERY, name="alerts")
