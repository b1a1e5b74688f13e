"""What an open study hides: its results, and everything that tells who is in which arm.

Researchers who look at results early stop when luck favours them. Counts by arm and exact times are
hidden because they identify the arm of each participant when they are read often enough.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.judged_responses import study_names
from empathylab.store.ratings import Study, lab_studies
from empathylab.store.studies.embargo import studies_showing
from empathylab.store.studies.records import add_audit, find_study
from empathylab.study.design.definition import Study as StudyDefinition
from empathylab.study.session.visits import ArmStatus

RUNNING = frozenset({"open", "paused"})
"""The statuses of studies that this lab runs and has not closed; imported ones are closed."""


COUNT_STEP = 10
"""Counts by arm are shown in steps of this many while a study is open."""
_AHEAD = 2 * COUNT_STEP
_MINUTE = 60


def hidden_blocks(study: StudyDefinition) -> frozenset[str]:
    """The blocks whose answers are hidden until the study is closed.

    They are the first block that shows a reply or a situation, and everything after it: answers
    there may depend on the arm. Of a follow-up they are all blocks. Comments stay visible because
    complaints must reach researchers in time, and attention checks because they decide about
    payment.
    """
    first = next((number for number, block in enumerate(study.blocks) if block.is_work), 0)
    return frozenset(
        block.id
        for number, block in enumerate(study.blocks)
        if number >= first and block.position is None
        if not (block.checks_attention or block.holds_comments)
    )


def unlisted_blocks(study: StudyDefinition) -> frozenset[str]:
    """The blocks whose pages are not listed until the study is closed.

    How many pages a conversation has, and of which kind, depends on who replies.
    """
    if study.live is None or len(study.live.conditions) < 2:
        return frozenset()
    return frozenset(block.id for block in study.blocks if block.is_live)


def coarse_arms(arms: Sequence[ArmStatus]) -> tuple[ArmStatus, ...]:
    """The arms of an open study with counts that identify nobody's arm.

    A count is a lower bound, the same for all arms that are about level. It changes when the last
    of them reaches the next step, so a change does not tell which arm someone went to. A single
    arm keeps its exact counts: everybody is in it.
    """
    if len(arms) < 2:
        return tuple(arms)
    live = _coarse([arm.live for arm in arms])
    finished = _coarse([arm.finished for arm in arms])
    return tuple(
        replace(arm, live=here, finished=done, others={}, coarse=True)
        for arm, here, done in zip(arms, live, finished, strict=True)
    )


def _coarse(counts: Sequence[int]) -> list[int]:
    least = min(counts)
    shown = (count if count >= least + _AHEAD else least for count in counts)
    return [count // COUNT_STEP * COUNT_STEP for count in shown]


def whole_minute(at: datetime | None) -> datetime | None:
    """The minute in which it happened; exact times give away the order of assignment."""
    return None if at is None else at.replace(second=0, microsecond=0)


def whole_minutes(seconds: float | None) -> float | None:
    """A duration rounded to minutes, in seconds; exact ones tell how long a reply is."""
    return None if seconds is None else float(round(seconds / _MINUTE) * _MINUTE)


def is_running(study: Study) -> bool:
    """Whether a look at the study's results would be a peek."""
    return study.status in RUNNING


def result_commands(study: StudyDefinition) -> tuple[str, ...]:
    """The commands that show what came of a study, once it is closed."""
    commands = (block.analysis_command(study.name) for block in study.blocks)
    return tuple(dict.fromkeys(command for command in commands if command is not None))


def require_closed(
    lab: Lab, study: Study, *, peek: str | None = None, who: str = "researcher"
) -> None:
    """Raises where the study is not closed, unless there is a reason to peek, which is kept."""
    if not is_running(study):
        return
    reason = " ".join((peek or "").split())
    if not reason:
        raise InputError(
            f"the study is still {study.status}, so results by arm are not shown",
            where=f"study {study.name}",
            remedy=f"Run `empathylab study close {study.name}`, or give --peek with a reason, "
            "which the audit log records.",
        )
    name, _, version = study.name.partition("@")
    with lab.writing() as connection:
        row = find_study(connection, name, int(version) if version else None)
        if row is not None:
            add_audit(connection, row.id, present(), who, "peek", reason=reason[:500])


def require_judged_openly(
    lab: Lab,
    replies: Collection[int],
    studies: Collection[str] = (),
    *,
    peek: str | None = None,
    who: str = "researcher",
) -> None:
    """`require_closed` for these studies, and those that hide judges' scores of these replies."""
    names = study_names(lab)
    hiding = {names[number] for number in studies_showing(lab, replies)}
    for name, study in lab_studies(lab).items():
        if name in hiding or name in studies:
            require_closed(lab, study, peek=peek, who=who)
