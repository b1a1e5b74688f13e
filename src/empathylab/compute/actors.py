"""Objects that live on a Ray cluster and answer calls, such as copies of a model."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from empathylab import __version__
from empathylab.compute.chunks import ATTEMPTS
from empathylab.compute.ray_cluster import Cluster, Nodes, connect, lacking, require_version
from empathylab.errors import ComputeError

_START_SECONDS = 600.0
_PATIENCE_SECONDS = 20.0
"""So long copies may take to start before the user is told."""
_AGAIN_SECONDS = 1.0
"""Between two attempts to reach an actor that is being started again."""

_LOGGER = logging.getLogger("empathylab")
_CPUS = 0.001
"""What a copy reserves: almost nothing, so that it never waits; for nothing, Ray chooses a node."""

Answer = TypeVar("Answer")


class Actors:
    """Copies of an object: one per GPU of the cluster, or one per node where there is no GPU.

    `make` is called where a copy lives, with the number of copies that share the machine. The
    object's methods are coroutines, and it has one named `start`. A call goes to the copy with the
    fewest calls under way. A copy that dies is started again, twice at most, and its calls go to
    the others.
    """

    def __init__(self, make: Callable[[int], Any], engine: str, count: int | None = None) -> None:
        self._cluster = connect(engine, None)
        self._nodes = Nodes(self._cluster)
        ray, modules = self._cluster.ray, (sys.modules[__name__], sys.modules[Nodes.__module__])
        with contextlib.ExitStack() as by_value:  # a node that lacks the package can then say so
            for module in modules:
                ray.cloudpickle.register_pickle_by_value(module)
                by_value.callback(ray.cloudpickle.unregister_pickle_by_value, module)
            kind = ray.remote(_Host)
            self._actors = [
                _Actor(
                    kind.options(max_restarts=ATTEMPTS - 1, num_cpus=_CPUS, **place).remote(
                        ray.cloudpickle.dumps(make), share, __version__
                    )
                )
                for place, share in _places(self._cluster, count)
            ]
        self._watch: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._actors)

    async def start(self) -> list[Any]:
        """What the method `start` of each copy returns, once all have been made."""
        self._watch = asyncio.create_task(self._look())
        for actor in self._actors:
            actor.started = asyncio.create_task(self._begin(actor))
        starts = [actor.started for actor in self._actors if actor.started]
        _, waiting = await self._unless_lost(asyncio.wait(starts, timeout=_PATIENCE_SECONDS))
        if waiting:
            _LOGGER.warning(
                "Waiting for the Ray cluster to start %d of %d copies.", len(waiting), len(starts)
            )
        return [await self._unless_lost(asyncio.shield(start)) for start in starts]

    async def call(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        """What the method of one copy returns."""
        while True:
            actor = await self._least_busy()
            actor.calls += 1
            try:
                return await self._unless_lost(self._ask(actor, method, arguments, keywords))
            except self._cluster.ray.exceptions.RayError:
                if actor.usable:
                    actor.started = asyncio.create_task(self._begin(actor))
            finally:
                actor.calls -= 1

    async def close(self) -> None:
        """Ends all copies."""
        tasks = [task for task in (self._watch, *(a.started for a in self._actors)) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._nodes.headless:
            self._cluster.ray.shutdown()
        else:
            for actor in self._actors:
                self._cluster.ray.kill(actor.handle)

    async def _begin(self, actor: _Actor) -> Any:
        """What `start` returns, once the actor is there, or there again."""
        exceptions = self._cluster.ray.exceptions
        try:
            async with asyncio.timeout(_START_SECONDS):
                while True:
                    try:
                        return await self._ask(actor, "start", (), {})
                    except exceptions.ActorUnavailableError:
                        await asyncio.sleep(_AGAIN_SECONDS)
        except TimeoutError as error:
            raise ComputeError(
                "the Ray cluster has had no room for a copy for ten minutes",
                remedy="Wait until its GPUs are free, or ask for fewer copies (--workers).",
            ) from error
        except exceptions.RayError as error:
            raise ComputeError(
                f"a copy on the Ray cluster ended {ATTEMPTS} times ({type(error).__name__})",
                remedy="If memory is short, use fewer copies (--workers). Then run the command "
                "again to resume.",
            ) from error

    async def _ask(
        self, actor: _Actor, method: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        ray = self._cluster.ray
        packed = ray.cloudpickle.dumps((arguments, keywords))
        answer, error = await actor.handle.call.remote(method, packed)
        if error is not None:
            raise lacking(error) or error
        return answer

    async def _least_busy(self) -> _Actor:
        """The actor with the fewest calls; waits while all are being started."""
        while True:
            usable = [actor for actor in self._actors if actor.usable]
            if usable:
                return min(usable, key=lambda actor: actor.calls)
            starts = [actor.started for actor in self._actors if actor.started]
            pending = [start for start in starts if not start.done()]
            if not pending:
                starts[0].result()  # raises why it could not be started again
            await self._unless_lost(asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED))

    async def _look(self) -> None:
        while True:
            await asyncio.to_thread(self._nodes.look)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _unless_lost(self, asked: Awaitable[Answer]) -> Answer:
        """The answer; an error if the cluster is lost before."""
        assert self._watch is not None  # noqa: S101 - `start` sets it
        answer = asyncio.ensure_future(asked)
        try:
            await asyncio.wait({answer, self._watch}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                self._watch.result()
        finally:
            answer.cancel()
        return answer.result()


class _Actor:
    """An actor as the process that asks knows it."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.calls = 0
        self.started: asyncio.Task[Any] | None = None

    @property
    def usable(self) -> bool:
        start = self.started
        return bool(start and start.done() and not start.cancelled() and not start.exception())


class _Host:
    """In an actor: the object. Travels by value: it imports what it needs."""

    def __init__(self, make: bytes, share: int, version: str) -> None:
        self._make = make
        self._share = share
        self._version = version
        self._object: Any = None

    async def call(self, method: str, packed: bytes) -> tuple[Any, Exception | None]:
        """What the object's method returns, or the error that it ends with."""
        import pickle

        try:
            if self._object is None:
                require_version(self._version)
                self._object = pickle.loads(self._make)(self._share)  # noqa: S301 - from our driver
            arguments, keywords = pickle.loads(packed)  # noqa: S301
            return await getattr(self._object, method)(*arguments, **keywords), None
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is read
            return None, error


def _places(cluster: Cluster, count: int | None) -> list[tuple[dict[str, Any], int]]:
    """Where each copy lives, as Ray's options, and how many copies share its machine."""
    ray = cluster.ray
    nodes = sorted(
        (node["NodeID"], int(node["Resources"].get("GPU", 0)))
        for node in ray.nodes()
        if node["Alive"]
    )
    if gpus := sum(of_node for _, of_node in nodes):
        count = count or gpus
        per_gpu = math.ceil(count / gpus)
        share = min(count, per_gpu * max(of_node for _, of_node in nodes))
        return [({"num_gpus": 1 / per_gpu, "scheduling_strategy": "SPREAD"}, share)] * count
    count = count or len(nodes)
    share = math.ceil(count / len(nodes))
    on = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    return [
        ({"scheduling_strategy": on(nodes[number % len(nodes)][0], soft=True)}, share)
        for number in range(count)
    ]
