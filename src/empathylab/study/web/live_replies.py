"""Live replies beside the pages of one server process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool

from empathylab.errors import LabError
from empathylab.study.live.engine import LiveEngine
from empathylab.study.session.service import StudyService

log = logging.getLogger("empathylab.study.web")
_PAUSE = 5.0


class LiveReplies:
    """Runs the engine for as long as the app does; `wake` makes it look for turns at once."""

    def __init__(self, open_service: Callable[[], StudyService]) -> None:
        self._open_service = open_service
        self._engine: LiveEngine | None = None

    def wake(self) -> None:
        """Someone waits for a reply."""
        if self._engine is not None:
            self._engine.wake()

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """From the start of the app to its end."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while True:
            try:
                service = await run_in_threadpool(self._open_service)
            except LabError as error:
                log.warning("live replies wait for the lab: %s", error)
                await asyncio.sleep(_PAUSE)
                continue
            self._engine = LiveEngine(service)
            await self._engine.run()
