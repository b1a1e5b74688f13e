"""Studies with people, as pages and consoles use them: every call is one transaction.

Safe across threads and processes: a person's row is locked while they answer, and the study's
while someone claims a place. What has returned `Saved` is on the disk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import datetime
from typing import TypeVar, cast

from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.studies.participants import visit_ids
from empathylab.study.admin.actions import AdminActions
from empathylab.study.admin.deletion import PARTICIPANT, erase, leave_no_trace
from empathylab.study.admin.launching import launch
from empathylab.study.admin.reviews import Inbox
from empathylab.study.assignment.allocation import FOR_GOOD, last_seen
from empathylab.study.blocks.content import check_answer, valid_values
from empathylab.study.blocks.forms import Accepted, Given, Refused
from empathylab.study.group_commit.batches import Batch
from empathylab.study.live.turns import Conversation
from empathylab.study.session.admissions import Admissions
from empathylab.study.session.drafts import with_begun
from empathylab.study.session.endings import end, finished
from empathylab.study.session.flow import End, Show
from empathylab.study.session.progress import decision, hurried, late, store
from empathylab.study.session.running import RunningStudy, study_status
from empathylab.study.session.transactions import BROWSER, Escalate, Mode, ParticipantTransaction
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
    View,
    completion_for,
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
    "View",
    "launch",
]

Result = TypeVar("Result")
Unknown = TypeVar("Unknown")

_ATTEMPTS = 20


class StudyService(RunningStudy):
    """A launched study as participants' pages use it; `actions` is the researcher's side."""

    def __init__(self, lab: Lab, name: str, *, clock: Callable[[], datetime] = present) -> None:
        super().__init__(lab, name, clock=clock)
        admissions = Admissions(self)
        self._inbox = Inbox(lab, self.launched.row, clock=clock)
        self.actions = AdminActions(self)
        self.arrive = admissions.arrive
        self.is_known = admissions.is_known
        self.change_language = admissions.change_language

    def is_closed(self) -> bool:
        """Whether nobody can take part any more."""
        with self.lab.reading() as connection:
            return study_status(self, connection) == "closed"

    def view(self, person: str) -> View:
        """The page that the person is on, or how their part ended."""

        def show(transaction: ParticipantTransaction) -> View:
            decided = decision(transaction)
            if isinstance(decided, Show):
                transaction.mark_shown(decided)
                return transaction.page(decided)
            if isinstance(decided, End):
                return finished(transaction, decided.outcome)
            return cast("Closed | Finished", decided)

        # Anyone who had all their data deleted is unknown, and has withdrawn.
        unknown = Closed("unknown", completion_for(self.study, "withdrawn"))
        return self._inbox.on(person, self._run(person, "read", show, unknown))

    def submit(
        self, person: str, step_key: str, values: Given, timing: Mapping[str, float] | None = None
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
        values: Given,
        timing: Mapping[str, float] | None = None,
        *,
        corrects: bool = True,
        browser: str = "",
        answered: str | None = None,
        visit: str = "",
    ) -> Future[Saved | Refused | Moved]:
        """The same as a future, for callers that wait without a thread.

        Without `corrects` an answered page stays as it is. `browser` identifies the browser: the
        one that gives the first answer owns the visit, and only it can correct answers. `answered`
        is the digest of the answer that the browser knows; a newer one is not overwritten. What is
        refused is kept for `visit`, to be shown again with the reasons.
        """

        def take(transaction: ParticipantTransaction) -> Saved | Refused | Moved:
            decided = decision(transaction, step_key)
            if not isinstance(decided, Show):
                return late(transaction, step_key, values)
            path, step = transaction.path, decided.step
            conversation = transaction.conversation(step)
            if conversation is not None and (conversation.waiting or conversation.unshown):
                return Moved()
            sent = values
            if conversation is not None:
                sent = path.study.block(step.block).offered(step, conversation, values)
            checked = check_answer(path, step, sent)
            if isinstance(checked, Accepted) and checked.values == transaction.given.get(step_key):
                return Saved(step_key)

            def is_guest() -> bool:
                return not (corrects and transaction.is_begun_by(browser))

            if decided.revising and is_guest():
                return Moved()
            if isinstance(checked, Refused):
                return transaction.refuse(step_key, values, checked, visit, guest=is_guest())
            if decided.revising and answered not in (None, transaction.answer_digest(step_key)):
                return Moved()
            if not decided.revising and (refused := hurried(transaction, step)):
                return transaction.refuse(step_key, values, refused, visit, guest=is_guest())
            transaction.note_browser(browser)
            following = store(transaction, step, checked.values, timing or {})
            return Saved(step_key, following)

        unknown = Moved()
        after = functools.partial(self._inbox.after, person)
        return self._run_soon(person, "write", take, unknown, after)

    def is_begun_by(self, person: str, browser: str) -> bool:
        """Whether this browser gave the first answer, or nobody has given one yet."""
        with self.lab.reading() as connection:
            kept = visit_ids(connection, self.launched.row, person) or {}
        return kept.get(BROWSER) in (None, browser)

    def back(self, person: str, step_key: str) -> Page | None:
        """The page before that one; None where one cannot go back."""

        def earlier_page(transaction: ParticipantTransaction) -> Page | None:
            decided = decision(transaction, step_key)
            if not isinstance(decided, Show) or decided.back is None:
                return None
            earlier = decision(transaction, decided.back)
            return transaction.page(earlier) if isinstance(earlier, Show) else None

        return self._run(person, "read", earlier_page, None)

    def save_draft(self, person: str, step_key: str, values: Given) -> None:
        """Keeps what was begun on the page that the person is on; it is no answer yet."""

        def keep(transaction: ParticipantTransaction) -> None:
            decided = decision(transaction, step_key)
            if not isinstance(decided, Show) or step_key in transaction.given:
                return  # what is begun again on an answered page must not outlive a closed tab
            kept_values = valid_values(transaction.path, decided.step, values)
            transaction.change(
                draft=with_begun(transaction.row.draft, step_key, kept_values),
                seen_at=last_seen(transaction.now, transaction.row.seen_at),
            )

        self._run(person, "write", keep, None)

    def leave(self, person: str, *, delete: bool) -> None:
        """Ends a person's part by their own wish; with `delete` only counts remain.

        Anyone who has finished and deletes nothing stays as they are: their work is done.
        """

        def go(transaction: ParticipantTransaction) -> None:
            row = transaction.row
            if delete:
                at = transaction.now
                erase(transaction.connection, self.launched, row, who=PARTICIPANT, at=at)
            elif row.status != "finished" and row.status not in FOR_GOOD:
                transaction.change(status="withdrawn", outcome="withdrawn", draft={})

        self._run(person, "locked", go, None)
        if delete:
            leave_no_trace(self.lab)

    def stop(self, person: str) -> None:
        """Ends a person's part because they need help; a researcher is alerted."""

        def end_now(transaction: ParticipantTransaction) -> None:
            row = transaction.row
            if row.status != "finished" and row.status not in FOR_GOOD:
                end(transaction, "safety", draft={})

        self._run(person, "locked", end_now, None)

    def conversation(self, person: str) -> Conversation | None:
        """The conversation on the page that the person is on; None where there is none."""

        def find(transaction: ParticipantTransaction) -> Conversation | None:
            decided = decision(transaction)
            return transaction.conversation(decided.step) if isinstance(decided, Show) else None

        return self._run(person, "read", find, None)

    def _run(
        self,
        person: str,
        mode: Mode,
        work: Callable[[ParticipantTransaction], Result],
        unknown: Unknown,
    ) -> Result | Unknown:
        """The result of the work, which is started again where it needs a stronger lock."""
        if mode == "read":
            try:
                with self.lab.reading() as connection:
                    batch = Batch(connection, self.launched.row, (person,), lock=False)
                    return self._work(person, mode, self.clock(), work, unknown, batch)
            except Escalate as wanted:
                mode = wanted.mode
        return self._run_soon(person, mode, work, unknown, lambda done: done).result()

    def _run_soon(
        self,
        person: str,
        mode: Mode,
        work: Callable[[ParticipantTransaction], Result],
        unknown: Unknown,
        after: Callable[[Result | Unknown], Result | Unknown],
    ) -> Future[Result | Unknown]:
        """The same as a future, for work that writes; `after` is called once it is on the disk."""
        now = self.clock()
        coming: Future[Result | Unknown] = Future()

        def begin(mode: Mode, attempts: int) -> None:
            if mode == "write" and self.queue.alone:
                mode = "locked"  # SQLite locks everything anyway
            job = functools.partial(self._work, person, mode, now, work, unknown)
            future = self.queue.soon(job, person=person, locked=mode == "locked")
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

    def _work(
        self,
        person: str,
        mode: Mode,
        now: datetime,
        work: Callable[[ParticipantTransaction], Result],
        unknown: Unknown,
        batch: Batch,
    ) -> Result | Unknown:
        row = batch.slot(person)
        if row is None:
            return unknown
        if row.revision != self.launched.revision:
            self.reload(batch.connection)
        launched, clock = self.launched, self.clock
        return work(ParticipantTransaction(batch, launched, row, now, mode, clock))
