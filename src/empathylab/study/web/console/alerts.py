"""Alerts: which channels are set, what was sent, and a test."""

from __future__ import annotations

import secrets

from starlette.responses import Response

from empathylab.store.studies.alerts import CHANNELS, listed_alerts
from empathylab.study.admin.alerts import configured, note_event, sentence
from empathylab.study.web.console.paging import read_page
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

PAGE = 100
CHANNEL_NAMES = {"email": text("E-mail"), "webhook": text("Webhook")}
STATES = {
    "pending": text("waiting"),
    "sent": text("sent"),
    "failed": text("failed"),
    "off": text("channel off"),
}
KINDS = {
    "quota": text("Quota reached"),
    "done": text("All slots finished"),
    "comment": text("Comment"),
    "complaint": text("Possible complaint"),
    "error": text("Server error"),
    "test": text("Test"),
}


def show_alerts(visit: Visit) -> Response:
    """The channels and the newest alerts."""
    pager, rows = read_page(visit, listed_alerts, size=PAGE)
    senders = configured()
    return page(
        visit,
        "alerts",
        text("Alerts"),
        channels=[(CHANNEL_NAMES[item], senders.get(item)) for item in CHANNELS],
        rows=[(row, sentence(row.kind, row.details)) for row in rows],
        kinds=KINDS,
        states=STATES,
        names=CHANNEL_NAMES,
        pager=pager,
        sent=visit.asked("done") == "test",
    )


def send_test(visit: Visit) -> Response:
    """Stores an alert that says nothing; the server sends it within half a minute."""
    console = visit.console
    visit.console.note(visit.who, "test alert")
    note_event(console.lab, console.launched.row, "test", secrets.token_hex(8), console.clock())
    return visit.to("/console/alerts?done=test")
