"""The resumable runner: many requests to one or more models, every answer durable once."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from empathylab.errors import InputError
from empathylab.models import Model, Prices
from empathylab.runs.batching import Batching
from empathylab.runs.channel import Channel
from empathylab.runs.event_loops import run_to_end
from empathylab.runs.ledger import Asked, OpenRun, open_run
from empathylab.runs.limits import Budget, Limits, Spend
from empathylab.runs.plans import Plan
from empathylab.runs.session import Observer, Session
from empathylab.runs.shards import WHOLE, Shard
from empathylab.runs.tally import Tally
from empathylab.runs.writer import Writer
from empathylab.store import Lab


@dataclass(frozen=True, slots=True)
class Job:
    """A model, the plans it is to answer one after the other, and what is allowed."""

    model: Model
    plans: Sequence[Plan]
    limits: Limits = field(default_factory=Limits)
    """Hold for all the plans together."""
    fresh: bool = False
    """Ask everything again in a new run, rather than go on with one or reuse its answers."""
    partners: Mapping[str, Model] = field(default_factory=dict)
    """Other models that the plans' requests may name, such as a simulated person."""
    batching: Batching | None = None
    """Send requests through the provider's batch API."""
    shard: Shard = WHOLE
    """Ask only this part of the requests."""

    @property
    def models(self) -> dict[str | None, Model]:
        """All that the job asks, by the name that requests give them."""
        named: dict[str | None, Model] = dict(self.partners.items())
        return {None: self.model} | named

    @property
    def asked(self) -> Asked:
        """Their identities."""
        partners = {name: model.identity for name, model in self.partners.items()}
        return Asked(self.model.identity, partners)


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
    return run_to_end(_run(lab, jobs, prices, observe or _ignore))


def _ignore(_tally: Tally) -> None:
    pass


def _check_limits(job: Job, prices: Prices) -> None:
    for model in job.models.values():
        require_price(job.limits.max_cost, model.name, prices)
    for field_ in dataclasses.fields(job.limits):
        value = getattr(job.limits, field_.name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            option = "--" + field_.name.replace("_", "-")
            raise InputError(
                "the limit must be a number above 0", where=option, got=value, remedy="Correct it."
            )


def require_price(max_cost: float | None, model: str, prices: Prices) -> None:
    """Refuses to cap the cost of a model whose price is not known."""
    if max_cost is not None and prices.of(model) is None:
        raise InputError(
            "no price is known for this model, so its cost cannot be capped",
            where="--max-cost",
            got=model,
            remedy="Give its price in a file with --prices, or cap with --max-total-tokens.",
        )


async def _run(lab: Lab, jobs: Sequence[Job], prices: Prices, observe: Observer) -> list[Tally]:
    with contextlib.ExitStack() as locks:
        opened = [[_open(lab, job, plan, locks) for plan in job.plans] for job in jobs]
        channels = _channels(jobs, prices)
        async with Writer(lab) as writer:
            sessions = [
                _sessions(lab, job, runs, channels, writer, observe)
                for job, runs in zip(jobs, opened, strict=True)
            ]
            # One model's wrong key must not stop the others; the error is raised at the end.
            try:
                errors = await asyncio.gather(
                    *(_in_turn(of_job) for of_job in sessions), return_exceptions=True
                )
            finally:
                for channel in channels.values():
                    await channel.model.close()
        for error in errors:
            if error is not None:
                raise _innermost(error)
        return [session.tally for of_job in sessions for session in of_job]


def _open(lab: Lab, job: Job, plan: Plan, locks: contextlib.ExitStack) -> OpenRun:
    asked = job.asked
    fingerprints = asked.fingerprints(plan)
    name = asked.run_fingerprint(plan, fingerprints)[:24]
    what = f"the {plan.protocol} run of {job.model.name}"
    locks.enter_context(lab.exclusive(f"run-{name}", what=what, part=job.shard))
    joins = job.shard.parts > 1 or job.batching is not None
    return open_run(lab, job.model, plan, asked, fingerprints, fresh=job.fresh, joins=joins)


def _channels(jobs: Sequence[Job], prices: Prices) -> dict[int, Channel]:
    """One channel per model, shared by the jobs that ask it: its rates hold for all of them."""
    return {
        id(model): Channel(model, job.limits, prices.of(model.name))
        for job in reversed(jobs)
        for model in reversed(job.models.values())
    }


def _sessions(
    lab: Lab,
    job: Job,
    runs: Sequence[OpenRun],
    channels: Mapping[int, Channel],
    writer: Writer,
    observe: Observer,
) -> list[Session]:
    spent = Spend(sum(run.spent.tokens for run in runs), sum(run.spent.cost for run in runs))
    budget = Budget(job.limits, spent)
    mine = {name: channels[id(model)] for name, model in job.models.items()}
    return [
        Session(
            *(lab, plan, run, job.asked, mine, budget, writer, observe),
            fresh=run.fresh,  # of the run: one that was begun afresh stays so when it is resumed
            batching=job.batching,
            shard=job.shard,
        )
        for plan, run in zip(job.plans, runs, strict=True)
    ]


async def _in_turn(sessions: Sequence[Session]) -> None:
    for session in sessions:
        await session.carry_out()


def _innermost(error: BaseException) -> BaseException:
    """The error itself, out of the groups that tasks wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
