"""Event loops: of a script, inside that of a notebook, and in a thread of an async program."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")
_WAIT_SECONDS = 0.2


class Stop:
    """Ends the work of a call from another thread; answers so far are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = False
        self._under_way: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def cancel(self) -> None:
        with self._lock:
            self._wanted = True
            if self._under_way is not None:
                loop, task = self._under_way
                with contextlib.suppress(RuntimeError):  # the loop has just ended
                    loop.call_soon_threadsafe(task.cancel)

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the work, which `cancel` ends."""
        task = asyncio.current_task()
        with self._lock:
            if self._wanted or task is None:
                work.close()
                raise asyncio.CancelledError
            self._under_way = (asyncio.get_running_loop(), task)
        try:
            return await work
        finally:
            with self._lock:
                self._under_way = None


_stop: contextvars.ContextVar[Stop | None] = contextvars.ContextVar("stop", default=None)


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, also where this thread already runs an event loop."""
    stop = _stop.get()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work if stop is None else stop.guard(work))
    own = stop or Stop()
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, "empathylab") as pool:
        future = pool.submit(context.run, asyncio.run, own.guard(work))
        try:
            # Not without a limit: a signal that another thread got is seen between two waits.
            while not wait([future], timeout=_WAIT_SECONDS).done:
                pass
        except KeyboardInterrupt:
            own.cancel()
            raise
        return future.result()


async def in_thread(call: Callable[[], T]) -> T:
    """The result of a call that would block; cancelling the wait ends its runs too."""
    stop = Stop()
    context = contextvars.copy_context()
    context.run(_stop.set, stop)
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, context.run, call)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop.cancel()
        with contextlib.suppress(BaseException):
            await future
        raise
