"""Chunks of items: what a worker gets, what it sends back, and the order of the results."""

from __future__ import annotations

import itertools
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

# What a worker sets before it loads numpy and polars: one worker keeps one core busy, and starts
# no workers of its own.
WORKER_ENVIRONMENT = {
    "EMPATHYLAB_ENGINE": "processes",
    "EMPATHYLAB_WORKERS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
}
ATTEMPTS = 3
"""How often a chunk is begun before the death of its workers ends the work."""
_CHUNK_SECONDS = 0.2
"""Long beside the time a message takes, short beside the time people wait."""
_MOST_ITEMS = 256
_AHEAD = 4
"""Chunks per worker that may wait for an earlier one, so that memory stays bounded."""


class Chunk(NamedTuple):
    """Items that one worker processes in one go."""

    number: int
    first: int
    """The position of the first item."""
    items: tuple[Any, ...]


class Outcome(NamedTuple):
    """A chunk's results, up to the item that failed if one did."""

    results: list[Any]
    error: Exception | None
    seconds: float


def work_through(function: Callable[[Any], Any], chunk: Chunk) -> Outcome:
    """What the function gives for the items, in a worker."""
    started = time.perf_counter()
    results: list[Any] = []
    for position, item in enumerate(chunk.items, chunk.first):
        try:
            results.append(function(item))
        except Exception as error:  # noqa: BLE001 - it is raised where the results are read
            error.add_note("".join(traceback.format_tb(error.__traceback__)).rstrip())
            return Outcome(results, with_item(error, position, item), 0.0)
    return Outcome(results, None, time.perf_counter() - started)


def with_item(error: Exception, position: int, item: object) -> Exception:
    """The error, with a note that names the item."""
    shown = repr(item)
    error.add_note(f"item {position}: {shown if len(shown) <= 200 else shown[:199] + '…'}")
    return error


class Source:
    """Hands out chunks of a queue, and puts their results in order."""

    def __init__(self, queue: Iterator[tuple[int, Any]], workers: int) -> None:
        self.workers = workers
        self._queue = queue
        self._size = 1
        self._handed = 0
        self._next = 0
        self._early: dict[int, Outcome] = {}

    def take(self) -> Chunk | None:
        """The next chunk; None where none is left, or where earlier ones must come back first."""
        if self._handed - self._next >= _AHEAD * self.workers:
            return None
        items = list(itertools.islice(self._queue, self._size))
        if not items:
            return None
        self._handed += 1
        return Chunk(self._handed - 1, items[0][0], tuple(item for _, item in items))

    def in_order(self, chunk: Chunk, outcome: Outcome) -> Iterator[Any]:
        """The results that are next, now that a chunk is back."""
        self._early[chunk.number] = outcome
        if outcome.seconds > 0:
            per_item = outcome.seconds / len(chunk.items)
            self._size = max(1, min(_MOST_ITEMS, int(_CHUNK_SECONDS / per_item)))
        while self._next in self._early:
            results, error, _ = self._early.pop(self._next)
            self._next += 1
            yield from results
            if error is not None:
                raise error
