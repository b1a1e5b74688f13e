"""What a rater's answers come to when they have finished: ratings, scales and replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from empathylab.store.studies.results import FinishedWork, GivenRating, GivenReply, GivenScale
from empathylab.study.assignment.allocation import World
from empathylab.study.assignment.batches import Slot
from empathylab.study.blocks.check_results import failed_attention
from empathylab.study.blocks.types import Demographics, Rate, ScaleBlock, Write
from empathylab.study.session.flow import Course, study_steps
from empathylab.study.session.launched import Launched

Given = Mapping[str, Mapping[str, Any]]
"""By a page's key, the values that were accepted."""


def finished_work(
    launched: Launched,
    course: Course,
    slot: Slot,
    given: Given,
    *,
    world: World,
    told: Mapping[str, str],
    seconds: float | None,
    times: Mapping[str, tuple[datetime, float | None]],
) -> FinishedWork:
    """The work of one rater; `times` are when each page was answered, and how long it took.

    What simulated raters and trials write is no human reply, so it is left out.
    """
    return FinishedWork(
        person=course.person,
        details=_details(launched, given, world, told),
        seconds=seconds,
        ratings=tuple(_ratings(launched, course, slot, given, times)),
        scales=tuple(_scales(launched, course, slot, given)),
        replies=tuple(_replies(launched, course, slot, given)) if world == "person" else (),
    )


def _details(
    launched: Launched, given: Given, world: World, told: Mapping[str, str]
) -> dict[str, Any]:
    details: dict[str, Any] = dict(told)
    for block in launched.study.blocks:
        if isinstance(block, Demographics):
            details |= given.get(block.id, {})
    details["failed_attention"] = failed_attention(launched.study, given)
    if world != "person":
        details["marks"] = {"world": world}
    return details


def _ratings(
    launched: Launched,
    course: Course,
    slot: Slot,
    given: Given,
    times: Mapping[str, tuple[datetime, float | None]],
) -> Iterator[GivenRating]:
    study = launched.study
    language = study.languages[0]
    for step in study_steps(course, given):
        block = study.block(step.block)
        if not isinstance(block, Rate) or step.page != "rate":
            continue
        item = slot.items[step.number - 1]
        arm = item.arm or slot.arm
        response = launched.responses[item.situation, arm]
        if response.withdrawn:
            continue  # whoever was at it was told that it does not count
        rated_at, seconds = times[step.key]
        for dimension in study.rated_dimensions(block):
            value = given[step.key][dimension.name]
            label = dict(zip(dimension.values, dimension.labels, strict=True))[value]
            yield GivenRating(
                response=response.response,
                arm=launched.arms[arm],
                dimension=dimension.name,
                value=float(value),
                label=None if label is None else label.said(language),
                rated_at=rated_at,
                seconds=seconds,
            )


def _scales(launched: Launched, course: Course, slot: Slot, given: Given) -> Iterator[GivenScale]:
    steps = study_steps(course, given)
    for block in launched.study.blocks:
        if not isinstance(block, ScaleBlock):
            continue
        pages = [one for one in steps if one.block == block.id]
        order = tuple(item for page in pages for item in page.entries)
        values = {
            item: float(given[page.key][f"item-{item}"]) for page in pages for item in page.entries
        }
        # What was imagined last is what it is answered after.
        imagined = launched.situation_rows[slot.items[-1].situation]
        situation = imagined if block.phase == "evoked" else None
        yield GivenScale(launched.scale_rows[block.scale], block.phase, situation, order, values)


def _replies(launched: Launched, course: Course, slot: Slot, given: Given) -> Iterator[GivenReply]:
    for step in study_steps(course, given):
        if step.page == "write" and isinstance(launched.study.block(step.block), Write):
            situation = slot.items[step.number - 1].situation
            yield GivenReply(launched.situation_rows[situation], given[step.key]["reply"])
