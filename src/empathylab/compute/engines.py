"""`map_ordered`: where work is done is a setting, what comes out is not.

Each item is processed by itself, draws from a random stream of its own, and results come back in
the order of the items. So one process, twenty processes and a cluster give the same results.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from empathylab.compute.chunks import Source, with_item
from empathylab.compute.processes import on_processes, packed
from empathylab.compute.ray_cluster import check, connect, is_address, on_ray
from empathylab.compute.threads import one_thread
from empathylab.errors import InputError

if TYPE_CHECKING:
    from numpy.random import Generator as RandomGenerator

Item = TypeVar("Item")
Result = TypeVar("Result")

_ALONE_SECONDS = 1.0
"""So long this process works alone: most work is done by then, without starting workers."""
_WORTH_SECONDS = 2.0
"""Work left, in seconds of one process, for which starting workers pays."""


_chosen: tuple[str | None, int | None] = (None, None)


def choose(engine: str | None = None, workers: int | None = None) -> None:
    """Sets where this process does its long work, in place of the environment.

    A cluster that does not answer is an error here, also if no work is long enough for it.
    """
    global _chosen
    where, _ = _settings(engine, workers)
    if where != "processes":
        check(where)
    _chosen = (engine, workers)


def chosen() -> tuple[str, int | None]:
    """The engine and the number of workers that `choose` or the environment has set."""
    return _settings(*_chosen)


def random_stream(seed: int, number: int) -> RandomGenerator:
    """The random numbers of one item: the stream `SeedSequence(seed).spawn` gives it."""
    import numpy as np

    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def map_ordered(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    engine: str | None = None,
    long: bool = False,
) -> Generator[Result]:
    """The function's result for each item, in the order of the items.

    `engine` is `processes`, `ray` or `ray://host:port`, `workers` how many work at once; what is
    not given is what `choose` or the environment (EMPATHYLAB_ENGINE, EMPATHYLAB_WORKERS) says.
    With neither, work that takes more than a few seconds goes to one process per core, `long` work
    at once. Function, items and results are pickled, so the function stands in a module.

    An error in the function ends the work and is raised here, with a note that names the item. A
    worker that dies is replaced and its items are begun again, three times at most. Closing the
    generator, or an interrupt, stops the workers.
    """
    engine, workers = _settings(engine or _chosen[0], _chosen[1] if workers is None else workers)
    total = len(items) if isinstance(items, Sized) else None
    queue = enumerate(items)
    if engine == "processes" and workers is None:
        if not (long and _can_spread(function)):
            yield from _alone(function, queue, _until_workers_pay(function, total))
    elif engine == "processes" and workers == 1:
        yield from _alone(function, queue, lambda done: False)
    for first in islice(queue, 1):  # only if there are items left
        yield from _spread(function, chain([first], queue), workers, engine)


def _alone(
    function: Callable[[Item], Result],
    queue: Iterator[tuple[int, Item]],
    enough: Callable[[int], bool],
) -> Generator[Result]:
    """Works in this process, until it is enough."""
    for position, item in queue:
        try:
            # As in the workers: the order of a sum can depend on the number of threads.
            with one_thread():
                result = function(item)
        except Exception as error:
            with_item(error, position, item)
            raise
        yield result
        if enough(position + 1):
            return


def _can_spread(function: Callable[[Item], Result]) -> bool:
    return cores() > 1 and packed(function) is not None


def _until_workers_pay(
    function: Callable[[Item], Result], total: int | None
) -> Callable[[int], bool]:
    """Says after how many items the rest goes to workers."""
    started = time.perf_counter()
    possible = _can_spread(function)

    def enough(done: int) -> bool:
        seconds = time.perf_counter() - started
        left = math.inf if total is None else seconds / done * (total - done)
        return possible and seconds > _ALONE_SECONDS and left > _WORTH_SECONDS

    return enough


def _spread(
    function: Callable[[Item], Result],
    queue: Iterator[tuple[int, Item]],
    workers: int | None,
    engine: str,
) -> Generator[Result]:
    """Hands chunks to workers and puts their results in order."""
    if engine == "processes":
        payload = packed(function)
        if payload is None:
            raise InputError(
                "worker processes cannot import this function",
                got=function,
                remedy="Define it in a module, or use one worker.",
            )
        source = Source(queue, workers or cores())
        outcomes = on_processes(payload, source)
    else:
        cluster = connect(engine, workers)
        source = Source(queue, workers or cluster.cores)
        outcomes = on_ray(cluster, function, source)
    with contextlib.closing(outcomes):
        for chunk, outcome in outcomes:
            yield from source.in_order(chunk, outcome)


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says so
        return os.cpu_count() or 1


def _settings(engine: str | None, workers: int | None) -> tuple[str, int | None]:
    """What is given, else what the environment says."""
    engine = engine or os.environ.get("EMPATHYLAB_ENGINE") or "processes"
    if engine not in ("processes", "ray") and not is_address(engine):
        raise InputError(
            "the engine must be processes, ray or ray://host:port",
            got=engine,
            remedy="Correct --engine or EMPATHYLAB_ENGINE.",
        )
    text = os.environ.get("EMPATHYLAB_WORKERS", "") if workers is None else str(workers)
    if text and (not text.isdecimal() or int(text) < 1):
        raise InputError(
            "the number of workers must be a whole number of 1 or more",
            got=text,
            remedy="Correct --workers or EMPATHYLAB_WORKERS.",
        )
    return engine, int(text) if text else None
