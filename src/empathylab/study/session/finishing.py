"""What a rater's answers come to when they have finished: ratings, scales and replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from empathylab.store.studies.results import FinishedWork, GivenRating, GivenReply, GivenScale
from empathylab.study.assignment.allocation import World
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.interface import Answers, ParticipantPath, shown_blocks
from empathylab.study.blocks.steps import AnsweredQuestion, RatedItem
from empathylab.study.design.definition import Study
from empathylab.study.session.flow import failed_attention
from empathylab.study.session.launched import Launched


def finished_work(
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
