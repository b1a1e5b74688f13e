"""How many threads suit a local model beside what else the machine does.

llama.cpp's threads wait for each other many times per token. If another program takes a core, all
of them wait for the thread that lost it, and fewer threads are faster.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable

_WINDOW_SECONDS = 8.0
_LEAST_TOKENS = 40  # fewer say nothing of a rate
_COLLAPSED = 0.5
_FIRST_PAUSE = 20.0


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_counts(cores: int) -> list[int]:
    """The numbers of threads to compare: all cores, then half of them, and so on down to one."""
    counts = [max(1, cores)]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return counts


class RateWatch:
    """Notices when a model writes much more slowly than it did before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._written: deque[tuple[float, int]] = deque()
        self._best = 0.0
        self._pause = _FIRST_PAUSE
        self._quiet_until = clock() + _FIRST_PAUSE
        self._busy_since: float | None = None

    def began(self) -> None:
        """Notes that the model has something to do."""
        if self._busy_since is None:
            self._busy_since = self._clock()

    def idle(self) -> None:
        """Notes that it has nothing to do: the time until it has is no slow writing."""
        self._busy_since = None
        self._written.clear()

    def collapsed(self, tokens: int) -> bool:
        """Counts an answer of that many tokens; whether the rate has fallen below half the best."""
        now = self._clock()
        self._written.append((now, tokens))
        if self._busy_since is None or now - self._busy_since < _WINDOW_SECONDS:
            return False
        while self._written and self._written[0][0] < now - _WINDOW_SECONDS:
            self._written.popleft()
        written = sum(count for _, count in self._written)
        if written < _LEAST_TOKENS and now - self._busy_since < 3 * _WINDOW_SECONDS:
            return False
        rate = written / _WINDOW_SECONDS
        self._best = max(self._best, rate)
        return rate < _COLLAPSED * self._best and now >= self._quiet_until

    def probed(self) -> None:
        """Begins again after a probe; the next one is at least twice as far away."""
        self._pause *= 2
        self._quiet_until = self._clock() + self._pause
        self._best = 0.0
        self.idle()
