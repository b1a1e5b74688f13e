"""Copies of a local model on a Ray cluster, which share its requests."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial

from empathylab.compute import Actors
from empathylab.errors import ModelSetup, UserError
from empathylab.models.interface import Completion, Message, Parameters
from empathylab.models.local import LocalModel
from empathylab.models.threads import usable_cores

OpenLocal = Callable[[int | None], LocalModel]
"""Opens the model where it is called, with this number of threads; None lets it choose."""


class ReplicatedModel:
    """A local model with a copy per GPU of a Ray cluster, or per node where there is no GPU.

    Each copy reads the weights of its own machine. They are started with the first question.
    """

    def __init__(self, open_local: OpenLocal, engine: str, copies: int | None = None) -> None:
        self._open = open_local
        self._local = open_local(None)
        self._engine = engine
        self._copies = copies
        self._actors: Actors | None = None
        self._starting = asyncio.Lock()
        self._ready = False
        self.adjusted = ""

    @property
    def name(self) -> str:
        return self._local.name

    @property
    def identity(self) -> str:
        return self._local.identity

    @property
    def concurrency(self) -> int:
        return self._local.concurrency * len(self._placed())

    def output_limit(self, parameters: Parameters) -> int:
        return self._local.output_limit(parameters)

    def __repr__(self) -> str:
        return f"ReplicatedModel({self._local!r}, {self._engine!r})"

    async def start(self) -> None:
        async with self._starting:
            if self._ready:
                return
            for identity in await self._placed().start():
                if identity != self.identity:
                    raise ModelSetup(
                        "a node of the Ray cluster has other weights under this name",
                        where=self.name,
                        got=identity,
                        remedy=f"Install the same weights on every node: {self.identity}.",
                    )
            self._ready = True

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        await self.start()
        completion: Completion
        completion, self.adjusted = await self._placed().call(
            "complete", messages, parameters, timeout
        )
        return completion

    async def close(self) -> None:
        actors, self._actors, self._ready = self._actors, None, False
        if actors is not None:
            await actors.close()

    def _placed(self) -> Actors:
        if self._actors is None:
            self._actors = Actors(partial(_Copy, self._open), self._engine, self._copies)
        return self._actors


class _Copy:
    """The model on one machine of the cluster, which it may share with other copies."""

    def __init__(self, open_local: OpenLocal, share: int) -> None:
        threads = None if share == 1 else max(1, usable_cores() // share)
        try:
            self._model = open_local(threads)
        except UserError as error:
            error.where = f"{error.where} on {socket.gethostname()}"
            raise

    async def start(self) -> str:
        await self._model.start()
        return self._model.identity

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, timeout: float
    ) -> tuple[Completion, str]:
        completion = await self._model.complete(messages, parameters, timeout=timeout)
        return completion, self._model.adjusted
