"""How a person's part ends: what is written down for analyses, and what they are shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from empathylab.store.studies.deletion import erase_answers
from empathylab.store.studies.live import end_open_conversations, live_outcome
from empathylab.store.studies.records import add_audit
from empathylab.store.studies.results import (
    FinishedWork,
    GivenRating,
    GivenReply,
    GivenScale,
    add_finished_work,
)
from empathylab.store.studies.slots import page_times, platform_details
from empathylab.study.admin.deletion import PARTICIPANT, take_back_replies
from empathylab.study.assignment.allocation import Status, World, ended
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.interface import Answers, Outcome, ParticipantPath, shown_blocks
from empathylab.study.blocks.steps import AnsweredQuestion, RatedItem
from empathylab.study.design.definition import Study
from empathylab.study.session.flow import failed_attention, last_step
from empathylab.study.session.launched import Launched
from empathylab.study.session.signals import rater_columns
from empathylab.study.session.transactions import ParticipantTransaction
from empathylab.study.session.visits import (
    Closed,
    ClosedReason,
    Completion,
    Finished,
    completion_for,
)


def end(transaction: ParticipantTransaction, outcome: Outcome, **values: Any) -> None:
    """Writes down how it ended; completed work goes where analyses read it.

    Those who are told the truth at the end and want their answers deleted have completed it.
    """
    if outcome == "completed" and _withdraws(transaction):
        _erase_answers(transaction)
        transaction.change(status="withdrawn", outcome=outcome, **values, draft={}, traits={})
        return
    if outcome == "completed":
        _finish(transaction)
    if outcome == "safety":
        _stop_for_safety(transaction)
    if transaction.row.arm is not None:
        status: Status = "finished" if outcome == "completed" else "failed"
        values["status"] = ended(transaction.place, status).status
    transaction.change(outcome=outcome, **values)


def _withdraws(transaction: ParticipantTransaction) -> bool:
    return any(block.withdraws(transaction.given) for block in transaction.launched.study.blocks)


def _erase_answers(transaction: ParticipantTransaction) -> None:
    transaction.require("locked")
    launched, now = transaction.launched, transaction.now
    erase_answers(transaction.connection, launched.row, transaction.row)
    name, person = launched.study.name, transaction.row.person
    take_back_replies(transaction.connection, name, person, who=PARTICIPANT, at=now)
    add_audit(transaction.connection, launched.row, now, PARTICIPANT, "withdraw answers")


def _stop_for_safety(transaction: ParticipantTransaction) -> None:
    connection, now = transaction.connection, transaction.now
    study, row = transaction.launched.row, transaction.row
    end_open_conversations(connection, study, "safety", now, slot=row.id)
    add_audit(connection, study, now, PARTICIPANT, "safety stop", person=row.person)


def _finish(transaction: ParticipantTransaction) -> None:
    connection, launched, row = transaction.connection, transaction.launched, transaction.row
    study = launched.study
    times = page_times(connection, row.id)
    work = _work(
        launched,
        transaction.path,
        cast("Slot", transaction.slot),  # nobody completes a study without a place
        transaction.given,
        world=row.world,
        traits=platform_details(connection, launched.row, row.person),
        seconds=max(0.0, (transaction.now - row.arrived_at).total_seconds()),
        times={key: (time.answered_at, time.timing["seconds"]) for key, time in times.items()},
    )
    if study.signals:
        signals = rater_columns(time.timing for time in times.values())
        work = dataclasses.replace(work, details={**work.details, **signals})
    if study.live is not None:
        author, label = transaction.desk.condition
        outcome = live_outcome(connection, row.id)
        live = {"author": author, "label": label, "reply_outcome": outcome}
        known = {name: value for name, value in live.items() if value is not None}
        work = dataclasses.replace(work, details={**work.details, **known})
    if work.replies:
        transaction.require("locked")  # replies are numbered, one person at a time
    source = {"study": study.name, "version": study.version}
    add_finished_work(connection, launched.row, source, work, transaction.now)


def finished(transaction: ParticipantTransaction, outcome: Outcome) -> Finished:
    """The end, with the debriefing where the study was completed."""
    study, completed = transaction.launched.study, outcome == "completed"
    content = transaction.content(last_step(study)) if completed else None
    deleted = completed and transaction.row.status == "withdrawn"
    language = transaction.row.language
    return Finished(outcome, content, completion_for(study, outcome), language, deleted)


def closed(
    transaction: ParticipantTransaction, reason: ClosedReason, outcome: Outcome | None = None
) -> Closed:
    """A closed door, with the code for it where the study has one."""
    study = transaction.launched.study
    code = completion_for(study, outcome) if outcome else Completion(None, None)
    return Closed(reason, code, transaction.row.language)


def _work(
    launched: Launched,
    path: ParticipantPath,
    slot: Slot,
    given: Answers,
    *,
    world: World,
    traits: Mapping[str, str],
    seconds: float | None,
    times: Mapping[str, tuple[datetime, float | None]],
) -> FinishedWork:
    """The work of one rater; `times` are when each page was answered, and how long it took.

    What simulated raters and test visits write is no human reply, so it is left out.
    """
    results = [block.results(path, slot, given) for block in shown_blocks(launched.study, given)]
    answers = [answer for result in results for answer in result.answers]
    about = tuple(_item_answers(launched, slot, answers))
    rows = launched.situation_rows
    return FinishedWork(
        person=path.person,
        details=_details(launched.study, given, world, traits, about),
        seconds=seconds,
        ratings=tuple(
            _ratings(
                launched, slot, [rating for result in results for rating in result.ratings], times
            )
        ),
        scales=tuple(
            GivenScale(
                launched.scale_rows[scale.scale],
                scale.phase,
                None if scale.situation is None else rows[scale.situation],
                scale.order,
                scale.values,
            )
            for result in results
            for scale in result.scales
        ),
        replies=tuple(
            GivenReply(rows[reply.situation], reply.text, reply.step.number)
            for result in results
            for reply in result.replies
            if world == "person"
        ),
    )


def _details(
    study: Study,
    given: Answers,
    world: World,
    traits: Mapping[str, str],
    about: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    details: dict[str, Any] = dict(traits)
    for block in shown_blocks(study, given):
        details |= block.details(given)
    details["failed_attention"] = failed_attention(study, given)
    marks: dict[str, Any] = {} if world == "person" else {"world": world}
    if about:
        marks["answers"] = list(about)
    return {**details, "marks": marks} if marks else details


def _item_answers(
    launched: Launched, slot: Slot, answers: Sequence[AnsweredQuestion]
) -> Iterator[dict[str, Any]]:
    """Answers about items that are no ratings, in names that hold in any lab."""
    for answer in answers:
        block = launched.study.block(answer.step.block)
        free = {question.name for question in block.item_questions if question.is_free}
        arms = [item.arm or slot.arm for item in answer.items] if block.rates_responses else []
        shown = [
            launched.responses[item.situation, arm]
            for item, arm in zip(answer.items, arms, strict=False)
        ]
        if any(response.withdrawn for response in shown):
            continue
        yield {
            "block": block.id,
            "position": answer.step.number,
            "situation": answer.items[0].situation if answer.items else None,
            "arms": arms,
            "question": answer.question,
            "value": answer.value,
            **({"free": True} if answer.question in free else {}),
        }


def _ratings(
    launched: Launched,
    slot: Slot,
    rated: list[RatedItem],
    times: Mapping[str, tuple[datetime, float | None]],
) -> Iterator[GivenRating]:
    for item in rated:
        arm = item.item.arm or slot.arm
        response = launched.responses[item.item.situation, arm]
        if response.withdrawn:
            continue  # the rater was told that it does not count
        rated_at, seconds = times[item.step.key]
        yield GivenRating(
            response=response.response,
            arm=launched.arms[arm],
            dimension=item.dimension,
            value=float(item.value),
            label=item.label,
            rated_at=rated_at,
            seconds=seconds,
        )
