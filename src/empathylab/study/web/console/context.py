"""What the console's pages work with: one study of one lab."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from empathylab.store.studies.records import add_audit, find_study
from empathylab.study.admin.actions import AdminActions
from empathylab.study.admin.monitoring import StudyStatus, Sums, add_up, read_status, without_arms
from empathylab.study.admin.reviews import Reviews
from empathylab.study.session.launched import Launched
from empathylab.study.session.running import RunningStudy
from empathylab.study.web.console.sign_in.accounts import Accounts, console_secret
from empathylab.study.web.console.sign_in.second_factor import SecondFactors

QUICK = 0.1
"""Seconds; what takes less is always added up again."""
_SHARE = 20
"""Of 20 seconds, one at most is spent on adding up, however many people look."""
_LONGEST = 30.0


class RememberedSums:
    """The sums of one study: as of now in a small one, some seconds old in a very large one."""

    def __init__(
        self,
        add: Callable[[Connection, Launched], Sums] = add_up,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._add = add
        self._clock = clock
        self._known: Sums | None = None
        self._revision = 0
        self._good_until = 0.0
        self._lock = threading.Lock()

    def __call__(self, connection: Connection, launched: Launched) -> Sums:
        """Times, attention checks and balance."""
        with self._lock:  # anyone who comes meanwhile gets what is being added up
            began = self._clock()
            if (
                self._known is not None
                and self._revision == launched.revision
                and began < self._good_until
            ):
                return self._known
            self._known = self._add(connection, launched)
            self._revision = launched.revision
            ended = self._clock()
            took = ended - began
            self._good_until = ended + (min(_SHARE * took, _LONGEST) if took > QUICK else 0.0)
            return self._known


class Console:
    """The researcher's side of a launched study, for all requests of one process."""

    def __init__(self, running: RunningStudy, *, public_url: str = "") -> None:
        self.lab = lab = running.lab
        self.clock = clock = running.clock
        self.public_url = public_url.rstrip("/")
        self._running = running
        self._sums = RememberedSums()
        with lab.reading() as connection:
            self.secret = console_secret(connection)
        self.accounts = Accounts(lab, self.secret, clock=clock)
        self.second_factors = SecondFactors(lab, self.secret, clock)
        self.reviews = Reviews(lab, running.launched.row, clock=clock)

    @property
    def actions(self) -> AdminActions:
        """The actions on the whole study."""
        return AdminActions(self._current())

    def _current(self) -> RunningStudy:
        """The study with the arms that have joined since."""
        with self.lab.reading() as connection:
            study = self._running.study
            row = find_study(connection, study.name, study.version)
            if row is not None and row.revision != self._running.launched.revision:
                self._running.reload(connection)
        return self._running

    @property
    def launched(self) -> Launched:
        """What was frozen at launch."""
        return self._running.launched

    def status(self) -> str:
        """Whether the study is open, paused or closed."""
        study = self._running.study
        with self.lab.reading() as connection:
            row = find_study(connection, study.name, study.version)
        return "" if row is None else str(row.status)

    def progress(self) -> StudyStatus:
        """How far the study is; while it is open, nothing that identifies an arm."""
        return without_arms(
            read_status(self.lab, self._current().launched, self.clock(), sums=self._sums)
        )

    def note(self, who: str, action: str, **details: Any) -> None:
        """Writes a line of the audit log, durably, before what it is about is shown."""
        with self.lab.writing() as connection:
            add_audit(connection, self.launched.row, self.clock(), who, action, **details)
