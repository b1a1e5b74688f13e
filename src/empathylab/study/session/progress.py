"""Where a person is in the study, whether their answer is taken, and where it leads them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from empathylab.store.studies.slots import correct_answer
from empathylab.study.assignment.allocation import last_seen
from empathylab.study.blocks.content import check_answer
from empathylab.study.blocks.forms import Accepted, Given, Refused, problem
from empathylab.study.blocks.steps import Step
from empathylab.study.session.claims import claim, let_in
from empathylab.study.session.drafts import without
from empathylab.study.session.endings import end, finished
from empathylab.study.session.flow import Decision, End, GoTo, NeedsPlace, Show, decide, study_steps
from empathylab.study.session.signals import read_signals
from empathylab.study.session.transactions import ParticipantTransaction
from empathylab.study.session.visits import Closed, Finished, Moved, Saved, View


def decision(
    transaction: ParticipantTransaction, asked: str | None = None
) -> Show | GoTo | End | Closed | Finished:
    """Where the person is; claims a place where one is due."""
    stopped = let_in(transaction)
    if stopped is not None:
        return stopped
    decided = decide(transaction.path, transaction.given, asked)
    if isinstance(decided, NeedsPlace):
        stopped = claim(transaction)
        if stopped is not None:
            return stopped
        decided = decide(transaction.path, transaction.given, asked)
    if isinstance(decided, Show) and _is_interrupted(transaction, decided):
        end(transaction, "interrupted", draft={})
        return finished(transaction, "interrupted")
    return cast("Show | GoTo | End", decided)


def _is_interrupted(transaction: ParticipantTransaction, show: Show) -> bool:
    """Whether the page's replies can no longer be had."""
    conversation = None if show.revising else transaction.conversation(show.step)
    return conversation is not None and conversation.interrupted


def store(
    transaction: ParticipantTransaction,
    step: Step,
    values: Mapping[str, Any],
    timing: Mapping[str, float],
) -> View:
    """What comes after this answer.

    Writes the answer, claims a place where one is due next, and writes the end where there is
    nothing more.
    """
    block = transaction.launched.study.block(step.block)
    if block.is_live and step.key not in transaction.answers:
        values = {**values, **block.converse(transaction.desk, step, values)}
    transaction.given[step.key] = dict(values)
    following = decide(transaction.path, transaction.given)
    transaction.require("locked" if isinstance(following, NeedsPlace) else "write")
    before = transaction.answers.get(step.key)
    if before is not None:
        # Its time stays that of the first look: the time between is not time on the page.
        correct_answer(
            transaction.connection, before.id, given=dict(values), answered_at=transaction.now
        )
    else:
        shown_at = transaction.shown_at(step)
        sent = {name: str(value) for name, value in timing.items()}
        measured = dataclasses.asdict(page_timing(shown_at, transaction.now, sent))
        if transaction.launched.study.signals:
            measured["signals"] = read_signals(timing)
        answer = {
            "place_id": transaction.row.id,
            "step": step.key,
            "given": dict(values),
            # A clock that was set back must not leave an answer before its question.
            "shown_at": min(shown_at, transaction.now),
            "answered_at": transaction.now,
            "timing": measured,
            "corrections": 0,
        }
        transaction.batch.add_answer(answer)
    return _move_on(transaction, step, following)


def _move_on(transaction: ParticipantTransaction, answered: Step, following: Decision) -> View:
    values: dict[str, Any] = {"seen_at": last_seen(transaction.now, transaction.row.seen_at)}
    draft = without(transaction.row.draft, answered.key)
    if draft != transaction.row.draft:
        values["draft"] = draft
    if isinstance(following, End):
        end(transaction, following.outcome, **values)
        return finished(transaction, following.outcome)
    if isinstance(following, NeedsPlace):
        stopped = claim(transaction)
        if stopped is not None:
            transaction.change(**values)
            return stopped
        following = decide(transaction.path, transaction.given)
    following = cast("Show", following)
    if _is_interrupted(transaction, following):
        end(transaction, "interrupted", **values)
        return finished(transaction, "interrupted")
    if following.step.key != transaction.row.shown_step:
        # The next page is shown at once; so showing it needs no write of its own.
        values |= {"shown_step": following.step.key, "shown_at": transaction.now}
    transaction.change(**values)
    return transaction.page(following)


@dataclass(frozen=True, slots=True)
class Timing:
    """The time on one page."""

    seconds: float | None
    """From showing to answering, by the server; None where its clock ran backwards."""
    reported: float | None
    """The same by the browser; None where it said nothing that can be."""
    away: float | None
    """Seconds out of sight, by the browser."""
    losses: int | None
    """How often the page lost the focus, by the browser."""


def page_timing(shown_at: datetime, answered_at: datetime, given: Mapping[str, str]) -> Timing:
    """The time on a page; `given` may hold the browser's `seconds`, `away` and `losses`.

    What a browser says is the rater's to forge, so it is kept apart and never trusted.
    """
    seconds: float | None = (answered_at - shown_at).total_seconds()
    if seconds is not None and seconds < 0:
        seconds = None
    losses = _amount(given.get("losses"), most=100_000)
    return Timing(
        seconds,
        _amount(given.get("seconds")),
        _amount(given.get("away")),
        None if losses is None else int(losses),
    )


def too_soon(shown_at: datetime, answered_at: datetime, least: int) -> bool:
    """Whether the page was left before its least time; a clock set back holds nobody up."""
    return 0 <= (answered_at - shown_at).total_seconds() < least


def _amount(written: str | None, most: float = 31 * 24 * 3600.0) -> float | None:
    try:
        value = float(written or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= most else None


def late(transaction: ParticipantTransaction, step_key: str, values: Given) -> Saved | Moved:
    """A page that is not the person's turn: saved where it says again what is stored."""
    if step_key in transaction.given:
        steps = study_steps(transaction.path, transaction.given)
        step = next((step for step in steps if step.key == step_key), None)
        if step is not None:
            checked = check_answer(transaction.path, step, values)
            if isinstance(checked, Accepted) and checked.values == transaction.given[step_key]:
                return Saved(step_key)
    return Moved()


def hurried(transaction: ParticipantTransaction, step: Step) -> Refused | None:
    """The refusal of a page that was answered sooner than it can be read; None in good time."""
    least = transaction.launched.study.block(step.block).minimum_seconds(step)
    if not too_soon(transaction.shown_at(step), transaction.now, least):
        return None
    return Refused({"page": problem("too-soon", least=least)})
