"""What researchers decide of participants and say to them: one transaction and one line of the
audit log each, and the messages as raters' pages show them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row

from empathylab.errors import InputError, LabError
from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.studies.records import add_audit
from empathylab.store.studies.reviews import (
    add_message,
    mark_messages_read,
    messages_to,
    unread_messages,
)
from empathylab.store.studies.slots import change_slot, find_slot
from empathylab.study.blocks.forms import Refused, clean_text
from empathylab.study.session.visits import Moved, Page, Saved, View

Verdict = Literal["approved", "rejected"]
MOST_REASON = 500
"""Characters of a reason."""
MOST_MESSAGE = 2000
"""Characters of a message."""
_LOOK_AGAIN = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Message:
    """From a researcher to a participant."""

    who: str
    text: str
    sent_at: datetime
    read_at: datetime | None


class Reviews:
    """The acts on single participants of one launched study; `study` is its id in the lab."""

    def __init__(self, lab: Lab, study: int, *, clock: Callable[[], datetime] = present) -> None:
        self._lab = lab
        self._study = study
        self._clock = clock

    def approve(self, person: str, reason: str = "", *, who: str = "researcher") -> None:
        """Writes down that finished work is accepted; that changes no analysis."""
        self._review(
            person, "approved", _checked_text(reason, "a reason", MOST_REASON, least=0), who
        )

    def reject(self, person: str, reason: str, *, who: str = "researcher") -> None:
        """Writes down that finished work is not accepted; leaving it out is `exclude`."""
        self._review(person, "rejected", _checked_text(reason, "a reason", MOST_REASON), who)

    def message(self, person: str, text: str, *, who: str = "researcher") -> None:
        """Keeps a message for the person's next page."""
        cleaned = _checked_text(text, "a message", MOST_MESSAGE)
        with self._lab.writing() as connection:
            row = self._row(connection, person)
            add_message(connection, row.id, who, cleaned, self._clock())
            self._note(connection, who, "message", person=person, characters=len(cleaned))

    def messages(self, person: str) -> tuple[Message, ...]:
        """What was said to the person, oldest first."""
        with self._lab.reading() as connection:
            rows = messages_to(connection, self._row(connection, person, lock=False).id)
        return tuple(Message(row.who, row.text, row.sent_at, row.read_at) for row in rows)

    def _review(self, person: str, verdict: Verdict, reason: str, who: str) -> None:
        with self._lab.writing() as connection:
            row = self._row(connection, person)
            if row.status not in ("finished", "excluded") or row.outcome != "completed":
                raise InputError(
                    f"only finished work can be {verdict}",
                    where=f"participant {person}",
                    got=row.status,
                    remedy="Wait until they have finished, or free their slot.",
                )
            change_slot(connection, row.id, review=verdict, review_reason=reason or None)
            act = "approve" if verdict == "approved" else "reject"
            self._note(connection, who, act, person=person, reason=reason)

    def _row(self, connection: Connection, person: str, *, lock: bool = True) -> Row[Any]:
        row = find_slot(connection, self._study, clean_text(person), lock=lock)
        if row is None:
            raise InputError(
                "there is no such participant",
                got=person[:60],
                remedy="Copy the key from the list of participants.",
            )
        return row

    def _note(self, connection: Connection, who: str, action: str, **details: Any) -> None:
        add_audit(connection, self._study, self._clock(), who, action, **details)


class Inbox:
    """The messages that people have not read yet, as one server process knows and shows them.

    It asks the database every two seconds at most, however many pages are shown.
    """

    def __init__(self, lab: Lab, study: int, *, clock: Callable[[], datetime] = present) -> None:
        self._lab = lab
        self._study = study
        self._clock = clock
        self._looked = -_LOOK_AGAIN.total_seconds()
        self._waiting: dict[str, dict[int, str]] = {}
        self._turn = threading.Lock()
        self._shown: dict[str, tuple[str, ...]] = {}
        """By person, the messages on the page that they were last shown."""

    def on(self, person: str, view: View) -> View:
        """The view with the person's messages, where it is a page."""
        if not isinstance(view, Page) or not (messages := self.unread(person)):
            return view
        self._shown[person] = messages
        return dataclasses.replace(view, messages=messages)

    def after(self, person: str, done: Saved | Refused | Moved) -> Saved | Refused | Moved:
        """What became of a submission, with the messages that the next page is to show."""
        if isinstance(done, Saved):
            # The answer is on the disk; trouble with messages must not make it look otherwise.
            with contextlib.suppress(LabError):
                # They have read what stood there; what came since is still to be shown.
                if self._shown.pop(person, ()) == self.unread(person):
                    self.mark_read(person)
                if done.following is not None:
                    following = self.on(person, done.following)
                    if following is not done.following:
                        return dataclasses.replace(done, following=following)
        return done

    def unread(self, person: str) -> tuple[str, ...]:
        """What is to be shown at the top of the person's page, oldest first."""
        self._look()
        return tuple(self._waiting.get(person, {}).values())

    def mark_read(self, person: str) -> None:
        """Writes down that the person went on from a page that showed them."""
        shown = self._waiting.get(person)
        if not shown:
            return
        with self._lab.writing() as connection:
            mark_messages_read(connection, list(shown), self._clock())
        self._waiting = {key: messages for key, messages in self._waiting.items() if key != person}

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked < _LOOK_AGAIN.total_seconds():
            return
        # Anyone who comes while another thread looks goes by what was known before.
        if not self._turn.acquire(blocking=False):
            return
        try:
            with self._lab.reading() as connection:
                rows = unread_messages(connection, self._study)
            waiting: dict[str, dict[int, str]] = {}
            for row in rows:
                waiting.setdefault(row.person, {})[row.id] = row.text
            self._waiting, self._looked = waiting, now
        finally:
            self._turn.release()


def _checked_text(text: str, what: str, most: int, *, least: int = 1) -> str:
    """The text, cleaned; refused where it is empty or too long."""
    cleaned = clean_text(text)
    if not least <= len(cleaned) <= most:
        raise InputError(
            f"{what} must have {least} to {most} characters",
            got=f"{len(cleaned)} characters",
            remedy="Change its length." if cleaned else "Write one.",
        )
    return cleaned
