"""The run's record in the lab: what was planned, what is answered, what failed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from empathylab import __version__
from empathylab.models import Completion, Model, TokenAlternatives, Usage
from empathylab.runs.plans import (
    Answered,
    Interpreter,
    Plan,
    Reading,
    Request,
    storable_text,
)
from empathylab.store import Lab, add_respondent, hash_of, insert_numbered, now
from empathylab.store.schema import answers, failures, runs

_CHUNK = 500  # fingerprints per query: under every database's limit on parameters


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run as the lab knows it at the start of a session."""

    id: int
    done: int
    """Answers it has."""
    missing: tuple[Request, ...]
    """To be asked: requests without an answer, and retries of those without a usable one."""
    fingerprints: dict[str, str]
    """Of every planned request, by key."""
    spent_tokens: int
    spent_cost: float


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


def request_fingerprints(model: Model, plan: Plan) -> dict[str, str]:
    """The fingerprints of the plan's requests, by key."""
    identity = model.identity
    return {request.key: request.fingerprint(identity) for request in plan.requests}


def plan_fingerprint(model: Model, plan: Plan, fingerprints: dict[str, str]) -> str:
    """A hash of all that the plan asks: the same command gives the same run."""
    return hash_of([plan.protocol, model.identity, plan.settings, list(fingerprints.items())])


def open_run(
    lab: Lab, model: Model, plan: Plan, fingerprints: dict[str, str], *, fresh: bool
) -> OpenRun:
    """The run to go on with, or a new one."""
    fingerprint = plan_fingerprint(model, plan, fingerprints)
    with lab.writing() as connection:
        respondent_id = add_respondent(connection, model.name, "model")
        run_id = _latest(connection, fingerprint, fresh=fresh)
        if run_id is None:
            run_id = _begin(connection, model, plan, fingerprint, respondent_id, fresh=fresh)
        query = select(answers.c.key, answers.c.outcome).where(answers.c.run_id == run_id)
        done: dict[str, str] = {row.key: row.outcome for row in connection.execute(query)}
        missing = tuple(_missing(plan, done))
        _note_use(connection, run_id, plan, planned=len(done) + len(missing))
        own = (answers.c.run_id == run_id) & answers.c.reused_from.is_(None)
        tokens = func.sum(answers.c.prompt_tokens + answers.c.completion_tokens)
        spent = connection.execute(select(tokens, func.sum(answers.c.cost)).where(own)).one()
        return OpenRun(
            run_id,
            len(done),
            missing,
            fingerprints,
            int(spent[0] or 0),
            float(spent[1] or 0.0),
        )


def _missing(plan: Plan, done: Mapping[str, str]) -> Iterator[Request]:
    for first in plan.requests:
        request: Request | None = first
        while request is not None and request.key in done:
            request = plan.again(request, done[request.key])
        if request is not None:
            yield request


def _note_use(connection: Connection, run_id: int, plan: Plan, *, planned: int) -> None:
    """Brings the run's row up to date: the report shows the run that was used last."""
    changed: dict[str, Any] = {"last_used_at": now(), "planned": planned}
    if plan.retries:
        query = select(runs.c.settings).where(runs.c.id == run_id)
        settings = connection.execute(query).scalar_one()
        most = max(plan.retries, settings.get("retries", 0))
        changed["settings"] = settings | {"retries": most}
    connection.execute(runs.update().where(runs.c.id == run_id).values(**changed))


def _latest(connection: Connection, fingerprint: str, *, fresh: bool) -> int | None:
    query = select(runs).where(runs.c.fingerprint == fingerprint).order_by(runs.c.generation.desc())
    latest = connection.execute(query.limit(1)).one_or_none()
    if latest is None:
        return None
    # `--fresh` that was interrupted goes on; only a finished run is asked anew.
    if fresh and not (latest.fresh and latest.finished_at is None):
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
    return insert_numbered(connection, runs, [row])[0]


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
    ids = insert_numbered(connection, answers, [_row(run_id, draft) for draft in drafts])
    interpreter.record(
        connection,
        [
            Answered(draft.request, draft.completion, draft.reading, answer_id)
            for draft, answer_id in zip(drafts, ids, strict=True)
        ],
    )
    retries = sum(draft.asked_again for draft in drafts)
    if retries:
        more = {"planned": runs.c.planned + retries}
        connection.execute(runs.update().where(runs.c.id == run_id).values(**more))


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
            found = {
                row.fingerprint: row for row in connection.execute(query.order_by(answers.c.id))
            }
        for fingerprint, row in found.items():
            yield wanted[fingerprint], int(row.id), _completion(row), row


def _completion(row: Any) -> Completion:
    return Completion(
        text=row.text,
        finish_reason=row.finish_reason,
        usage=Usage(row.prompt_tokens, row.completion_tokens),
        reported_model=row.reported_model,
        refusal=row.text if row.outcome == "refusal" else None,
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
        "logprobs": completion.logprobs
        and [[entry.token, entry.logprob, entry.top] for entry in completion.logprobs],
        "asked_at": draft.asked_at,
        "answered_at": draft.answered_at,
        "reused_from": draft.reused_from,
    }
