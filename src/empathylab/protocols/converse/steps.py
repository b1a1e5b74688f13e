"""Where in which conversation a request stands; its key says it."""

from __future__ import annotations

import functools
from typing import NamedTuple

from empathylab.runs import Request


class Step(NamedTuple):
    """One of the three requests of an exchange."""

    conversation: str
    exchange: int
    kind: str
    """`reply`, `state` or `message`."""

    @property
    def key(self) -> str:
        return f"{self.conversation}#{self.exchange}/{self.kind}"

    @property
    def persona(self) -> str:
        """The persona's key."""
        return self.conversation.rsplit("/sample-", 1)[0]

    @property
    def sample(self) -> int:
        return int(self.conversation.rsplit("/sample-", 1)[1])

    @property
    def position(self) -> int:
        """Of the turn that the answer is or belongs to; the opening is turn 0."""
        return 2 * self.exchange - (self.kind != "message")

    @classmethod
    def of(cls, request: Request) -> Step:
        return _step(request.first_key)


@functools.lru_cache(maxsize=1 << 16)
def _step(key: str) -> Step:
    # A thread is read again after each of its answers, so keys come up many times.
    conversation, _, place = key.rpartition("#")
    exchange, kind = place.split("/")
    return Step(conversation, int(exchange), kind)
