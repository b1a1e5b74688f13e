"""Studies with people, as pages and consoles use them: every call is one transaction.

Safe across threads and processes: a person's row is locked while they answer, and the study's
while somebody claims a place. What has returned `Saved` is on the disk.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Literal, TypeVar, cast

from sqlalchemy import Row

from empathylab.errors import LabError
from empathylab.store.studies.places import change_place, find_place
from empathylab.study.admin.actions import Steering
from empathylab.study.admin.deletion import PARTICIPANT, erase, leave_no_trace
from empathylab.study.admin.launching import launch
from empathylab.study.admin.reviews import Inbox
from empathylab.study.assignment.allocation import FOR_GOOD, Status, World, ended, last_seen
from empathylab.study.blocks.answers import check_answer, valid_values
from empathylab.study.blocks.forms import Refused, clean_text
from empathylab.study.blocks.interface import ParticipantPath
from empathylab.study.group_commit.batches import Round
from empathylab.study.session.completion import Completion, completion_for
from empathylab.study.session.eligibility import was_here
from empathylab.study.session.flow import End, GoTo, Show, decide
from empathylab.study.session.launched import load_launched
from empathylab.study.session.submissions import Values, hurried, late, single
from empathylab.study.session.transactions import Escalate, Mode, Sitting
from empathylab.study.session.visits import (
    ArmStatus,
    AttentionCount,
    AuditEntry,
    Closed,
    Finished,
    Moved,
    Page,
    Participant,
    PlatformIds,
    Saved,
    StudyStatus,
    View,
)

__all__ = [
    "ArmStatus",
    "AttentionCount",
    "AuditEntry",
    "Closed",
    "Finished",
    "Moved",
    "Page",
    "Participant",
    "PlatformIds",
    "Refused",
    "Saved",
    "StudyService",
    "StudyStatus",
    "View",
    "launch",
]

Result = TypeVar("Result")
Unknown = TypeVar("Unknown")
Freed = Literal["returned", "timed-out", "abandoned"]

_ATTEMPTS = 20
_UNKNOWN = "We do not know this visit. Please open the link that you were given once more."
_ANSWERED = "This page has been answered."


class StudyService(Steering):
    """A launched study; `name` is the newest version, `NAME@1` a certain one."""

    def arrive(
        self, ids: PlatformIds, *, world: World = "person", language: str | None = None
    ) -> str:
        """The person's key, the same whenever they come.

        Somebody who took part in another version of the study is known, and shown the door where
        the study wants everybody once only.
        """
        study = self.study
        person, row = self._coming(ids, world)
        self.admit(ids, person, row, world)
        spoken = language if language in study.languages else None
        if row is None:
            place = self._place_row(person, world, spoken or study.languages[0])
            told = self._person_row(ids, person)
            self._turns.share(lambda shared: self._add(shared, place, told))
        elif spoken not in (None, row.language):
            number = row.id
            self._turns.write(lambda connection: change_place(connection, number, language=spoken))
        return person

    def is_known(self, ids: PlatformIds) -> bool:
        """Whether somebody has begun under these ids before, and would go on with that visit.

        Whoever only opened the link may have been a program that looks at links.
        """
        row = self._coming(ids, "person")[1]
        return row is not None and not self._only_opened(row)

    def _coming(self, ids: PlatformIds, world: World) -> tuple[str, Row[Any] | None]:
        """The key under which somebody comes now, and their row, if any."""
        with self._lab.reading() as connection:
            for turn in itertools.count(1):
                person = self.key_of(ids.platform, ids.person, world, turn)
                row = find_place(connection, self._launched.row, person)
                over = row is not None and (row.status == "finished" or row.status in FOR_GOOD)
                if not over or self.study.recruitment.once:
                    break
        return person, row

    def _add(self, shared: Round, place: dict[str, Any], told: dict[str, Any]) -> None:
        study = self.study
        if study.recruitment.once and was_here(shared, self._launched, place["person"]):
            place = place | {"status": "repeated", "outcome": "screened-out"}
        shared.add_person(place, told)

    def _place_row(self, person: str, world: World, language: str) -> dict[str, Any]:
        now = self._clock()
        first = decide(ParticipantPath(self.study, self._launched.scales, None, person), {})
        shown = {"shown_step": first.step.key, "shown_at": now} if isinstance(first, Show) else {}
        return {
            **shown,
            "study_id": self._launched.row,
            "person": person,
            "world": world,
            "status": "arrived",
            "traits": {},
            "language": language,
            "outcome": None,
            "arrived_at": now,
            "seen_at": now,
            "draft": {},
        }

    def _person_row(self, ids: PlatformIds, person: str) -> dict[str, Any]:
        kept = {"person": ids.person, "study": ids.study, "session": ids.session}
        told = {clean_text(name): clean_text(value) for name, value in ids.told.items()}
        return {
            "study_id": self._launched.row,
            "person": person,
            "platform": ids.platform,
            "ids": {name: clean_text(value) for name, value in kept.items() if value},
            "told": told,
        }

    def view(self, person: str, asked: str | None = None) -> View:
        """The page that the person is on; `asked` is the key of one they would rather see."""

        def show(sitting: Sitting) -> View:
            found = sitting.decision(asked)
            notice = ""
            if isinstance(found, GoTo):
                notice = found.sentence
                found = sitting.decision()
            if isinstance(found, Show):
                sitting.mark_shown(found)
                return sitting.page(found, notice)
            if isinstance(found, End):
                return sitting.finished(found.outcome)
            return cast("Closed | Finished", found)

        # Whoever had all their data deleted is unknown, and has withdrawn.
        unknown = Closed("unknown", _UNKNOWN, completion_for(self.study, "withdrawn"))
        return self._with_messages(person, self._sit(person, "read", show, unknown))

    def submit(
        self, person: str, step_key: str, values: Values, timing: Mapping[str, float] | None = None
    ) -> Saved | Refused | Moved:
        """What became of a submitted page; it is durable once `Saved` is returned.

        The same submission twice stores once. An earlier page may be corrected where the study
        lets people go back.
        """
        return self.submit_soon(person, step_key, values, timing).result()

    def submit_soon(
        self,
        person: str,
        step_key: str,
        values: Values,
        timing: Mapping[str, float] | None = None,
        *,
        corrects: bool = True,
    ) -> Future[Saved | Refused | Moved]:
        """The same, to come: for who can wait without a thread.

        Without `corrects` an answered page stays as it is.
        """

        def take(sitting: Sitting) -> Saved | Refused | Moved:
            found = sitting.decision(step_key)
            if not isinstance(found, Show):
                return late(sitting, found, step_key, values)
            path, step = sitting.path, found.step
            checked = check_answer(path, step, single(values))
            if isinstance(checked, Refused):
                return checked
            if step_key in sitting.given and sitting.given[step_key] == checked.values:
                return Saved(step_key, ended=False)
            if found.revising and not corrects:
                return Moved(_ANSWERED)
            if not found.revising and (refused := hurried(sitting, step)):
                return refused
            following = sitting.store(step, checked.values, timing or {})
            return Saved(step_key, isinstance(following, Finished), following)

        unknown = Moved(_UNKNOWN)
        return self._sit_soon(person, "write", take, unknown, lambda done: self._tell(person, done))

    def _tell(self, person: str, done: Saved | Refused | Moved) -> Saved | Refused | Moved:
        """The same with the messages that the next page is to show."""
        if isinstance(done, Saved):
            # The answer is on the disk; trouble with messages must not make it look otherwise.
            with contextlib.suppress(LabError):
                self._mark_read(person)
                if done.following is not None:
                    following = self._with_messages(person, done.following)
                    if following is not done.following:
                        return dataclasses.replace(done, following=following)
        return done

    @functools.cached_property
    def _inbox(self) -> Inbox:
        return Inbox(self._lab, self._launched.row, clock=self._clock)

    @functools.cached_property
    def _told(self) -> dict[str, tuple[str, ...]]:
        """By person, the messages on the page that they were last shown."""
        return {}

    def _with_messages(self, person: str, view: View) -> View:
        messages = self._inbox.unread(person) if isinstance(view, Page) else ()
        if not messages:
            return view
        self._told[person] = messages
        return dataclasses.replace(cast("Page", view), messages=messages)

    def _mark_read(self, person: str) -> None:
        """Whoever went on has read what stood there; what came since is still to be shown."""
        told = self._told.pop(person, None)
        if told is not None and told == self._inbox.unread(person):
            self._inbox.mark_read(person)

    def back(self, person: str, step_key: str) -> Page | None:
        """The page before that one; None where one cannot go back."""

        def turn(sitting: Sitting) -> Page | None:
            found = sitting.decision(step_key)
            if not isinstance(found, Show) or found.back is None:
                return None
            earlier = sitting.decision(found.back)
            return sitting.page(earlier) if isinstance(earlier, Show) else None

        return self._sit(person, "read", turn, None)

    def save_draft(self, person: str, step_key: str, values: Values) -> None:
        """Keeps what was begun on the page that the person is on; it is no answer yet."""

        def keep(sitting: Sitting) -> None:
            found = sitting.decision(step_key)
            if not isinstance(found, Show) or step_key in sitting.given:
                return  # what is begun anew on an answered page must not outlive a closed tab
            begun = valid_values(sitting.path, found.step, single(values))
            sitting.change(
                draft={"step": step_key, "values": begun},
                seen_at=last_seen(sitting.now, sitting.row.seen_at),
            )

        self._sit(person, "write", keep, None)

    def leave(self, person: str, *, delete: bool) -> None:
        """Ends a person's part by their own wish; with `delete` only counts remain.

        Whoever has finished and deletes nothing stays as they are: their work is done.
        """

        def go(sitting: Sitting) -> None:
            row = sitting.row
            if delete:
                at = sitting.now
                erase(sitting.connection, self._launched, row, who=PARTICIPANT, at=at)
            elif row.status != "finished" and row.status not in FOR_GOOD:
                sitting.change(status="withdrawn", outcome="withdrawn", draft={})

        self._sit(person, "locked", go, None)
        if delete:
            leave_no_trace(self._lab)

    def outcome(self, person: str) -> Completion | None:
        """The code and address at the end; None before it."""
        with self._lab.reading() as connection:
            row = find_place(connection, self._launched.row, person)
        if row is None or row.outcome is None:
            return None
        return completion_for(self.study, row.outcome)

    def free(self, person: str, status: Freed = "returned") -> bool:
        """Whether the person's place is free now, because the platform says they left it."""

        def release(sitting: Sitting) -> bool:
            if sitting.row.arm is None:
                return False
            after: Status = ended(sitting.place, status).status
            sitting.change(status=after)
            return after == status

        return self._sit(person, "locked", release, False)

    def _sit(
        self, person: str, mode: Mode, work: Callable[[Sitting], Result], unknown: Unknown
    ) -> Result | Unknown:
        """What the work gives, begun anew with a stronger lock where it needs one."""
        if mode == "read":
            try:
                with self._lab.reading() as connection:
                    shared = Round(connection, self._launched.row, (person,), lock=False)
                    return self._turn(person, mode, self._clock(), work, unknown, shared)
            except Escalate as wanted:
                mode = wanted.mode
        return self._sit_soon(person, mode, work, unknown, lambda done: done).result()

    def _sit_soon(
        self,
        person: str,
        mode: Mode,
        work: Callable[[Sitting], Result],
        unknown: Unknown,
        after: Callable[[Result | Unknown], Result | Unknown],
    ) -> Future[Result | Unknown]:
        """The same to come, of work that writes; `after` is done once that is durable."""
        now = self._clock()
        coming: Future[Result | Unknown] = Future()

        def begin(mode: Mode, attempts: int) -> None:
            if mode == "write" and self._turns.alone:
                mode = "locked"  # SQLite locks everything anyway
            turn = functools.partial(self._turn, person, mode, now, work, unknown)
            future = self._turns.sit_soon(person, turn, locked=mode == "locked")
            future.add_done_callback(lambda done: settle(done, attempts))

        def settle(done: Future[Result | Unknown], attempts: int) -> None:
            try:
                coming.set_result(after(done.result()))
            except Escalate as wanted:
                if attempts < _ATTEMPTS:
                    begin(wanted.mode, attempts + 1)
                else:
                    coming.set_exception(RuntimeError(f"no quiet moment in {attempts} attempts"))
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                coming.set_exception(error)

        begin(mode, 1)
        return coming

    def _turn(
        self,
        person: str,
        mode: Mode,
        now: datetime,
        work: Callable[[Sitting], Result],
        unknown: Unknown,
        shared: Round,
    ) -> Result | Unknown:
        row = shared.place(person)
        if row is None:
            return unknown
        if row.revision != self._launched.revision:
            version = self._launched.study.version
            self._launched = load_launched(shared.connection, f"{self.name}@{version}")
        return work(Sitting(shared, self._launched, row, now, mode, self._clock))
