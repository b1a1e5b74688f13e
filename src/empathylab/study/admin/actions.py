"""What researchers do with a running study, each act written down, and what they can see of it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any, get_args

from sqlalchemy import Connection, Row

from empathylab.errors import InputError, UnknownName
from empathylab.store.studies.deletion import exclude_replies
from empathylab.store.studies.records import (
    add_audit,
    audit_rows,
    change_study,
    lock_study,
    other_versions,
    stop_arm,
    stopped_arms,
)
from empathylab.store.studies.results import exclude_rater
from empathylab.store.studies.slots import (
    all_slots,
    change_slot,
    find_slot,
    people_rows,
    slot_is_held,
)
from empathylab.study.admin.deletion import erase, forget_rater, leave_no_trace
from empathylab.study.admin.monitoring import StudyStatus, read_status
from empathylab.study.assignment.allocation import Freed, World, ended
from empathylab.study.blocks.forms import clean_text
from empathylab.study.group_commit.current_places import place_of
from empathylab.study.session.running import (
    RunningStudy,
    require_not_closed,
    study_status,
    visits,
)
from empathylab.study.session.visits import AuditEntry, Participant

_RENAMED = {"tell": "update platform details"}
"""Actions as labs of earlier versions name them."""


def exclude_row(
    study: RunningStudy, connection: Connection, row: Row[Any], reason: str, *, who: str
) -> None:
    """Excludes a participant, in a transaction that has locked the study and their row."""
    number = study.launched.row
    change_slot(connection, row.id, status=ended(place_of(row), "excluded").status)
    exclude_rater(connection, number, row.person, reason)
    exclude_replies(connection, study.name, row.person, reason)
    details = {"person": row.person, "reason": reason, "status": row.status}
    add_audit(connection, number, study.now(), who, "exclude", **details)


def include_row(study: RunningStudy, connection: Connection, row: Row[Any], *, who: str) -> None:
    """Undoes an exclusion, in a transaction that has locked the study and the row.

    Finished work counts again, even where another participant has taken the slot since: refusing
    would show that both are in the same arm. Others can resume if their slot is still free.
    """
    number = study.launched.row
    before = [
        entry.details.get("status")
        for entry in audit_rows(connection, number)
        if entry.action == "exclude" and entry.details.get("person") == row.person
    ]
    # Someone may be excluded again, for another reason.
    status = next((item for item in reversed(before) if item != "excluded"), None)
    if status is None:
        status = "finished" if row.outcome == "completed" else "abandoned"
    values: dict[str, Any] = {"status": "abandoned" if status == "live" else status}
    if status == "finished" and slot_is_held(connection, number, row):
        values["slot"] = None
    change_slot(connection, row.id, **values)
    exclude_rater(connection, number, row.person, None)
    exclude_replies(connection, study.name, row.person, None)
    add_audit(connection, number, study.now(), who, "undo exclusion", person=row.person)


def release_row(
    study: RunningStudy, connection: Connection, row: Row[Any], status: Freed, *, who: str
) -> None:
    """Frees a live slot, in a transaction that has locked the study and the row."""
    change_slot(connection, row.id, status=ended(place_of(row), status).status)
    details = {"person": row.person, "status": status}
    add_audit(connection, study.launched.row, study.now(), who, "release", **details)


class AdminActions:
    """The researcher's side of a launched study."""

    def __init__(self, running: RunningStudy) -> None:
        self._running = running

    def pause(self, *, who: str = "researcher") -> None:
        """Takes nobody new; who is in may go on."""
        self._set_status("paused", who, "pause")

    def resume(self, arm: str | None = None, *, who: str = "researcher") -> None:
        """Takes people again, in a paused study or in a stopped arm of it."""
        if arm is None:
            self._set_status("open", who, "resume")
        else:
            self._switch(arm, who, stopped=False)

    def stop_arm(self, arm: str, *, who: str = "researcher") -> None:
        """Puts nobody new into the arm."""
        self._switch(arm, who, stopped=True)

    def close(self, *, who: str = "researcher") -> None:
        """Ends the study permanently; unfinished participants cannot."""
        self._set_status("closed", who, "close")

    def exclude(self, person: str, reason: str, *, who: str = "researcher") -> bool:
        """Whether someone was left out of every analysis; their slot is free again."""
        with self._locked(person) as (connection, row):
            if row is None or row.arm is None:
                return False
            if row.world != "person":
                raise InputError(
                    "only people can be excluded; simulated raters and test visits are never "
                    "counted",
                    where=f"study {self._running.name}",
                    got=person,
                    remedy="Leave them as they are.",
                )
            exclude_row(self._running, connection, row, reason, who=who)
        return True

    def include(self, person: str, *, who: str = "researcher") -> bool:
        """Whether an exclusion was undone, so that analyses count the participant again."""
        with self._locked(person) as (connection, row):
            if row is None or row.status != "excluded":
                return False
            include_row(self._running, connection, row, who=who)
        return True

    def find(self, platform_id: str) -> list[str]:
        """The keys of the participant with this platform ID."""
        with self._running.lab.reading() as connection:
            return self._keys_of(connection, self._running.launched.row, platform_id)

    def release(self, person: str, status: Freed = "returned", *, who: str = "researcher") -> bool:
        """Whether the slot of someone who has not finished was freed, because they left it."""
        with self._locked(person) as (connection, row):
            if row is None or row.status != "live":
                return False
            release_row(self._running, connection, row, status, who=who)
        return True

    def forget(
        self, person: str | None = None, *, platform_id: str | None = None, who: str = "researcher"
    ) -> int:
        """How many places of the person were emptied, in all versions of the study.

        By their key, or by the id that the platform knows them under. Only counts remain, and until
        retention a digest by which they are recognised if they return. Raters without a place, as
        an import brings them, are found by their key.
        """
        if (person is None) == (platform_id is None):
            raise InputError(
                "a person is identified by their key or by their platform ID",
                remedy="Give one of the two.",
            )
        own, at = self._running.launched.row, self._running.now()
        with self._running.lab.writing() as connection:
            erased = 0
            for study in sorted([own, *other_versions(connection, self._running.name, own)]):
                lock_study(connection, study)
                keys = [person] if person else self._keys_of(connection, study, platform_id or "")
                for key in keys:
                    row = find_slot(connection, study, key, lock=True)
                    if row is not None:
                        erase(connection, self._running.launched, row, who=who, at=at)
                        erased += 1
                    else:
                        erased += forget_rater(
                            connection, self._running.name, study, key, who=who, at=at
                        )
            if erased:
                add_audit(connection, own, at, who, "forget", places=erased)
        if erased:
            leave_no_trace(self._running.lab)
        return erased

    def audit(self) -> tuple[AuditEntry, ...]:
        """What researchers did, in the order in which they did it."""
        with self._running.lab.reading() as connection:
            rows = audit_rows(connection, self._running.launched.row)
        return tuple(
            AuditEntry(row.at, row.who, _RENAMED.get(row.action, row.action), row.details)
            for row in rows
        )

    def participants(self) -> tuple[Participant, ...]:
        """Everybody who came, in that order."""
        with self._running.lab.reading() as connection:
            rows = all_slots(connection, self._running.launched.row)
        return tuple(
            Participant(
                row.person,
                row.world,
                row.arm,
                row.status,
                row.outcome,
                row.arrived_at,
                row.seen_at,
                row.answered,
            )
            for row in rows
        )

    def status(self) -> StudyStatus:
        """How far the study is, as of now."""
        return read_status(self._running.lab, self._running.launched, self._running.now())

    @contextlib.contextmanager
    def _locked(self, person: str) -> Iterator[tuple[Connection, Row[Any] | None]]:
        """A transaction that has locked the study and the person's row, and that row."""
        study = self._running.launched.row
        with self._running.lab.writing() as connection:
            lock_study(connection, study)
            yield connection, find_slot(connection, study, person, lock=True)

    def _set_status(self, status: str, who: str, action: str) -> None:
        study, now = self._running.launched.row, self._running.now()
        with self._running.lab.writing() as connection:
            lock_study(connection, study)
            if study_status(self._running, connection) == status:
                return
            require_not_closed(self._running, connection)
            closed = {"closed_at": now} if status == "closed" else {}
            change_study(connection, study, status=status, **closed)
            add_audit(connection, study, now, who, action)

    def _switch(self, arm: str, who: str, *, stopped: bool) -> None:
        study = self._running.launched.row
        with self._running.lab.writing() as connection:
            lock_study(connection, study)
            require_not_closed(self._running, connection)
            if arm not in self._running.launched.slots:
                raise UnknownName("arm", arm, self._running.launched.slots)
            if (arm in stopped_arms(connection, study)) == stopped:
                return
            stop_arm(connection, study, arm, stopped=stopped)
            action = "stop arm" if stopped else "resume arm"
            add_audit(connection, study, self._running.now(), who, action, arm=arm)

    def _keys_of(self, connection: Connection, study: int, platform_id: str) -> list[str]:
        """All keys of the platform's id, also where the id itself has been deleted."""
        stored, platform = clean_text(platform_id), self._running.study.recruitment.platform
        keys = {
            row.person: None
            for row in people_rows(connection, study)
            if row.ids.get("person") == stored
        }
        for world in get_args(World):
            key_of = functools.partial(self._running.key_of, platform, platform_id, world)
            own = visits(connection, study, key_of)
            keys |= {key: None for key, row in own if row is not None}
        return list(keys)
