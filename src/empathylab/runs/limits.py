"""How fast and how far a run may go."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import NamedTuple

from empathylab.models import Price, Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user allows; None means no limit of that kind."""

    concurrency: int | None = None
    """Requests under way at once; None takes the model's own number."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 6
    """How often a request is tried when the endpoint fails."""
    timeout: float = 120.0
    """Seconds before an answer is given up."""
    max_total_tokens: int | None = None
    """Tokens that all plans of a job may use together, earlier sessions counted."""
    max_cost: float | None = None
    """Dollars that they may cost, counted likewise."""


class Pacer:
    """Keeps one model's requests within its rates, and all of them quiet when it asks for that."""

    def __init__(self, limits: Limits) -> None:
        self._seconds_per_request = 60 / (limits.requests_per_minute or float("inf"))
        self._seconds_per_token = 60 / (limits.tokens_per_minute or float("inf"))
        self._next_request = 0.0
        self._next_token = 0.0
        self._quiet_until = 0.0

    async def turn(self, tokens: int) -> None:
        """Waits until a request of about that many tokens may go out."""
        now = time.monotonic()
        start = max(now, self._next_request, self._next_token)
        self._next_request = start + self._seconds_per_request
        self._next_token = start + tokens * self._seconds_per_token
        if start > now:
            await asyncio.sleep(start - now)
        # The quiet may be prolonged while we wait for its end.
        while (wait := self._quiet_until - time.monotonic()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(wait)

    def settle(self, estimated: int, used: int) -> None:
        """Corrects the estimate once the real number is known."""
        self._next_token += (used - estimated) * self._seconds_per_token

    def be_quiet(self, seconds: float) -> None:
        """Holds back every request for a while."""
        self._quiet_until = max(self._quiet_until, time.monotonic() + seconds)


class Spend(NamedTuple):
    """Tokens and dollars; a model without a known price costs nothing here."""

    tokens: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, usage: Usage, price: Price | None) -> Spend:
        """What that usage comes to."""
        return cls(usage.total_tokens, price.cost(usage) if price else 0.0)


class Budget:
    """Admits requests while the worst case still fits under the caps."""

    def __init__(self, limits: Limits, spent: Spend) -> None:
        self._max_tokens = (
            float("inf") if limits.max_total_tokens is None else limits.max_total_tokens
        )
        self._max_cost = float("inf") if limits.max_cost is None else limits.max_cost
        self._tokens = float(spent.tokens)
        self._cost = spent.cost
        self._under_way = 0
        self._changed = asyncio.Event()

    async def admit(self, most: Spend) -> bool:
        """Whether a request that may use that much can go out; waits for others to settle."""
        while not self._fits(most):
            if self._under_way == 0:
                return False
            self._changed.clear()
            await self._changed.wait()
        self.set_aside(most)
        return True

    def admit_now(self, most: Spend) -> bool:
        """Whether a request that may use that much can go out without waiting for others."""
        if not self._fits(most):
            return False
        self.set_aside(most)
        return True

    def set_aside(self, most: Spend) -> None:
        """Counts a request that is under way already."""
        self._under_way += 1
        self._book(most, +1)

    def settle(self, most: Spend, used: Spend | None) -> None:
        """Replaces what was set aside by what was used; None if no answer came."""
        self._under_way -= 1
        self._book(most, -1)
        if used is not None:
            self._book(used, +1)
        self._changed.set()

    def _fits(self, spend: Spend) -> bool:
        return (
            self._tokens + spend.tokens <= self._max_tokens
            and self._cost + spend.cost <= self._max_cost
        )

    def _book(self, spend: Spend, sign: int) -> None:
        self._tokens += sign * spend.tokens
        self._cost += sign * spend.cost


def back_off(attempt: int) -> float:
    """Seconds to wait after the attempt of that number (from 1) failed: doubling, with jitter."""
    return min(60.0, 0.25 * 2.0**attempt) * random.uniform(0.5, 1.0)
