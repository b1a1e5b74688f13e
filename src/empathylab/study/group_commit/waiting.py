"""Waiting in the event loop for what other threads do, without a thread for each who waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from concurrent.futures import Future
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")


class Waiting:
    """Requests that wait; those whose work is done at about the same time are woken together."""

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Woken] = WeakKeyDictionary()

    async def for_result(self, future: Future[Result]) -> Result:
        """What the future comes to; its error is raised here."""
        loop = asyncio.get_running_loop()
        woken = self._loops.setdefault(loop, _Woken())
        waiter: asyncio.Future[None] = loop.create_future()

        def tell(_done: Future[Result]) -> None:
            woken.waiters.append(waiter)
            if not woken.called:
                woken.called = True
                with contextlib.suppress(RuntimeError):  # the loop has ended, and all who waited
                    loop.call_soon_threadsafe(woken.wake)

        future.add_done_callback(tell)
        await waiter
        return future.result()


class _Woken:
    """Who is to be woken in one loop. Waking costs a system call, so many share one."""

    def __init__(self) -> None:
        self.waiters: deque[asyncio.Future[Any]] = deque()
        self.called = False

    def wake(self) -> None:
        # Before the first is taken out: anyone who comes after that calls again.
        self.called = False
        while self.waiters:
            waiter = self.waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
