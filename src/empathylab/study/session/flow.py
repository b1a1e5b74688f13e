"""Which page a person is on: decided from the study and the answers so far, and nothing else.

Every page has a key (`consent`, `rate/3`, `tutorial/check/2`). A page is due when all before it
are answered. One may go back to an earlier page of the same block where its answer may still be
changed; skipping ahead leads back to the page that is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from empathylab.scales import Scale
from empathylab.study.assignment.batches import evenly
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.blocks.check_results import attention_passed, check_passed
from empathylab.study.blocks.types import (
    Attention,
    Block,
    Comment,
    Consent,
    Demographics,
    Imagine,
    Rate,
    ScaleBlock,
    Tutorial,
    Write,
)
from empathylab.study.design.consistency import items_in_packet
from empathylab.study.design.definition import Outcome, Study

Page = Literal[
    "consent",
    "demographics",
    "scale",
    "reading",
    "example",
    "check",
    "note",
    "rate",
    "imagine",
    "write",
    "attention",
    "comment",
    "debrief",
]
Answers = Mapping[str, Mapping[str, Any]]
"""By a page's key, the values that were accepted; an empty table for a page that was only read."""

_REVISABLE: frozenset[Page] = frozenset({"reading", "example", "note", "scale", "rate", "write"})


@dataclass(frozen=True, slots=True)
class Course:
    """A study as one person goes through it."""

    study: Study
    scales: Mapping[str, Scale] = field(hash=False)
    """By the names that the study uses."""
    items: int | None = None
    """In the person's slot; None before they have a place."""
    person: str = ""
    """Their key, which orders and sides are drawn by."""


@dataclass(frozen=True, slots=True)
class Step:
    """One page."""

    key: str
    block: str
    page: Page
    number: int = 1
    """Which of the block's pages of this kind, from 1; of a check: which attempt."""
    of: int = 1
    entries: tuple[int, ...] = ()
    """Of a scale: the numbers of its items on this page, in the order shown."""


@dataclass(frozen=True, slots=True)
class Show:
    """The page to show."""

    step: Step
    progress: float
    """How much of the study lies behind, from 0 to 1."""
    back: str | None
    """The key of the page before it, where one may go back."""
    revising: bool = False
    """Whether it has been answered already."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """The page asked for cannot be shown; this one can."""

    step: Step
    reason: Literal["unknown", "ahead", "locked"]
    sentence: str


@dataclass(frozen=True, slots=True)
class NeedsPlace:
    """The person must be given a place before they go on."""


@dataclass(frozen=True, slots=True)
class End:
    """There is nothing more to answer."""

    outcome: Outcome


Decision = Show | GoTo | NeedsPlace | End

_SENTENCES = {
    "unknown": "There is no such page here. This is where you were.",
    "ahead": "That page comes later. Please answer this one first.",
    "locked": "That answer can no longer be changed. This is where you were.",
}


def decide(course: Course, answers: Answers, asked: str | None = None) -> Decision:
    """What to do next; `asked` is the key of the page that the browser asks for, if any.

    A submitted answer is taken if and only if this gives `Show` for its page.
    """
    outcome = early_end(course.study, answers)
    if outcome is not None:
        return End(outcome)
    steps = study_steps(course, answers)
    due = next((one for one in steps if one.key not in answers), None)
    if due is None:
        return End("completed")
    if course.items is None and due.block not in blocks_before_place(course.study):
        return NeedsPlace()
    wanted = due if asked is None else next((one for one in steps if one.key == asked), None)
    reason = _refusal(course.study, steps, answers, due, wanted)
    if wanted is None or reason is not None:
        reason = reason or "unknown"
        return GoTo(due, reason, _SENTENCES[reason])
    done = sum(one.key in answers for one in steps)
    return Show(
        wanted,
        done / (len(steps) + 1),  # the debriefing is a page too
        _back(course.study, steps, answers, wanted, due),
        wanted.key in answers,
    )


def early_end(study: Study, answers: Answers) -> Outcome | None:
    """Why the study is over before its last page, if it is."""
    for block in study.blocks:
        if isinstance(block, Consent) and answers.get(block.id, {}).get("agree") == "no":
            return "no-consent"
        if isinstance(block, Attention) and _failed_attention(block, answers):
            return "failed-attention"
        if isinstance(block, Tutorial) and _failed_check(block, answers):
            return "failed-comprehension"
    return None


def _failed_attention(block: Attention, answers: Answers) -> bool:
    ends = block.on_failure == "end" and block.id in answers
    return ends and not attention_passed(block, answers[block.id])


def _failed_check(block: Tutorial, answers: Answers) -> bool:
    if block.check is None or block.check.on_failure != "end":
        return False
    tried = _attempts(block, answers)
    return len(tried) >= block.check.attempts and not check_passed(block.check, tried[-1])


def blocks_before_place(study: Study) -> frozenset[str]:
    """The ids of the blocks that can be answered without a place.

    They are the consent and what stands before the last question that a quota goes by: a place is
    taken as soon as it can be, so that nobody works for nothing, and no sooner.
    """
    by = {quota.by for quota in study.quotas if quota.source == "demographics"}
    last = 0
    for number, block in enumerate(study.blocks):
        if isinstance(block, Demographics) and by & {one.name for one in block.fields}:
            last = number
    return frozenset(one.id for one in study.blocks[: last + 1])


def study_steps(course: Course, answers: Answers) -> tuple[Step, ...]:
    """All pages in their order; a second attempt at a check is there once the first has failed."""
    return tuple(
        step for block in course.study.blocks for step in _steps_of(course, block, answers)
    )


def last_step(study: Study) -> Step:
    """The debriefing: shown when the study is completed, and answered by nobody."""
    return Step(study.blocks[-1].id, study.blocks[-1].id, "debrief")


def _steps_of(course: Course, block: Block, answers: Answers) -> Iterator[Step]:
    if isinstance(block, Attention):
        if block.inside is None:
            yield Step(block.id, block.id, "attention")
    elif isinstance(block, ScaleBlock):
        yield from _scale_steps(course, block)
    elif isinstance(block, Tutorial):
        yield from _tutorial_steps(block, answers)
    elif isinstance(block, Rate | Write | Imagine):
        yield from _work_steps(course, block)
    elif isinstance(block, Consent):
        yield Step(block.id, block.id, "consent")
    elif isinstance(block, Demographics):
        yield Step(block.id, block.id, "demographics")
    elif isinstance(block, Comment):
        yield Step(block.id, block.id, "comment")


def _scale_steps(course: Course, block: ScaleBlock) -> Iterator[Step]:
    items: Sequence[int] = range(1, course.scales[block.scale].items + 1)
    if block.order == "shuffled":
        items = shuffled(items, course.study.seed, "scale", block.id, course.person)
    pages = evenly(items, block.per_page or len(items))
    for number, page in enumerate(pages, start=1):
        key = block.id if len(pages) == 1 else f"{block.id}/{number}"
        yield Step(key, block.id, "scale", number, len(pages), tuple(page))


def _tutorial_steps(block: Tutorial, answers: Answers) -> Iterator[Step]:
    for number in range(1, len(block.pages) + 1):
        yield Step(f"{block.id}/{number}", block.id, "reading", number, len(block.pages))
    for number in range(1, len(block.examples) + 1):
        key = f"{block.id}/example/{number}"
        yield Step(key, block.id, "example", number, len(block.examples))
    if block.check:
        tried = _attempts(block, answers)
        passed = bool(tried) and check_passed(block.check, tried[-1])
        shown = len(tried) if passed else min(len(tried) + 1, block.check.attempts)
        for number in range(1, shown + 1):
            key = f"{block.id}/check/{number}"
            yield Step(key, block.id, "check", number, block.check.attempts)


def _work_steps(course: Course, block: Rate | Write | Imagine) -> Iterator[Step]:
    items = items_in_packet(course.study) if course.items is None else course.items
    inserted = [
        one
        for one in course.study.blocks
        if isinstance(one, Attention) and one.inside == block.id and one.after is not None
    ]
    page: Page = "rate"
    if not isinstance(block, Rate):
        page = "write" if isinstance(block, Write) else "imagine"
    if course.study.content_note:
        yield Step(f"{block.id}/note", block.id, "note")
    for number in range(1, items + 1):
        yield Step(f"{block.id}/{number}", block.id, page, number, items)
        for one in inserted:
            # A packet can be shorter than planned; the check then closes it.
            if one.after == number or (number == items and (one.after or 0) > items):
                yield Step(one.id, one.id, "attention")


def _attempts(block: Tutorial, answers: Answers) -> list[Mapping[str, Any]]:
    if block.check is None:
        return []
    keys = (f"{block.id}/check/{number}" for number in range(1, block.check.attempts + 1))
    return [answers[key] for key in keys if key in answers]


def _refusal(
    study: Study, steps: Sequence[Step], answers: Answers, due: Step, wanted: Step | None
) -> Literal["unknown", "ahead", "locked"] | None:
    if wanted is None:
        return "unknown"
    if wanted == due:
        return None
    if wanted.key not in answers:
        return "ahead"
    return None if _may_revisit(study, wanted, due) else "locked"


def _may_revisit(study: Study, step: Step, due: Step) -> bool:
    """Within the block that the person is in, where it allows that."""
    current = study.block(due.block)
    here = current.inside if isinstance(current, Attention) and current.inside else due.block
    own = study.block(step.block)
    allowed = not isinstance(own, Rate | Write) or own.back
    return step.block == here and step.page in _REVISABLE and allowed


def _back(
    study: Study, steps: Sequence[Step], answers: Answers, shown: Step, due: Step
) -> str | None:
    before = steps[: steps.index(shown)]
    return next(
        (
            one.key
            for one in reversed(before)
            if one.key in answers and _may_revisit(study, one, due)
        ),
        None,
    )
