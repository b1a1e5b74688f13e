"""A model whose answers are given beforehand, for tests and dry runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from empathylab.models.interface import (
    UNLIMITED_ANSWER,
    Completion,
    Message,
    Parameters,
    Usage,
)

Script = Callable[[tuple[Message, ...], Parameters], Completion | str | Exception]


class ScriptedModel:
    """Answers from a list, in the order of asking, or from a function."""

    def __init__(
        self,
        answers: Sequence[Completion | str | Exception] | Script,
        *,
        name: str = "scripted/test",
        concurrency: int = 8,
        latency: float = 0.0,
        identity: str | None = None,
    ) -> None:
        self.name = name
        self.identity = identity or name
        self.concurrency = concurrency
        self.latency = latency
        self.calls: list[tuple[tuple[Message, ...], Parameters]] = []
        self._answers = answers

    @property
    def adjusted(self) -> str:
        return ""

    def output_limit(self, parameters: Parameters) -> int:
        return parameters.max_tokens or UNLIMITED_ANSWER

    async def start(self) -> None:
        """Nothing to get ready."""

    async def close(self) -> None:
        """Nothing to let go of."""

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        number = len(self.calls)
        self.calls.append((messages, parameters))
        await asyncio.sleep(min(self.latency, timeout))
        if callable(self._answers):
            answer = self._answers(messages, parameters)
        else:
            answer = self._answers[number % len(self._answers)]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        words = sum(len(message.content.split()) for message in messages)
        return Completion(
            answer,
            finish_reason="stop",
            usage=Usage(words, len(answer.split())),
            reported_model=self.name,
        )
