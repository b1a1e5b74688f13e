"""The way to one model: how fast it may be asked, when to try again, and when to give up."""

from __future__ import annotations

import asyncio
from functools import cached_property

from empathylab.errors import (
    EndpointUnreachable,
    ModelError,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
)
from empathylab.models import Completion, Model, Price, Usage
from empathylab.runs.limits import Limits, Pacer, Spend, back_off
from empathylab.runs.plans import CUT_OFF

# A busy endpoint says 429 again and again; that is no failure until it has gone on for long.
_RATE_LIMIT_ATTEMPTS = 60
_LONGEST_WAIT = 3600.0  # an endpoint that asks for more is left alone; the command can go on later
_UNREACHABLE_ATTEMPTS = 3
_HOPELESS_IN_A_ROW = 5
_CUT_OFF_LEAST = 5  # answers before a run is ended because most are cut off


class Channel:
    """The way to one model: its rates, its price, and how it has answered so far."""

    def __init__(self, model: Model, limits: Limits, price: Price | None) -> None:
        self.model = model
        self.limits = limits
        self.price = price
        self.pacer = Pacer(limits)
        self.answers = 0
        self.hopeless = 0
        self.cut_off = 0

    @cached_property
    def concurrency(self) -> int:
        """How many requests at once; a model may have to start before it can say so."""
        return self.limits.concurrency or self.model.concurrency

    @cached_property
    def free(self) -> asyncio.Semaphore:
        """Held by each request under way."""
        return asyncio.Semaphore(self.concurrency)

    def spend(self, usage: Usage) -> Spend:
        """What that usage of this model comes to."""
        return Spend.of(usage, self.price)

    def gives_up(self, error: ModelError, attempt: int) -> bool:
        """Whether a request that failed so is not tried again."""
        wait = getattr(error, "retry_after", None)
        if isinstance(error, RequestRejected) or (wait is not None and wait > _LONGEST_WAIT):
            return True
        if isinstance(error, RateLimited):
            return attempt >= _RATE_LIMIT_ATTEMPTS
        if error.kind == "unreachable" and self.answers == 0:
            return attempt >= min(_UNREACHABLE_ATTEMPTS, self.limits.attempts)
        return attempt >= self.limits.attempts

    async def wait_after(self, error: ModelError, attempt: int) -> None:
        """Waits before the next attempt."""
        wait = getattr(error, "retry_after", None)
        seconds = back_off(attempt) if wait is None else wait
        if isinstance(error, RateLimited):
            self.pacer.be_quiet(seconds)  # the whole model is busy, not this request alone
        else:
            await asyncio.sleep(seconds)

    def refuse_if_hopeless(self, error: ModelError) -> None:
        """Ends the run when nothing else can be expected than more failures."""
        if isinstance(error, ModelUnavailable) and error.kind == "unreachable":
            raise EndpointUnreachable(
                "cannot connect to the model's address",
                where=self.model.identity,
                got=str(error),
                remedy="Check --base-url and that the server is running, then run the same "
                "command again to resume.",
            ) from error
        if self.hopeless >= _HOPELESS_IN_A_ROW and self.answers == 0:
            raise ModelSetup(
                f"the first {_HOPELESS_IN_A_ROW} requests all failed, so the run was stopped",
                where=self.model.identity,
                got=str(error),
                remedy="Fix the cause, then run the same command again to resume.",
            ) from error

    def refuse_if_cut_off(self, outcome: str, completion: Completion) -> None:
        """Ends the run when most answers end while the model is still reasoning."""
        if outcome != CUT_OFF:
            return
        self.cut_off += 1
        if self.cut_off < _CUT_OFF_LEAST or 2 * self.cut_off <= self.answers:
            return
        used = completion.usage.completion_tokens
        raise ModelSetup(
            f"{self.cut_off} of {self.answers} answers were cut off while the model was "
            "reasoning, so the run was stopped",
            where=self.model.identity,
            got=f"{used} tokens used, no answer",
            remedy=f"Set --max-tokens {max(4096, 4 * used)}, or --reasoning-effort low.",
        )
