"""One plan's requests, from the first reused answer to the last new one."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from empathylab.errors import (
    EndpointUnreachable,
    ModelError,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
    UserError,
)
from empathylab.models import Completion, Model, Price, Usage
from empathylab.runs.ledger import Asked, Draft, OpenRun, finish_run, reusable
from empathylab.runs.limits import Budget, Limits, Pacer, Spend, back_off
from empathylab.runs.plans import CUT_OFF, Pending, Plan, Request, storable
from empathylab.runs.tally import Tally
from empathylab.runs.writer import Writer
from empathylab.store import Lab, now

Observer = Callable[[Tally], None]

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
        self.concurrency = limits.concurrency or model.concurrency
        self.free = asyncio.Semaphore(self.concurrency)
        self.answers = 0
        self.hopeless = 0
        self.cut_off = 0

    def spend(self, usage: Usage) -> Spend:
        """What that usage of this model comes to."""
        return Spend.of(usage, self.price)

    def gives_up(self, error: ModelError, attempt: int) -> bool:
        """Whether a request that failed so is not tried again."""
        told = getattr(error, "retry_after", None)
        if isinstance(error, RequestRejected) or (told is not None and told > _LONGEST_WAIT):
            return True
        if isinstance(error, RateLimited):
            return attempt >= _RATE_LIMIT_ATTEMPTS
        if error.kind == "unreachable" and self.answers == 0:
            return attempt >= min(_UNREACHABLE_ATTEMPTS, self.limits.attempts)
        return attempt >= self.limits.attempts

    async def wait_after(self, error: ModelError, attempt: int) -> None:
        """Waits before the next attempt."""
        told = getattr(error, "retry_after", None)
        seconds = back_off(attempt) if told is None else told
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
                remedy="Check that the server runs and --base-url, then run the same command "
                "again to resume.",
            ) from error
        if self.hopeless >= _HOPELESS_IN_A_ROW and self.answers == 0:
            raise ModelSetup(
                f"the first {self.hopeless} requests all failed, so the run was stopped",
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


class Session:
    """One plan of a job: what waits to be asked, and what has been answered."""

    def __init__(
        self,
        lab: Lab,
        plan: Plan,
        opened: OpenRun,
        asked: Asked,
        channels: Mapping[str | None, Channel],
        budget: Budget,
        writer: Writer,
        observe: Observer,
        *,
        fresh: bool,
    ) -> None:
        self.lab = lab
        self.plan = plan
        self.opened = opened
        self.asked = asked
        self.channels = channels
        self.budget = budget
        self.writer = writer
        self.observe = observe
        self.fresh = fresh
        self.waiting = deque(opened.missing)
        self.under_way = 0
        self.idle: deque[asyncio.Future[None]] = deque()
        self.tally = Tally(
            channels[None].model.name,
            plan.protocol,
            planned=opened.done + len(opened.missing),
            already=opened.done,
        )
        self.fatal: UserError | None = None
        self.started = time.monotonic()

    async def carry_out(self) -> None:
        """Reuses what can be reused, then asks the rest."""
        self.started = time.monotonic()
        self._look()
        if self.waiting and not self.fresh:
            await self._reuse_waiting()
        if self.waiting:
            await self.channels[None].model.start()
            await self._ask_all()
        await self.writer.flush()
        self.tally.adjusted = self.channels[None].model.adjusted
        self._look()
        if self.tally.missing == 0:
            finish_run(self.lab, self.opened.id)

    # -- reusing ------------------------------------------------------------------------------

    async def _reuse_waiting(self) -> None:
        """Takes from the lab what it holds, and what follows from that, as far as it goes."""
        asked: list[Pending] = []
        while self.waiting:
            known = list(self.waiting)
            self.waiting.clear()
            asked += await self._reuse(known)
        self.waiting.extend(asked)

    async def _reuse(self, known: Iterable[Pending]) -> list[Pending]:
        """Those of the requests that the lab holds no answer to."""
        pending = {one.request.key: one for one in known}
        fingerprints = {key: self._fingerprint(one.request) for key, one in pending.items()}
        requests = [one.request for one in pending.values()]
        for request, answer_id, completion, row in reusable(self.lab, requests, fingerprints):
            draft = Draft(
                request,
                fingerprints[request.key],
                completion,
                self.plan.read(request, completion),
                cost=0.0,
                latency=row.latency,
                attempts=0,
                asked_at=row.asked_at,
                answered_at=row.answered_at,
                reused_from=answer_id,
            )
            await self._store(pending.pop(request.key), draft)
        return list(pending.values())

    def _may_be_stored(self, pending: Pending) -> bool:
        """Whether a follow-up could be in the lab; what was known at the start was looked up."""
        at_zero = pending.request.parameters.temperature == 0
        return bool(pending.thread) and at_zero and not self.fresh

    # -- asking -------------------------------------------------------------------------------

    async def _ask_all(self) -> None:
        workers = max(channel.concurrency for channel in self.channels.values())
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())
        if self.fatal is not None:
            raise self.fatal

    async def _work(self) -> None:
        """One of the workers that share the requests between them, retries and follow-ups last."""
        while (pending := await self._next()) is not None:
            try:
                if self._may_be_stored(pending) and not await self._reuse([pending]):
                    continue
                await self._ask_within_budget(pending)
            except UserError as error:
                # What the others are about to be answered is still stored; then the run ends.
                self.fatal = self.fatal or error
                self.tally.stopped = "error"
            finally:
                self.under_way -= 1
                self._wake()

    async def _next(self) -> Pending | None:
        """What to ask next; None once nothing more can come."""
        while self.tally.stopped is None:
            if self.waiting:
                self.under_way += 1
                return self.waiting.popleft()
            if self.under_way == 0:
                break
            # An answer that is under way may lead to more.
            more = asyncio.get_running_loop().create_future()
            self.idle.append(more)
            await more
        return None

    def _wake(self) -> None:
        """Wakes as many idle workers as there is work for, or all of them at the end."""
        over = self.tally.stopped is not None or (self.under_way == 0 and not self.waiting)
        for _ in range(len(self.idle) if over else min(len(self.idle), len(self.waiting))):
            worker = self.idle.popleft()
            if not worker.done():
                worker.set_result(None)

    async def _ask_within_budget(self, pending: Pending) -> None:
        request = pending.request
        channel = self.channels[request.partner]
        prompt = request.prompt_tokens
        most = channel.spend(Usage(prompt, channel.model.output_limit(request.parameters)))
        if not await self.budget.admit(most):
            self.tally.stopped = "cap"
            return
        used: Usage | None = None
        try:
            async with channel.free:
                used = await self._ask(channel, pending)
        finally:
            self.budget.settle(most, None if used is None else channel.spend(used))

    async def _ask(self, channel: Channel, pending: Pending) -> Usage | None:
        """What the answer used; None if there is none after all attempts."""
        request, attempt = pending.request, 0
        most = request.prompt_tokens + channel.model.output_limit(request.parameters)
        while self.tally.stopped != "error":
            attempt += 1
            await channel.pacer.turn(most)
            asked_at, start = now(), time.perf_counter()
            try:
                completion = await channel.model.complete(
                    request.messages, request.parameters, timeout=channel.limits.timeout
                )
            except ModelError as error:
                channel.pacer.settle(most, 0)
                if channel.gives_up(error, attempt):
                    await self._fail(channel, request, error, attempt)
                    return None
                self.tally.retries += 1
                self._look()
                await channel.wait_after(error, attempt)
                continue
            latency = time.perf_counter() - start
            completion = self._usable(request, completion)
            channel.pacer.settle(most, completion.usage.total_tokens)
            channel.hopeless = 0
            channel.answers += 1
            draft = Draft(
                request,
                self._fingerprint(request),
                completion,
                self.plan.read(request, completion),
                cost=None if channel.price is None else channel.price.cost(completion.usage),
                latency=latency,
                attempts=attempt,
                asked_at=asked_at,
                answered_at=now(),
            )
            await self._store(pending, draft)
            channel.refuse_if_cut_off(draft.reading.outcome, completion)
            return completion.usage
        return None

    def _usable(self, request: Request, completion: Completion) -> Completion:
        """The answer with text that every database can hold, and with its usage."""
        completion = storable(completion)
        if completion.usage.total_tokens:
            return completion
        # Some endpoints do not count; caps must hold all the same.
        self.tally.estimated += 1
        written = len(completion.text) + len(completion.reasoning or "")
        estimate = Usage(request.prompt_tokens, written // 4 + 1)
        return dataclasses.replace(completion, usage=estimate)

    async def _fail(
        self, channel: Channel, request: Request, error: ModelError, attempts: int
    ) -> None:
        """Notes a request without an answer; ends the run when nothing else can be expected."""
        self.tally.failures[error.kind] += 1
        channel.hopeless += 1
        await self.writer.failed(self.opened.id, request.key, error.kind, str(error), attempts)
        self._look()
        channel.refuse_if_hopeless(error)

    # -- storing ------------------------------------------------------------------------------

    def _fingerprint(self, request: Request) -> str:
        return self.opened.fingerprints.get(request.key) or self.asked.fingerprint(request)

    async def _store(self, pending: Pending, draft: Draft) -> None:
        """Hands the answer to the writer, and plans what follows from it.

        The writer keeps the order, so a follow-up is never durable before what it follows from.
        """
        retry = self.plan.again(draft.request, draft.reading.outcome)
        if retry is not None:
            more = [Pending(retry, pending.thread)]
        else:
            more = self.plan.after(pending, draft.completion, draft.reading)
        if more:
            self._plan_more(more)
            draft = dataclasses.replace(draft, asked_again=retry is not None, more=len(more))

        def durable() -> None:
            self.tally.count_answer(
                draft.reading.outcome,
                draft.completion.usage,
                draft.cost,
                reused=draft.reused_from is not None,
                asked_again=draft.asked_again,
                more=draft.more,
            )
            self._look()

        await self.writer.add(self.opened.id, draft, self.plan.interpreter, durable)

    def _plan_more(self, more: list[Pending]) -> None:
        for pending in more:
            if pending.request.key in self.opened.keys:
                raise ValueError(f"a plan has two requests with the key {pending.request.key!r}")
            self.opened.keys.add(pending.request.key)
        self.waiting.extend(more)
        self._wake()

    def _look(self) -> None:
        self.tally.seconds = time.monotonic() - self.started
        self.observe(self.tally)
