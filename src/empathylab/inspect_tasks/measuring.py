"""Carrying out a protocol's plan inside Inspect, one sample at a time.

The task keeps a lab in a temporary folder: answers are read and stored there as in any lab, and
each sample takes along the rows that belong to it. So `empathylab data import inspect` gets them
back whole.
"""

from __future__ import annotations

import functools
import secrets
import shutil
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from inspect_ai.dataset import Sample
from inspect_ai.model import Model as ChatModel
from inspect_ai.model import ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from sqlalchemy import select

from empathylab.export.inspect_logs.layout import DEFINITIONS, carried, sample_of
from empathylab.models import Prices, Usage
from empathylab.models.inspect_chats import (
    InspectModel,
    chat_messages,
    chat_settings,
    completion_of,
    output_of,
    respondent_name,
)
from empathylab.runs import Plan, Request
from empathylab.runs.ledger import Asked, Draft, open_run, store_answers
from empathylab.runs.plans import Pending, storable
from empathylab.store import Lab
from empathylab.store.inserts import now
from empathylab.store.schema import answers
from empathylab.store.transfer import Records, answer_records, whole_tables

Planner = Callable[[Lab, str, int, Mapping[str, str]], Plan]
"""The plan in a lab, for a respondent, a number of samples or repeats, and the partners' names."""


class OpenPlan(NamedTuple):
    """A plan, the run in the lab that its answers belong to, and whom it asks."""

    plan: Plan
    run: int
    asked: Asked
    models: Mapping[str | None, ChatModel]
    """By the names that the plan's requests give them; None is the one that is measured."""


def _remove(lab: Lab, folder: Path) -> None:
    lab.close()
    shutil.rmtree(folder, ignore_errors=True)


class Measuring:
    """A protocol in a lab of its own, carried out by Inspect."""

    live: ClassVar[weakref.WeakValueDictionary[str, Measuring]] = weakref.WeakValueDictionary()
    """By source, those of this process: a scorer finds the lab of the sample it scores."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="empathylab-"))
        self.lab = Lab.open(folder / "lab")
        # Inspect does not say when it is done with a task: the lab goes with the last sample.
        weakref.finalize(self, _remove, self.lab, folder)
        self.source = secrets.token_hex(8)
        """Tells the numbers of this lab's rows from those of other labs."""
        self.live[self.source] = self
        self._open: dict[tuple[str, ...], OpenPlan] = {}

    def definitions(self) -> Records:
        """The situations, scales and personas that the lab has."""
        with self.lab.reading() as connection:
            return whole_tables(connection, DEFINITIONS)

    def open(
        self, plan: Plan, models: Mapping[str | None, ChatModel], *, name: str | None = None
    ) -> OpenPlan:
        """The plan with its run, which is begun the first time; `name` distinguishes such plans."""
        identities = {partner: _identity(model) for partner, model in models.items()}
        partners = {
            partner: reported for partner, reported in identities.items() if partner is not None
        }
        asked = Asked(identities[None], partners)
        key = (name or plan.protocol, asked.model, *partners.values())
        if key not in self._open:
            respondent = respondent_name(str(models[None]))
            fingerprints = asked.fingerprints(plan)
            model = InspectModel(respondent, identity=asked.model)
            run = open_run(self.lab, model, plan, asked, fingerprints, fresh=False)
            self._open[key] = OpenPlan(plan, run.id, asked, models)
        return self._open[key]._replace(plan=plan)

    async def carry_out(self, opened: OpenPlan, requests: Iterable[Request]) -> list[Draft]:
        """All answers that the requests lead to; they are stored in the lab."""
        plan = opened.plan
        waiting = deque(Pending(request) for request in requests)
        drafts: list[Draft] = []
        while waiting:
            pending = waiting.popleft()
            draft = await _ask(opened, pending.request)
            drafts.append(draft)
            again = plan.again(pending.request, draft.reading.outcome)
            if again is not None:
                waiting.append(Pending(again, pending.thread))
            else:
                waiting.extend(plan.after(pending, draft.completion, draft.reading))
        with self.lab.writing() as connection:
            store_answers(connection, opened.run, drafts, plan.interpreter)
        return drafts

    def records(self, opened: OpenPlan, drafts: Sequence[Draft]) -> dict[str, Any]:
        """The rows that these answers led to, as metadata; definitions are the task's."""
        keys = [draft.request.key for draft in drafts]
        query = select(answers.c.id).where(answers.c.run_id == opened.run, answers.c.key.in_(keys))
        with self.lab.reading() as connection:
            found = answer_records(connection, list(connection.execute(query).scalars()))
        own = {name: rows for name, rows in found.items() if name not in DEFINITIONS}
        return carried(own, self.source)


async def _ask(opened: OpenPlan, request: Request) -> Draft:
    asked_at, start = now(), time.perf_counter()
    # Inspect waits and asks again as its own options say; what fails in the end fails there.
    output = await opened.models[request.partner].generate(
        chat_messages(request.messages), config=chat_settings(request.parameters)
    )
    completion = storable(completion_of(output))
    return Draft(
        request,
        opened.asked.fingerprint(request),
        completion,
        opened.plan.read(request, completion),
        cost=_cost(opened.models[request.partner], output.usage, completion.usage),
        latency=time.perf_counter() - start,
        attempts=1,
        asked_at=asked_at,
        answered_at=now(),
    )


def _cost(chat: ChatModel, reported: ModelUsage | None, usage: Usage) -> float | None:
    """What Inspect says that it cost, or what it costs by EmpathyLab's prices."""
    if reported is not None and reported.total_cost is not None:
        return reported.total_cost
    price = _prices().of(respondent_name(str(chat)))
    return None if price is None else price.cost(usage)


@functools.cache
def _prices() -> Prices:
    return Prices.load()


def _identity(chat: ChatModel) -> str:
    """What tells a model from others: for EmpathyLab's own models what the lab itself would say."""
    own = getattr(chat.api, "identity", None)
    return own if isinstance(own, str) else respondent_name(str(chat))


@solver
def protocol(
    measuring: Measuring,
    planner: Planner,
    count: int,
    partners: Mapping[str, str | None] | None = None,
) -> Solver:
    """Asks what the plan asks for each sample, and notes what the answers mean.

    A partner is the model with the role of that name, or else the one that the task names.
    """

    @functools.cache
    def planned(respondent: str, most: int, names: tuple[tuple[str, str], ...]) -> Plan:
        return planner(measuring.lab, respondent, most, dict(names))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        models: dict[str | None, ChatModel] = {None: get_model()}
        for name, default in (partners or {}).items():
            models[name] = get_model(role=name, default=default, required=default is None)
        # `--epochs` may ask for more than the task planned.
        names = {partner: respondent_name(str(model)) for partner, model in models.items()}
        respondent = names.pop(None)
        plan = planned(respondent, max(count, state.epoch), tuple(names.items()))
        opened = measuring.open(plan, models)
        sample = (str(state.sample_id), state.epoch)
        own = [request for request in plan.requests if sample_of(request.key) == sample]
        drafts = await measuring.carry_out(opened, own)
        last = next(draft for draft in reversed(drafts) if draft.request.partner is None)
        state.output = output_of(last.completion, str(models[None]))
        state.messages = [*chat_messages(last.request.messages), state.output.message]
        state.metadata |= measuring.records(opened, drafts)
        state.completed = True
        return state

    return solve


def samples(plan: Plan, described: Callable[[str], dict[str, Any]]) -> list[Sample]:
    """A sample for each thing that is measured; its repetitions are Inspect's epochs."""
    found: dict[str, Sample] = {}
    for request in plan.requests:
        name, _ = sample_of(request.key)
        if name not in found:
            messages = chat_messages(request.messages)
            found[name] = Sample(id=name, input=messages, metadata=described(request.key))
    return list(found.values())
