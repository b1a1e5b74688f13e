"""Group commit: answers that arrive while a commit is under way share the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType

from empathylab.runs.ledger import Draft, store_answers, store_failure
from empathylab.runs.plans import Interpreter
from empathylab.store import Lab

_MOST_WAITING = 512  # beyond this, workers wait for the disk rather than fill the memory


@dataclass(frozen=True, slots=True)
class _Entry:
    run_id: int
    draft: Draft
    interpreter: Interpreter
    durable: Callable[[], None]


class Writer:
    """Stores answers in one thread; tells each sender once its answer is durable."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._waiting: list[_Entry] = []
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lab-writer")
        self._arrived = asyncio.Event()
        self._settled = asyncio.Event()
        self._closing = False
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Writer:
        self._task = asyncio.create_task(self._serve())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stores what has arrived, also when the run was interrupted."""
        self._closing = True
        self._arrived.set()
        assert self._task is not None  # noqa: S101 - set on entering
        await asyncio.shield(self._task)
        self._thread.shutdown()
        if self._error is not None and error is None:
            raise self._error

    async def add(
        self, run_id: int, draft: Draft, interpreter: Interpreter, durable: Callable[[], None]
    ) -> None:
        """Takes an answer; `durable` is called in the event loop when it is stored."""
        self._refuse_if_broken()
        self._waiting.append(_Entry(run_id, draft, interpreter, durable))
        self._arrived.set()
        while len(self._waiting) > _MOST_WAITING:
            await self._wait()

    async def flush(self) -> None:
        """Waits until all that has arrived is durable."""
        while self._waiting or self._busy:
            await self._wait()
        self._refuse_if_broken()

    async def failed(self, run_id: int, key: str, kind: str, message: str, attempts: int) -> None:
        """Notes a request that got no answer."""

        def note() -> None:
            with self._lab.writing() as connection:
                store_failure(connection, run_id, key, kind, message, attempts)

        await asyncio.get_running_loop().run_in_executor(self._thread, note)

    _busy = False

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch, self._waiting = self._waiting, []
            if batch and self._error is None:
                self._busy = True
                try:
                    await loop.run_in_executor(self._thread, self._commit, batch)
                    for entry in batch:
                        entry.durable()
                except Exception as error:  # noqa: BLE001 - handed to the next caller
                    self._error = error
                finally:
                    self._busy = False
            self._settled.set()
            if self._closing and not self._waiting:
                return

    async def _wait(self) -> None:
        self._refuse_if_broken()
        self._settled.clear()
        await self._settled.wait()
        self._refuse_if_broken()

    def _refuse_if_broken(self) -> None:
        if self._error is not None:
            raise self._error

    def _commit(self, batch: list[_Entry]) -> None:
        by_run: dict[int, list[_Entry]] = {}
        for entry in batch:
            by_run.setdefault(entry.run_id, []).append(entry)
        with self._lab.writing() as connection:
            for run_id, entries in by_run.items():
                drafts = [entry.draft for entry in entries]
                store_answers(connection, run_id, drafts, entries[0].interpreter)
