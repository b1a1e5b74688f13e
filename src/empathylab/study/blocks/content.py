"""The page of a step: what its block shows and asks, and what an answer to it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empathylab.situations import Situation
from empathylab.study.blocks.forms import Accepted, FormReader, Given, Refused
from empathylab.study.blocks.interface import Answers, PageView, ParticipantPath
from empathylab.study.blocks.pages import PageContent, ShownReply
from empathylab.study.blocks.steps import Step
from empathylab.study.live.turns import Conversation


def page_content(
    path: ParticipantPath,
    step: Step,
    *,
    language: str,
    situation: Situation | None = None,
    replies: Sequence[str | ShownReply] = (),
    answers: Answers | None = None,
    conversation: Conversation | None = None,
) -> PageContent:
    """The page for the path's participant, in one of the study's languages.

    `situation` and `replies` are those of the items that the step shows; `answers` are what they
    answered so far.
    """
    shown = (ShownReply(reply) if isinstance(reply, str) else reply for reply in replies)
    view = PageView(path, step, language, situation, tuple(shown), answers or {}, conversation)
    block = path.study.block(step.block)
    body = block.body(view)
    return PageContent(
        page=step.page,
        number=step.number,
        of=step.of,
        title=body.title or view.localized(block.title) or view.localized(path.study.title),
        text=body.text,
        parts=body.parts,
        asks=body.asks,
        mistakes=body.mistakes,
        reply=step.reply,
        least_seconds=block.minimum_seconds(step),
        live=body.live,
    )


def check_answer(path: ParticipantPath, step: Step, given: Given) -> Accepted | Refused:
    """The values of a submitted page, or what is wrong with them."""
    form = _read(path, step, given)
    return Refused(form.problems) if form.problems else Accepted(form.values)


def valid_values(path: ParticipantPath, step: Step, given: Given) -> dict[str, Any]:
    """Those values of an unfinished page that are right as they are: a draft to keep."""
    return _read(path, step, given).values


def _read(path: ParticipantPath, step: Step, given: Given) -> FormReader:
    form = FormReader(given)
    path.study.block(step.block).read(form, path, step)
    return form
