"""The resumable runner: many requests to one or more models, every answer durable once."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from empathylab.errors import (
    EndpointUnreachable,
    InputError,
    ModelError,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
    UserError,
)
from empathylab.models import Completion, Model, Price, Prices, Usage
from empathylab.runs.ledger import (
    Draft,
    OpenRun,
    finish_run,
    open_run,
    plan_fingerprint,
    request_fingerprints,
    reusable,
)
from empathylab.runs.limits import Budget, Limits, Pacer, back_off
from empathylab.runs.plans import Plan, Request, storable
from empathylab.runs.tally import Tally
from empathylab.runs.writer import Writer
from empathylab.store import Lab, now

Observer = Callable[[Tally], None]

# A busy endpoint says 429 again and again; that is no failure until it has gone on for long.
_RATE_LIMIT_ATTEMPTS = 60
_LONGEST_WAIT = 3600.0  # an endpoint that asks for more is left alone; the command can go on later
_UNREACHABLE_ATTEMPTS = 3
_HOPELESS_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class Job:
    """A model, the plans it is to answer one after the other, and what is allowed."""

    model: Model
    plans: Sequence[Plan]
    limits: Limits = field(default_factory=Limits)
    """Hold for all the plans together."""
    fresh: bool = False
    """Ask again, rather than go on with a finished run or reuse its answers."""


def run(
    lab: Lab,
    jobs: Sequence[Job],
    *,
    prices: Prices | None = None,
    observe: Observer | None = None,
) -> list[Tally]:
    """The tallies of the jobs, all carried out side by side as far as they could be."""
    prices = prices or Prices.load()
    for job in jobs:
        _check_limits(job, prices)
    return asyncio.run(_run(lab, jobs, prices, observe or _ignore))


def _ignore(_tally: Tally) -> None:
    pass


def _check_limits(job: Job, prices: Prices) -> None:
    if job.limits.max_cost is not None and prices.of(job.model.name) is None:
        raise InputError(
            "no price is known for this model, so its cost cannot be capped",
            where="--max-cost",
            got=job.model.name,
            remedy="Give its price in a file with --prices, or cap with --max-total-tokens.",
        )
    for field_ in dataclasses.fields(job.limits):
        value = getattr(job.limits, field_.name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            option = "--" + field_.name.replace("_", "-")
            raise InputError(
                "the limit must be a number above 0", where=option, got=value, remedy="Correct it."
            )


async def _run(lab: Lab, jobs: Sequence[Job], prices: Prices, observe: Observer) -> list[Tally]:
    with contextlib.ExitStack() as locks:
        opened = [[_open(lab, job, plan, locks) for plan in job.plans] for job in jobs]
        async with Writer(lab) as writer:
            desks = [
                _Desk(lab, job, runs, prices.of(job.model.name), writer, observe)
                for job, runs in zip(jobs, opened, strict=True)
            ]
            # One model's wrong key must not stop the others; the error is raised at the end.
            errors = await asyncio.gather(
                *(desk.carry_out() for desk in desks), return_exceptions=True
            )
        for error in errors:
            if error is not None:
                raise _innermost(error)
        return [tally for desk in desks for tally in desk.tallies]


def _open(lab: Lab, job: Job, plan: Plan, locks: contextlib.ExitStack) -> OpenRun:
    fingerprints = request_fingerprints(job.model, plan)
    name = plan_fingerprint(job.model, plan, fingerprints)[:24]
    what = f"the {plan.protocol} run of {job.model.name}"
    locks.enter_context(lab.exclusive(f"run-{name}", what=what))
    return open_run(lab, job.model, plan, fingerprints, fresh=job.fresh)


def _innermost(error: BaseException) -> BaseException:
    """The error itself, out of the groups that tasks wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Desk:
    """One model, with what is shared by all that it is asked: rates, caps, connections."""

    def __init__(
        self,
        lab: Lab,
        job: Job,
        runs: Sequence[OpenRun],
        price: Price | None,
        writer: Writer,
        observe: Observer,
    ) -> None:
        self.lab = lab
        self.model = job.model
        self.limits = job.limits
        self.fresh = job.fresh
        self.price = price
        self.writer = writer
        self.observe = observe
        self.pacer = Pacer(job.limits)
        spent_tokens = sum(run.spent_tokens for run in runs)
        spent_cost = sum(run.spent_cost for run in runs)
        self.budget = Budget(job.limits, price, spent_tokens, spent_cost)
        self.answers = 0
        self.hopeless = 0
        self.sessions = [
            _Session(self, plan, run) for plan, run in zip(job.plans, runs, strict=True)
        ]

    @property
    def tallies(self) -> list[Tally]:
        return [session.tally for session in self.sessions]

    async def carry_out(self) -> None:
        """Works through the plans in turn; starts the model only if there is something to ask."""
        try:
            for session in self.sessions:
                await session.carry_out()
        finally:
            await self.model.close()


class _Session:
    """One plan, from the first reused answer to the last new one."""

    def __init__(self, desk: _Desk, plan: Plan, opened: OpenRun) -> None:
        self.desk = desk
        self.plan = plan
        self.opened = opened
        self.waiting = deque(opened.missing)
        self.tally = Tally(
            desk.model.name,
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
        if self.waiting and not self.desk.fresh:
            await self._reuse()
        if self.waiting:
            await self.desk.model.start()
            await self._ask_all()
        await self.desk.writer.flush()
        self._look()
        if self.tally.missing == 0:
            finish_run(self.desk.lab, self.opened.id)

    async def _reuse(self) -> None:
        asked, taken = list(self.waiting), set[str]()
        known = {request.key: self._fingerprint(request) for request in asked}
        self.waiting.clear()
        for request, answer_id, completion, row in reusable(self.desk.lab, asked, known):
            taken.add(request.key)
            draft = Draft(
                request,
                known[request.key],
                completion,
                self.plan.interpreter.read(request, completion),
                cost=0.0,
                latency=row.latency,
                attempts=0,
                asked_at=row.asked_at,
                answered_at=row.answered_at,
                reused_from=answer_id,
            )
            await self._store(draft)
        self.waiting.extend(request for request in asked if request.key not in taken)

    async def _ask_all(self) -> None:
        workers = self.desk.limits.concurrency or self.desk.model.concurrency
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())
        if self.fatal is not None:
            raise self.fatal

    async def _work(self) -> None:
        """One of the workers that share the requests between them, retries last."""
        while self.tally.stopped is None and self.waiting:
            request = self.waiting.popleft()
            most = Usage(request.prompt_tokens, request.most_tokens - request.prompt_tokens)
            if not await self.desk.budget.admit(most):
                self.tally.stopped = "cap"
                return
            used: Usage | None = None
            try:
                used = await self._ask(request)
            except UserError as error:
                # What the others are about to be answered is still stored; then the run ends.
                self.fatal = self.fatal or error
                self.tally.stopped = "error"
            finally:
                self.desk.budget.settle(most, used)

    async def _ask(self, request: Request) -> Usage | None:
        """What the answer used; None if there is none after all attempts."""
        attempt = 0
        while self.tally.stopped != "error":
            attempt += 1
            await self.desk.pacer.turn(request.most_tokens)
            asked_at, start = now(), time.perf_counter()
            try:
                completion = await self.desk.model.complete(
                    request.messages, request.parameters, timeout=self.desk.limits.timeout
                )
            except ModelError as error:
                self.desk.pacer.settle(request.most_tokens, 0)
                if self._give_up(error, attempt):
                    await self._fail(request, error, attempt)
                    return None
                await self._wait_after(error, attempt)
                continue
            latency = time.perf_counter() - start
            completion = self._usable(request, completion)
            self.desk.pacer.settle(request.most_tokens, completion.usage.total_tokens)
            self.desk.hopeless = 0
            self.desk.answers += 1
            draft = Draft(
                request,
                self._fingerprint(request),
                completion,
                self.plan.interpreter.read(request, completion),
                cost=self._cost(completion),
                latency=latency,
                attempts=attempt,
                asked_at=asked_at,
                answered_at=now(),
            )
            await self._store(draft)
            return completion.usage
        return None

    def _usable(self, request: Request, completion: Completion) -> Completion:
        """The answer with text that every database can hold, and with its usage."""
        completion = storable(completion)
        if completion.usage.total_tokens:
            return completion
        # Some endpoints do not count; caps must hold all the same.
        self.tally.estimated += 1
        estimate = Usage(request.prompt_tokens, len(completion.text) // 4 + 1)
        return dataclasses.replace(completion, usage=estimate)

    def _cost(self, completion: Completion) -> float | None:
        return None if self.desk.price is None else self.desk.price.cost(completion.usage)

    def _give_up(self, error: ModelError, attempt: int) -> bool:
        told = getattr(error, "retry_after", None)
        if isinstance(error, RequestRejected) or (told is not None and told > _LONGEST_WAIT):
            return True
        if isinstance(error, RateLimited):
            return attempt >= _RATE_LIMIT_ATTEMPTS
        if error.kind == "unreachable" and self.desk.answers == 0:
            return attempt >= min(_UNREACHABLE_ATTEMPTS, self.desk.limits.attempts)
        return attempt >= self.desk.limits.attempts

    async def _wait_after(self, error: ModelError, attempt: int) -> None:
        self.tally.retries += 1
        self._look()
        told = getattr(error, "retry_after", None)
        seconds = back_off(attempt) if told is None else told
        if isinstance(error, RateLimited):
            self.desk.pacer.be_quiet(seconds)  # the whole model is busy, not this request alone
        else:
            await asyncio.sleep(seconds)

    async def _fail(self, request: Request, error: ModelError, attempts: int) -> None:
        """Notes a request without an answer; ends the run when nothing else can be expected."""
        self.tally.failures[error.kind] += 1
        self.desk.hopeless += 1
        await self.desk.writer.failed(self.opened.id, request.key, error.kind, str(error), attempts)
        self._look()
        if isinstance(error, ModelUnavailable) and error.kind == "unreachable":
            raise EndpointUnreachable(
                "nobody answers at the model's address",
                where=self.desk.model.identity,
                got=str(error),
                remedy="Check that the server runs and --base-url; the same command goes on.",
            ) from error
        if self.desk.hopeless >= _HOPELESS_IN_A_ROW and self.desk.answers == 0:
            raise ModelSetup(
                f"the first {self.desk.hopeless} requests all failed, so the run was stopped",
                where=self.desk.model.identity,
                got=str(error),
                remedy="Mend the cause; the same command then goes on.",
            ) from error

    def _fingerprint(self, request: Request) -> str:
        known = self.opened.fingerprints.get(request.key)
        return known or request.fingerprint(self.desk.model.identity)

    async def _store(self, draft: Draft) -> None:
        """Hands the answer to the writer, and plans a retry where it cannot be used."""
        retry = self.plan.again(draft.request, draft.reading.outcome)
        if retry is not None:
            self.waiting.append(retry)
            draft = dataclasses.replace(draft, asked_again=True)

        def durable() -> None:
            self.tally.count_answer(
                draft.reading.outcome,
                draft.completion.usage,
                draft.cost,
                reused=draft.reused_from is not None,
                asked_again=draft.asked_again,
            )
            self._look()

        await self.desk.writer.add(self.opened.id, draft, self.plan.interpreter, durable)

    def _look(self) -> None:
        self.tally.seconds = time.monotonic() - self.started
        self.desk.observe(self.tally)
