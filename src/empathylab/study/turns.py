"""Writing to SQLite from many threads: whoever waits for the disk waits for it together.

SQLite has one writer at a time and reaches the disk at every commit. So work that comes while a
commit is under way is queued, done in one transaction, and acknowledged when that is on the disk.
One of the waiting threads leads: it does all that waits, wakes those whose work is done, and hands
the lead to the next who waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from empathylab.store import Lab

Result = TypeVar("Result")

_MOST_TOGETHER = 64
"""Pieces of work in one transaction: the first must not wait too long for the last."""


class Turns:
    """The threads that write to one lab, in turn. Work must bear being done anew."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.alone = lab.engine.dialect.name == "sqlite"
        """Whether nobody else writes while one does."""
        self._waiting: deque[_Piece[Any]] = deque()
        self._led = False
        self._guard = threading.Lock()

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """What the work gives, once all that it wrote is durable; its error leaves no trace."""
        if not self.alone:
            with self._lab.writing() as connection:
                return work(connection)
        piece = _Piece(work)
        with self._guard:
            self._waiting.append(piece)
            leads, self._led = not self._led, True
        if not leads:
            self._wait(piece)
        if not piece.done:
            self._lead(piece)
        return piece.outcome()

    def _wait(self, piece: _Piece[Any]) -> None:
        try:
            piece.woken.wait()
        except BaseException:
            with self._guard:
                if piece in self._waiting:
                    self._waiting.remove(piece)
                if piece.woken.is_set() and not piece.done:
                    self._pass_on()
            raise

    def _lead(self, own: _Piece[Any]) -> None:
        with self._guard:
            count = min(len(self._waiting), _MOST_TOGETHER)
            pieces = [self._waiting.popleft() for _ in range(count)]
        try:
            together = pieces
            while len(together) > 1:
                failing = self._failing(together)
                together = [one for one in together if one not in failing and not one.done]
                for one in failing:
                    self._do_alone(one)
            for one in together:
                self._do_alone(one)
        finally:
            for one in pieces:
                if one.done:
                    one.woken.set()
            with self._guard:
                # Where this thread is interrupted, another does what it took on.
                undone = [one for one in pieces if not one.done and one is not own]
                self._waiting.extendleft(reversed(undone))
                self._pass_on()

    def _pass_on(self) -> None:
        """Lets the next who waits lead, if anybody does."""
        self._led = bool(self._waiting)
        if self._waiting:
            self._waiting[0].woken.set()

    def _failing(self, pieces: list[_Piece[Any]]) -> list[_Piece[Any]]:
        """Those that kept all from being done in one transaction; none once they are."""
        begun = 0
        try:
            with self._lab.writing() as connection:
                for one in pieces:
                    begun += 1
                    one.do(connection)
                begun += 1
        except Exception:  # noqa: BLE001 - whatever it is, each piece meets it alone
            return pieces if begun > len(pieces) or not begun else [pieces[begun - 1]]
        for one in pieces:
            one.done = True
        return []

    def _do_alone(self, piece: _Piece[Any]) -> None:
        try:
            with self._lab.writing() as connection:
                piece.do(connection)
        except Exception as error:  # noqa: BLE001 - it is raised where the work came from
            piece.error = error
        piece.done = True


class _Piece(Generic[Result]):
    """Work that waits, and then what came of it."""

    def __init__(self, work: Callable[[Connection], Result]) -> None:
        self._work = work
        self._results: list[Result] = []
        self.woken = threading.Event()
        """Set when the work is done, or when it falls to its own thread to lead."""
        self.error: BaseException | None = None
        self.done = False

    def do(self, connection: Connection) -> None:
        self._results = [self._work(connection)]

    def outcome(self) -> Result:
        if self.error is not None:
            raise self.error
        return self._results[0]
