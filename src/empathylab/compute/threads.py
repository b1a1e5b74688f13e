"""Linear algebra on one thread, where matrices are too small to share."""

from __future__ import annotations

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread.

    Threads wait for each other longer than small products take, many times over on a busy machine.
    """
    import scipy.linalg  # noqa: F401 - only a library that is loaded can be limited
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
