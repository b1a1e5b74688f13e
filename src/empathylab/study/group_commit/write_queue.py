"""The queue of work that writes to a lab: what arrives during one commit shares the next."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from empathylab.errors import LabBusy
from empathylab.store import Lab
from empathylab.store.studies.records import lock_study
from empathylab.study.group_commit.batches import Batch

Result = TypeVar("Result")

_ATTEMPTS = 5
_MOST_TOGETHER = 64
"""Pieces of work in one transaction: the first must not wait too long for the last."""


class WriteQueue:
    """Work that writes to one lab; `study` is the id of the study whose participants it serves.

    Work may be done more than once before it is committed.
    """

    def __init__(self, lab: Lab, study: int = 0) -> None:
        self._lab = lab
        self._study = study
        self.alone = lab.engine.dialect.name == "sqlite"
        """Whether nobody else writes while one does."""
        self._free = _Line(locks_study=False)
        self._locked = self._free if self.alone else _Line(locks_study=True)
        self._guard = threading.Lock()
        self._leaders = ThreadPoolExecutor(2, "write-queue")

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """The result of the work, once it is on the disk; work that fails changes nothing."""
        return self.soon(lambda batch: work(batch.connection)).result()

    def soon(
        self, work: Callable[[Batch], Result], *, person: str | None = None, locked: bool = False
    ) -> Future[Result]:
        """The same as a future, whose callbacks must be quick, for work that can share its batch.

        `person`: whose rows it is about, if it is one participant's. `locked`: with the study
        locked as well.
        """
        queued = _Work(work, person)
        line = self._locked if locked else self._free
        with self._guard:
            line.waiting.append(queued)
            leads, line.has_leader = not line.has_leader, True
        if leads:
            self._leaders.submit(self._lead, line)
        return queued.future

    def _lead(self, line: _Line) -> None:
        while works := self._next(line):
            try:
                self._do(works, line)
            except BaseException as error:
                for work in works:
                    work.error = work.error or error
                with self._guard:
                    line.has_leader = False  # the next piece of work starts a new leader
                raise
            finally:
                for item in works:
                    item.settle()

    def _next(self, line: _Line) -> list[_Work[Any]]:
        """The work of the next batch, one piece per participant; empty where none waits."""
        chosen: list[_Work[Any]] = []
        later: list[_Work[Any]] = []
        people: set[str] = set()
        with self._guard:
            while line.waiting and len(chosen) < _MOST_TOGETHER:
                work = line.waiting.popleft()
                (later if work.person in people else chosen).append(work)
                if work.person is not None:
                    people.add(work.person)
            line.waiting.extendleft(reversed(later))
            line.has_leader = bool(chosen)
        return chosen

    def _do(self, works: list[_Work[Any]], line: _Line) -> None:
        together, alone = works, list[_Work[Any]]()
        while len(together) > 1:
            failing = self._failing(together, line)
            together = [item for item in together if item not in failing and not item.done]
            alone += failing
        # Work that stood before a failing piece keeps its order.
        for item in (*together, *alone):
            self._do_alone(item, line)

    def _failing(self, works: list[_Work[Any]], line: _Line) -> list[_Work[Any]]:
        """The pieces that keep the batch from being committed; none once it is."""
        begun = 0
        try:
            with self._lab.writing() as connection:
                batch = self._batch(connection, works, line)
                for work in works:
                    begun += 1
                    batch.begin()
                    try:
                        work.do(batch)
                    except Exception as error:
                        if batch.touched:
                            raise
                        batch.drop()
                        work.error = error
                begun += 1
                batch.flush()
        except Exception:  # noqa: BLE001 - whatever it is, each work meets it alone
            return works if begun > len(works) or not begun else [works[begun - 1]]
        for item in works:
            item.done = True
        return []

    def _do_alone(self, work: _Work[Any], line: _Line) -> None:
        for _ in range(_ATTEMPTS):
            work.error = None
            try:
                with self._lab.writing() as connection:
                    batch = self._batch(connection, [work], line)
                    work.do(batch)
                    batch.flush()
            except LabBusy as error:  # another process had the rows in another order
                work.error = error
            except Exception as error:  # noqa: BLE001 - it is raised where the work came from
                work.error = error
                break
            else:
                break
        work.done = True

    def _batch(self, connection: Connection, works: list[_Work[Any]], line: _Line) -> Batch:
        if line.locks_study:
            lock_study(connection, self._study)
        people = [work.person for work in works if work.person is not None]
        return Batch(connection, self._study, people)


class _Line:
    """Work that waits for the same locks, and whether a thread is doing it."""

    def __init__(self, *, locks_study: bool) -> None:
        self.locks_study = locks_study
        self.waiting: deque[_Work[Any]] = deque()
        self.has_leader = False


class _Work(Generic[Result]):
    """A piece of work, and then its result."""

    def __init__(self, work: Callable[[Batch], Result], person: str | None = None) -> None:
        self._work = work
        self._results: list[Result] = []
        self.person = person
        self.future: Future[Result] = Future()
        self.error: BaseException | None = None
        self.done = False

    def do(self, batch: Batch) -> None:
        self.error = None
        self._results = [self._work(batch)]

    def settle(self) -> None:
        """Resolves the future."""
        if not self.future.set_running_or_notify_cancel():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self._results[0])
