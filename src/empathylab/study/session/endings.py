"""How a person's part ends: what is written down, and what they are shown."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from empathylab.store.studies.deletion import erase_answers
from empathylab.store.studies.live import end_open_conversations, live_outcome
from empathylab.store.studies.records import add_audit
from empathylab.store.studies.results import add_finished_work
from empathylab.store.studies.slots import page_times, platform_details
from empathylab.study.admin.deletion import PARTICIPANT, take_back_replies
from empathylab.study.assignment.allocation import Status, ended
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.interface import Outcome
from empathylab.study.session.finishing import finished_work
from empathylab.study.session.flow import last_step
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
    work = finished_work(
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
