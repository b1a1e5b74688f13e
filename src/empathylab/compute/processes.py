"""Workers as processes of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from empathylab.compute.chunks import (
    ATTEMPTS,
    WORKER_ENVIRONMENT,
    Chunk,
    Outcome,
    Source,
    work_through,
)
from empathylab.errors import ComputeError

# A fork would copy the locks of polars' threads in whatever state they are.
_CONTEXT = multiprocessing.get_context("spawn")


class _Worker:
    def __init__(self, payload: bytes) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_serve, args=(theirs, payload), daemon=True)
        with _quiet_start(needs_main=b"__main__" in payload):
            self.process.start()
        theirs.close()  # so that the worker's death closes the connection

    def begin(self, chunk: Chunk) -> None:
        with contextlib.suppress(OSError):  # dead: `outcome` finds out
            self.connection.send(chunk)

    def outcome(self) -> Outcome | None:
        """What came back; None where the worker has died."""
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            return None
        return outcome

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def packed(function: Callable[[Any], Any]) -> bytes | None:
    """The function for another process; None where that process could not find it."""
    try:
        payload = pickle.dumps(function)
    except Exception:  # noqa: BLE001 - pickle raises what it likes
        return None
    in_session = b"__main__" in payload and not hasattr(sys.modules["__main__"], "__file__")
    return None if in_session else payload


def on_processes(payload: bytes, source: Source) -> Generator[tuple[Chunk, Outcome]]:
    """Every chunk with its outcome, as they come."""
    idle: list[_Worker] = []
    busy: dict[object, tuple[_Worker, Chunk]] = {}
    again: deque[Chunk] = deque()
    deaths: Counter[int] = Counter()
    try:
        while True:
            while len(busy) < source.workers:
                chunk = again.popleft() if again else source.take()
                if chunk is None:
                    break
                worker = idle.pop() if idle else _Worker(payload)
                busy[worker.connection] = (worker, chunk)
                worker.begin(chunk)
            if not busy:
                return
            for connection in wait([worker.connection for worker, _ in busy.values()]):
                worker, chunk = busy.pop(connection)
                outcome = worker.outcome()
                if outcome is not None:
                    idle.append(worker)
                    yield chunk, outcome
                    continue
                worker.stop()
                deaths[chunk.number] += 1
                if deaths[chunk.number] == ATTEMPTS:
                    raise _died(chunk, worker.process.exitcode)
                again.append(chunk)
    finally:
        for worker in (*idle, *(worker for worker, _ in busy.values())):
            worker.stop()


def _died(chunk: Chunk, code: int | None) -> ComputeError:
    reason = "exit code unknown" if code is None else f"exit code {code}"
    if code is not None and code < 0:
        reason = f"signal {signal.Signals(-code).name}"
    return ComputeError(
        f"{ATTEMPTS} worker processes ended while working on item {chunk.first} ({reason})",
        remedy="If memory is short, use fewer workers (--workers). A Python script that starts "
        'workers needs `if __name__ == "__main__":` around its calls.',
    )


def _serve(connection: Connection, payload: bytes) -> None:
    """What a worker does: chunk after chunk, until the connection is closed."""
    os.environ.update(WORKER_ENVIRONMENT)  # before numpy and polars are imported
    threading.Thread(target=_end_with_parent, daemon=True).start()
    function = pickle.loads(payload)  # noqa: S301 - from the process that started this one
    while True:
        try:
            chunk = connection.recv()
        except EOFError:
            return
        outcome = work_through(function, chunk)
        try:
            sent = pickle.dumps(outcome)
        except Exception as error:  # noqa: BLE001 - pickle raises what it likes
            unsent = TypeError(f"a result cannot be pickled: {outcome.error or error!r}")
            sent = pickle.dumps(Outcome([], unsent, 0.0))
        connection.send_bytes(sent)


def _end_with_parent() -> None:
    """Ends this process when the one that started it is killed, in the middle of an item too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _quiet_start(*, needs_main: bool) -> Iterator[None]:
    """Starts a process that ignores Ctrl-C, and runs the user's script only where it must.

    A new process imports the program's main module again, which runs a script that has no
    `if __name__ == "__main__":`. Functions of installed modules do not need it.
    """
    main = sys.modules["__main__"]
    in_main_thread = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
    if not needs_main:
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if in_main_thread:
            signal.signal(signal.SIGINT, previous)
