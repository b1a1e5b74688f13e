"""Writing to SQLite from many threads: whoever waits for the disk waits for it together.

SQLite has one writer at a time and reaches the disk at every commit. So work that comes while a
commit is under way is queued, done in one transaction, and acknowledged when that is on the disk.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
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
        self._turn = threading.Lock()

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """What the work gives, once all that it wrote is durable; its error leaves no trace."""
        if not self.alone:
            with self._lab.writing() as connection:
                return work(connection)
        piece = _Piece(work)
        self._waiting.append(piece)
        while not piece.done:
            with self._turn:
                if not piece.done:
                    self._write_together()
        return piece.outcome()

    def _write_together(self) -> None:
        count = min(len(self._waiting), _MOST_TOGETHER)
        pieces = [self._waiting.popleft() for _ in range(count)]
        try:
            if len(pieces) == 1 or not self._done_together(pieces):
                for one in pieces:
                    self._do_alone(one)
        finally:
            # Where this thread is interrupted, another does what it took on.
            self._waiting.extendleft(one for one in reversed(pieces) if not one.done)

    def _done_together(self, pieces: Sequence[_Piece[Any]]) -> bool:
        try:
            with self._lab.writing() as connection:
                for one in pieces:
                    with connection.begin_nested():
                        one.do(connection)
        except Exception:  # noqa: BLE001 - whatever it is, each piece meets it alone
            return False
        for one in pieces:
            one.done = True
        return True

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
        self.error: BaseException | None = None
        self.done = False

    def do(self, connection: Connection) -> None:
        self._results = [self._work(connection)]

    def outcome(self) -> Result:
        if self.error is not None:
            raise self.error
        return self._results[0]
