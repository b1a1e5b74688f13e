from __future__ import annotations

import pytest

from empathylab.study.admin.alerts import ErrorNotes
from empathylab.study.session.running import RunningStudy
from tests.study.web.desk import Desk


@pytest.fixture(autouse=True)
def count_failures_of_a_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk has no database for alerts, so it counts the failures that the app notes."""
    note = ErrorNotes.note

    def note_or_count(self: ErrorNotes, service: RunningStudy | Desk) -> None:
        if isinstance(service, Desk):
            service.failures += 1
        else:
            note(self, service)

    monkeypatch.setattr(ErrorNotes, "note", note_or_count)
