"""Which page a person is on: decided from the study and the answers so far, and nothing else.

Every page has a key (`consent`, `rate/3`, `tutorial/check/2`). A page is due when all before it
are answered. One may go back to an earlier page of the same block where its answer may still be
changed; skipping ahead leads back to the page that is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from empathylab.study.blocks.interface import (
    Answers,
    Outcome,
    ParticipantPath,
    StudyRules,
    person_values,
    shown_blocks,
)
from empathylab.study.blocks.questions.conditions import condition
from empathylab.study.blocks.steps import Step


@dataclass(frozen=True, slots=True)
class Show:
    """The page to show."""

    step: Step
    progress: float
    """The progress through the study, from 0 to 1."""
    back: str | None
    """The key of the page before it, where one may go back."""
    revising: bool = False
    """Whether it has been answered already."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """The page asked for cannot be shown; this one can."""

    step: Step
    reason: Literal["unknown", "ahead", "locked"]


@dataclass(frozen=True, slots=True)
class NeedsPlace:
    """The person must be given a place before they go on."""


@dataclass(frozen=True, slots=True)
class End:
    """There is nothing more to answer."""

    outcome: Outcome


Decision = Show | GoTo | NeedsPlace | End


def decide(path: ParticipantPath, answers: Answers, asked: str | None = None) -> Decision:
    """What to do next; `asked` is the key of the page that the browser asks for, if any.

    A submitted answer is taken if and only if this gives `Show` for its page.
    """
    outcome = early_end(path.study, answers)
    if outcome is not None:
        return End(outcome)
    steps = study_steps(path, answers)
    due = next((step for step in steps if step.key not in answers), None)
    if due is None:
        return End("completed")
    if path.items is None and due.block not in path.study.blocks_before_place:
        return NeedsPlace()
    wanted = due if asked is None else next((step for step in steps if step.key == asked), None)
    reason = _refusal(path.study, answers, due, wanted)
    if wanted is None or reason is not None:
        return GoTo(due, reason or "unknown")
    done = sum(step.key in answers for step in steps)
    return Show(
        wanted,
        done / (len(steps) + 1),  # the debriefing is a page too
        back_from(path.study, steps, answers, wanted, due),
        wanted.key in answers,
    )


def early_end(study: StudyRules, answers: Answers) -> Outcome | None:
    """Why the study is over before its last page, if it is."""
    for block in shown_blocks(study, answers):
        outcome = block.early_end(answers)
        if outcome is not None:
            return outcome
        rule = block.screening if block.id in answers else None
        if rule is not None and condition(rule).holds(person_values(study.blocks, answers)):
            return "screened-out"
    return None


def failed_attention(study: StudyRules, answers: Answers) -> int:
    """How many attention checks failed: the column that the rule 'failed attention' reads."""
    return sum(
        block.checks_attention and block.id in answers and not block.passed(answers[block.id])
        for block in shown_blocks(study, answers)
    )


def study_steps(path: ParticipantPath, answers: Answers) -> tuple[Step, ...]:
    """All pages in their order, as far as the answers so far decide them."""
    blocks = shown_blocks(path.study, answers)
    return tuple(step for block in blocks for step in block.steps(path, answers))


def last_step(study: StudyRules) -> Step:
    """The debriefing: shown when the study is completed, and answered by nobody."""
    last = study.blocks[-1]
    return Step(last.id, last.id, last.kind)


def _refusal(
    study: StudyRules, answers: Answers, due: Step, wanted: Step | None
) -> Literal["unknown", "ahead", "locked"] | None:
    if wanted is None:
        return "unknown"
    if wanted == due:
        return None
    if wanted.key not in answers:
        return "ahead"
    return None if _may_revisit(study, wanted, due) else "locked"


def _may_revisit(study: StudyRules, step: Step, due: Step) -> bool:
    """Within the block that the participant is in, where it allows that."""
    here = study.block(due.block).shown_in
    return step.block == here and study.block(step.block).may_revisit(step)


def back_from(
    study: StudyRules, steps: Sequence[Step], answers: Answers, shown: Step, due: Step
) -> str | None:
    """The key of the page that the way back from a page leads to, if there is one."""
    before = steps[: steps.index(shown)]
    return next(
        (
            item.key
            for item in reversed(before)
            if item.key in answers and _may_revisit(study, item, due)
        ),
        None,
    )
