"""The run's record in the lab: what was planned, what is answered, what failed."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, text

from empathylab import __version__
from empathylab.errors import LabError
from empathylab.models import Completion, Model, TokenAlternatives, Usage
from empathylab.runs.limits import Spend
from empathylab.runs.plans import (
    Answered,
    Interpreter,
    Pending,
    Plan,
    Reading,
    Request,
    storable_text,
)
from empathylab.store import Lab
from empathylab.store.inserts import add_respondent, hash_of, insert_returning_ids, now
from empathylab.store.locks import lock_key
from empathylab.store.schema import answers, failures, runs

_CHUNK = 500  # fingerprints per query: under every database's limit on parameters


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run as the lab knows it at the start of a session."""

    id: int
    done: int
    """Answers it has."""
    missing: tuple[Pending, ...]
    """To be asked: what has no answer yet, and retries of what has no usable one."""
    keys: set[str]
    """Of every request so far, answered or missing."""
    fingerprints: dict[str, str]
    """Of every request that was known at the start, by key."""
    spent: Spend
    """Its own tokens and dollars so far."""
    fresh: bool = False
    """Whether it was begun to ask everything again."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer that is not stored yet."""

    request: Request
    fingerprint: str
    completion: Completion
    reading: Reading
    cost: float | None
    latency: float
    attempts: int
    asked_at: datetime
    answered_at: datetime
    reused_from: int | None = None
    asked_again: bool = False
    """Whether the answer cannot be used and a retry follows."""
    more: int = 0
    """Requests that follow from it, a retry included."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The models of a run by identity: the measured one, and the partners a plan may name."""

    model: str
    partners: Mapping[str, str] = field(default_factory=dict)

    def fingerprint(self, request: Request) -> str:
        """A hash of the request and of the model it goes to."""
        model = self.model if request.partner is None else self.partners[request.partner]
        return request.fingerprint(model)

    def fingerprints(self, plan: Plan) -> dict[str, str]:
        """Those of the requests that are known at the start, by key."""
        return {request.key: self.fingerprint(request) for request in plan.requests}

    def run_fingerprint(self, plan: Plan, fingerprints: dict[str, str]) -> str:
        """A hash of all that the plan asks: the same command gives the same run."""
        parts = [plan.protocol, self.model, plan.settings, list(fingerprints.items())]
        return hash_of([*parts, dict(self.partners)] if self.partners else parts)


def open_run(
    lab: Lab,
    model: Model,
    plan: Plan,
    asked: Asked,
    fingerprints: dict[str, str],
    *,
    fresh: bool,
    joins: bool = False,
) -> OpenRun:
    """The run to go on with, or a new one; `joins` as in `_latest`."""
    fingerprint = asked.run_fingerprint(plan, fingerprints)
    with lab.writing() as connection:
        if connection.dialect.name == "postgresql":  # two shards must not begin it twice
            begin_alone = text("SELECT pg_advisory_xact_lock(:key)")
            connection.execute(begin_alone, {"key": lock_key(f"begin {fingerprint}")})
        respondent_id = add_respondent(connection, model.name, "model")
        run_id = _latest(connection, fingerprint, fresh=fresh, joins=joins)
        if run_id is None:
            run_id = _begin(connection, model, plan, fingerprint, respondent_id, fresh=fresh)
        done = _stored(connection, run_id, plan)
        missing = tuple(_missing(plan, done, asked))
        _note_use(connection, run_id, plan, planned=len(done) + len(missing))
        own = (answers.c.run_id == run_id) & answers.c.reused_from.is_(None)
        tokens = func.sum(answers.c.prompt_tokens + answers.c.completion_tokens)
        spent = connection.execute(select(tokens, func.sum(answers.c.cost)).where(own)).one()
        return OpenRun(
            run_id,
            len(done),
            missing,
            {*done, *(pending.request.key for pending in missing)},
            fingerprints,
            Spend(int(spent[0] or 0), float(spent[1] or 0.0)),
            bool(connection.execute(select(runs.c.fresh).where(runs.c.id == run_id)).scalar()),
        )


def missing_now(lab: Lab, run_id: int, plan: Plan, asked: Asked) -> int:
    """How many of the run's requests have no answer, by any process."""
    with lab.reading() as connection:
        return sum(1 for _ in _missing(plan, _stored(connection, run_id, plan), asked))


def _stored(connection: Connection, run_id: int, plan: Plan) -> dict[str, Any]:
    """The run's answers by key; only what a replay needs of them."""
    columns = (answers.c.key, answers.c.outcome) if plan.follow_up is None else (answers,)
    query = select(*columns).where(answers.c.run_id == run_id)
    return {row.key: row for row in connection.execute(query)}


def _missing(plan: Plan, done: Mapping[str, Any], asked: Asked) -> Iterator[Pending]:
    """What is still to be asked, found by replaying the stored answers."""
    waiting = deque(Pending(request) for request in plan.requests)
    while waiting:
        pending = waiting.popleft()
        row = done.get(pending.request.key)
        if row is None:
            yield pending
            continue
        following = _replayed(plan, pending, row, asked) if plan.follow_up else []
        again = plan.again(pending.request, row.outcome)
        # More retries than before must not undo an answer that others were built on.
        stands = any(after.request.key in done for after in following)
        if again is not None and (again.key in done or not stands):
            waiting.append(Pending(again, pending.thread))
        else:
            waiting.extend(following)


def _replayed(plan: Plan, pending: Pending, row: Any, asked: Asked) -> list[Pending]:
    if row.fingerprint != asked.fingerprint(pending.request):
        raise LabError(
            "the stored answers do not match the requests of this run",
            where=f"run {row.run_id}",
            got=pending.request.key,
            remedy="Another version of EmpathyLab started this run. Start a new one with --fresh.",
        )
    completion = stored_completion(row)
    return plan.after(pending, completion, plan.read(pending.request, completion))


def _note_use(connection: Connection, run_id: int, plan: Plan, *, planned: int) -> None:
    """Brings the run's row up to date: the report shows the run that was used last."""
    changed: dict[str, Any] = {"last_used_at": now(), "planned": planned}
    if plan.retries:
        query = select(runs.c.settings).where(runs.c.id == run_id)
        settings = connection.execute(query).scalar_one()
        most = max(plan.retries, settings.get("retries", 0))
        changed["settings"] = settings | {"retries": most}
    connection.execute(runs.update().where(runs.c.id == run_id).values(**changed))


def _latest(
    connection: Connection, fingerprint: str, *, fresh: bool, joins: bool = False
) -> int | None:
    """The run to go on with. A fresh one is joined only by its other shards and its batches.

    Otherwise answers of two versions of a model could be mixed in one run.
    """
    query = select(runs).where(runs.c.fingerprint == fingerprint).order_by(runs.c.generation.desc())
    latest = connection.execute(query.limit(1)).one_or_none()
    if latest is None:
        return None
    if fresh and not (joins and latest.fresh and latest.finished_at is None):
        return None
    return int(latest.id)


def _begin(
    connection: Connection,
    model: Model,
    plan: Plan,
    fingerprint: str,
    respondent_id: int,
    *,
    fresh: bool,
) -> int:
    earlier = select(func.count()).select_from(runs).where(runs.c.fingerprint == fingerprint)
    row = {
        "protocol": plan.protocol,
        "respondent_id": respondent_id,
        "fingerprint": fingerprint,
        "generation": connection.execute(earlier).scalar_one(),
        "fresh": fresh,
        "settings": {"model": model.identity, **plan.settings},
        "planned": len(plan.requests),
        "software": f"empathylab {__version__}",
        "started_at": now(),
    }
    return insert_returning_ids(connection, runs, [row])[0]


def finish_run(lab: Lab, run_id: int) -> None:
    """Marks the run as finished, once."""
    with lab.writing() as connection:
        connection.execute(
            runs.update()
            .where(runs.c.id == run_id, runs.c.finished_at.is_(None))
            .values(finished_at=now())
        )


def store_answers(
    connection: Connection, run_id: int, drafts: Sequence[Draft], interpreter: Interpreter
) -> None:
    """Stores answers and what they mean; all of it or nothing."""
    ids = insert_returning_ids(connection, answers, [_row(run_id, draft) for draft in drafts])
    interpreter.record(
        connection,
        [
            Answered(draft.request, draft.completion, draft.reading, answer_id)
            for draft, answer_id in zip(drafts, ids, strict=True)
        ],
    )
    more = sum(draft.more for draft in drafts)
    if more:
        planned = {"planned": runs.c.planned + more}
        connection.execute(runs.update().where(runs.c.id == run_id).values(**planned))


def store_failure(
    connection: Connection, run_id: int, key: str, kind: str, message: str, attempts: int
) -> None:
    """Notes a request that got no answer; it stays to be asked."""
    row = {"run_id": run_id, "key": key, "kind": kind, "message": storable_text(message[:500])}
    connection.execute(failures.insert(), [row | {"attempts": attempts, "failed_at": now()}])


def reusable(
    lab: Lab, requests: Iterable[Request], known: dict[str, str]
) -> Iterator[tuple[Request, int, Completion, Any]]:
    """Answers the lab already holds to requests at temperature 0; `known` are fingerprints."""
    wanted = {
        known[request.key]: request for request in requests if request.parameters.temperature == 0
    }
    fingerprints = list(wanted)
    for start in range(0, len(fingerprints), _CHUNK):
        chunk = fingerprints[start : start + _CHUNK]
        query = select(answers).where(
            answers.c.fingerprint.in_(chunk), answers.c.reused_from.is_(None)
        )
        with lab.reading() as connection:
            answers_by_request = {
                row.fingerprint: row for row in connection.execute(query.order_by(answers.c.id))
            }
        for fingerprint, row in answers_by_request.items():
            yield wanted[fingerprint], int(row.id), stored_completion(row), row


def stored_completion(row: Any) -> Completion:
    """The answer in a row of the table answers."""
    return Completion(
        text=row.text,
        finish_reason=row.finish_reason,
        usage=Usage(row.prompt_tokens, row.completion_tokens),
        reported_model=row.reported_model,
        refusal=row.text if row.outcome == "refusal" else None,
        reasoning=row.reasoning,
        reasoning_tokens=row.reasoning_tokens,
        sent=row.sent,
        logprobs=row.logprobs
        and tuple(TokenAlternatives(token, logprob, top) for token, logprob, top in row.logprobs),
    )


def _row(run_id: int, draft: Draft) -> dict[str, Any]:
    completion, request = draft.completion, draft.request
    return {
        "run_id": run_id,
        "key": request.key,
        "fingerprint": draft.fingerprint,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "parameters": dataclasses.asdict(request.parameters),
        "text": completion.text or completion.refusal or "",
        "finish_reason": completion.finish_reason,
        "reported_model": completion.reported_model,
        "outcome": draft.reading.outcome,
        "reason": draft.reading.reason,
        "prompt_tokens": completion.usage.prompt_tokens,
        "completion_tokens": completion.usage.completion_tokens,
        "cost": draft.cost,
        "latency": draft.latency,
        "attempts": draft.attempts,
        "reasoning": completion.reasoning,
        "reasoning_tokens": completion.reasoning_tokens,
        "sent": completion.sent,
        "logprobs": completion.logprobs
        and [[entry.token, entry.logprob, entry.top] for entry in completion.logprobs],
        "asked_at": draft.asked_at,
        "answered_at": draft.answered_at,
        "reused_from": draft.reused_from,
    }
