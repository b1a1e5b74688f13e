"""Forms of methods for `await`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def awaitable(method: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The same method for `await`; cancelling it stops the requests, and answers are kept."""

    @functools.wraps(method)
    async def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        from empathylab.runs.event_loops import in_thread

        return await in_thread(functools.partial(method, *args, **kwargs))

    waiting.__doc__ = f"`{method.__name__}` for `await`."
    return waiting
