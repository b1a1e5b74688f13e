"""One plan's requests, from the first reused answer to the last new one."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from empathylab.errors import InputError, ModelError, RequestRejected, UserError
from empathylab.models import Completion, EndpointModel, Usage
from empathylab.models.batches import BATCH_PRICE, MOST_REQUESTS, Refused, batch_api
from empathylab.runs.batching import Batching, BatchLedger, OpenBatch
from empathylab.runs.channel import Channel
from empathylab.runs.ledger import Asked, Draft, OpenRun, finish_run, missing_now, reusable
from empathylab.runs.limits import Budget, Spend
from empathylab.runs.plans import Pending, Plan, Request, storable
from empathylab.runs.shards import WHOLE, Shard
from empathylab.runs.tally import Tally
from empathylab.runs.writer import Writer
from empathylab.store import Lab
from empathylab.store.inserts import now

Observer = Callable[[Tally], None]


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
        batching: Batching | None = None,
        shard: Shard = WHOLE,
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
        self.batching = batching
        self.shard = shard
        self.waiting = deque(filter(shard.holds, opened.missing))
        self.under_way = 0
        self.idle: deque[asyncio.Future[None]] = deque()
        self.tally = Tally(
            channels[None].model.name,
            plan.protocol,
            planned=opened.done + len(self.waiting),
            already=opened.done,
            run=opened.id,
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
            if self.batching is None:
                await self._ask_all()
            else:
                await self._ask_in_batches(self.batching)
        await self.writer.flush()
        self.tally.adjusted = self.channels[None].model.adjusted
        if self.shard.parts > 1:
            self.tally.planned = self.tally.done + missing_now(
                self.lab, self.opened.id, self.plan, self.asked
            )
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
        """Those of the requests that the lab has no answer to."""
        pending = {item.request.key: item for item in known}
        fingerprints = {key: self._fingerprint(waiting.request) for key, waiting in pending.items()}
        requests = [item.request for item in pending.values()]
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
        async with asyncio.TaskGroup() as group:
            for _ in range(max(channel.concurrency for channel in self.channels.values())):
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
        channel = self.channels[pending.request.partner]
        most = self._most(channel, pending)
        if not await self.budget.admit(most):
            self.tally.stopped = "cap"
            return
        used: Usage | None = None
        try:
            async with channel.free:
                used = await self._ask(channel, pending, most.tokens)
        finally:
            self.budget.settle(most, None if used is None else channel.spend(used))

    async def _ask(self, channel: Channel, pending: Pending, most: int) -> Usage | None:
        """What the answer used, at worst `most` tokens; None if there is none in the end."""
        request, attempt = pending.request, 0
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
            await self._take(channel, pending, completion, asked_at, latency, attempts=attempt)
            return completion.usage
        return None

    async def _take(
        self,
        channel: Channel,
        pending: Pending,
        completion: Completion,
        asked_at: datetime,
        latency: float,
        *,
        attempts: int = 1,
        price_share: float = 1.0,
    ) -> None:
        """Stores the answer; ends the run where most answers are cut off."""
        channel.answers += 1
        price, request = channel.price, pending.request
        draft = Draft(
            request,
            self._fingerprint(request),
            completion,
            self.plan.read(request, completion),
            cost=None if price is None else price_share * price.cost(completion.usage),
            latency=latency,
            attempts=attempts,
            asked_at=asked_at,
            answered_at=now(),
        )
        await self._store(pending, draft)
        channel.refuse_if_cut_off(draft.reading.outcome, completion)

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
        self.tally.examples.setdefault(error.kind, str(error))
        channel.hopeless += 1
        await self.writer.failed(self.opened.id, request.key, error.kind, str(error), attempts)
        self._look()
        channel.refuse_if_hopeless(error)

    # -- asking in batches --------------------------------------------------------------------

    async def _ask_in_batches(self, batching: Batching) -> None:
        """The measured model's requests in batches; those of partners would hold each other up."""
        channel = self.channels[None]
        ledger = BatchLedger(self.lab, self.opened.id, batch_api(channel.model))
        under_way = await ledger.under_way(
            {item.request.key: item for item in self.waiting},
            {item.request.key for item in self.opened.missing if not self.shard.holds(item)},
        )
        submitted = {item.request.key for batch in under_way for item in batch.pending.values()}
        self.waiting = deque(item for item in self.waiting if item.request.key not in submitted)
        for batch in under_way:
            for name, pending in batch.pending.items():
                batch.set_aside[name] = self._most(channel, pending)
                self.budget.set_aside(batch.set_aside[name])
        while self.waiting or under_way:
            while self.waiting and (chosen := self._admitted(channel)):
                under_way.append(await ledger.submit(chosen, channel.model.adjusted))
            if not under_way:
                self.tally.stopped = "cap"
                return
            batch = await ledger.wait(under_way, batching)
            under_way.remove(batch)
            for name, result in (await ledger.results(batch)).items():
                await self._take_result(channel, batch, name, result)
            await self.writer.flush()
            ledger.close(batch)
            if not self.fresh:
                await self._reuse_waiting()

    def _admitted(self, channel: Channel) -> list[tuple[Pending, Spend]]:
        """As many of the waiting requests as fit into a batch and under the caps."""
        chosen: list[tuple[Pending, Spend]] = []
        while self.waiting and len(chosen) < MOST_REQUESTS:
            request = self.waiting[0].request
            if request.partner is not None:
                raise InputError(
                    "requests to a second model cannot be sent in a batch",
                    where="--batch",
                    got=request.key,
                    remedy="Leave out --batch.",
                )
            most = self._most(channel, self.waiting[0])
            if not self.budget.admit_now(most):
                break
            chosen.append((self.waiting.popleft(), most))
        return chosen

    def _most(self, channel: Channel, pending: Pending) -> Spend:
        request = pending.request
        limit = channel.model.output_limit(request.parameters)
        return channel.spend(Usage(request.prompt_tokens, limit))

    def _adjusts(
        self, channel: Channel, batch: OpenBatch, request: Request, content: bytes
    ) -> bool:
        """Whether a refused request can be sent otherwise than it was."""
        model = channel.model
        return isinstance(model, EndpointModel) and model.adjusts(
            content, request.parameters, batch.adjusted
        )

    async def _take_result(
        self, channel: Channel, batch: OpenBatch, name: str, result: Completion | Refused
    ) -> None:
        pending = batch.pending[name]
        request = pending.request
        used: Usage | None = None
        if isinstance(result, Refused):
            refused = isinstance(result.error, RequestRejected)
            if refused and self._adjusts(channel, batch, request, result.content):
                self.waiting.append(pending)
            else:
                await self._fail(channel, request, result.error, 1)
        else:
            completion = self._usable(request, result)
            used, submitted = completion.usage, batch.submitted_at
            latency = (now() - submitted).total_seconds()
            await self._take(
                channel, pending, completion, submitted, latency, price_share=BATCH_PRICE
            )
        self.budget.settle(batch.set_aside[name], None if used is None else channel.spend(used))

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
