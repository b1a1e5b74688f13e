"""Several server processes that share one socket; one that dies is begun again."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from empathylab.errors import EmpathyLabError

log = logging.getLogger("empathylab.study.web")

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.2
"""How long a signal may wait to be seen."""
_YOUNG_SECONDS = 30.0
_MOST_YOUNG_DEATHS = 5
"""In a row; then it is no accident."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    began: float


def run_workers(
    work: Callable[[], None], count: int, *, patience: float, ending: Callable[[], None]
) -> signal.Signals:
    """Runs `work` in so many processes until a signal comes, and returns it.

    `work` must be fit to be sent to a new process. At the end `ending` is called, and then each
    has `patience` seconds for the requests under way.
    """
    spawn = multiprocessing.get_context("spawn")

    def begin() -> _Worker:
        process = spawn.Process(target=_work, args=(work,))
        process.start()
        return _Worker(process, time.monotonic())

    with _caught() as signals:
        workers = [begin() for _ in range(count)]
        try:
            deaths = 0
            while not signals:
                wait([worker.process.sentinel for worker in workers], timeout=_LOOK_SECONDS)
                for number, worker in enumerate(workers):
                    if worker.process.is_alive() or signals:
                        continue
                    young = time.monotonic() - worker.began < _YOUNG_SECONDS
                    deaths = deaths + 1 if young else 0
                    if deaths > _MOST_YOUNG_DEATHS:
                        raise EmpathyLabError(
                            "The server processes stop as soon as they start. See the log above."
                        )
                    log.warning("worker %s died; starting another", worker.process.pid)
                    workers[number] = begin()
        finally:
            ending()
            _end(workers, patience)
    return signal.Signals(signals[0])


@contextlib.contextmanager
def _caught() -> Iterator[list[int]]:
    """The signals that have come."""
    signals: list[int] = []
    before = {item: signal.signal(item, lambda got, _: signals.append(got)) for item in _SIGNALS}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(workers: list[_Worker], patience: float) -> None:
    for worker in workers:
        worker.process.terminate()
    until = time.monotonic() + patience
    for item in workers:
        item.process.join(max(0.1, until - time.monotonic()))
        if item.process.is_alive():
            item.process.kill()
            item.process.join()


def _work(work: Callable[[], None]) -> None:
    # Ctrl-C reaches every process of the terminal; the one that began us sends SIGTERM for it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work()


def _end_with_parent() -> None:
    """A worker whose parent was killed must not go on unseen."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
