"""Threads: one thread for linear algebra on small matrices, one that works ahead."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

Thing = TypeVar("Thing")


def ahead(things: Iterable[Thing]) -> Iterator[Thing]:
    """The things in their order; a thread makes the next one while the caller uses this one."""
    source = iter(things)
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(list, itertools.islice(source, 1))
        while item := coming.result():
            coming = pool.submit(list, itertools.islice(source, 1))
            yield item[0]


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread.

    Threads wait for each other longer than small products take, many times over on a busy machine.
    """
    import scipy.linalg  # noqa: F401 - only a library that is loaded can be limited
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
