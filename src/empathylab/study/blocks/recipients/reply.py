"""Reply: the participant reads an answer to what they told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from empathylab.file_models import Whole, misfit
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    Outcome,
    PageView,
    ParticipantPath,
    StudyRules,
)
from empathylab.study.blocks.pages import Body, LivePage, Part
from empathylab.study.blocks.recipients.tell import STORY
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Identifier, Text
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.partners import with_reply_in_time
from empathylab.study.live.turns import Conversation
from empathylab.yaml_documents import Path

_PREVIEW = "(a reply)"


class Reply(Block):
    """An answer to what the participant told, from the author of their condition."""

    block: Literal["reply"]
    to: Identifier = "tell"
    """The block tell whose story is answered."""
    text: Text | None = None
    seconds: Annotated[Whole, Field(ge=0, le=600)] = 0
    """The shortest time to read the reply, from when it is shown."""

    is_work: ClassVar[bool] = True
    is_own_experience: ClassVar[bool] = True
    is_live: ClassVar[bool] = True

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Raises where there is no such story before it."""
        before = study.blocks[: study.blocks.index(self)]
        if not any(block.id == self.to and block.kind == "tell" for block in before):
            raise misfit(
                f"there is no block tell with the id {self.to!r} before it",
                "Name the block that it answers under the key 'to'.",
                at=(*at, "to"),
            )

    def follow(self, desk: LiveDesk, step: Step, answers: Answers) -> Conversation:
        """The story and its answer."""
        row = desk.opened(step.key, str(answers[self.to][STORY]))
        return desk.read(with_reply_in_time(desk, row))

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """One page, which waits for the reply."""
        yield Step(self.id, self.id, self.kind)

    def body(self, view: PageView) -> Body:
        """The reply under its label, with the story below; before that, that it is on its way."""
        conversation = view.conversation
        if conversation is None:
            return Body(view.said(self.text), (Part("reply", _PREVIEW),))
        live = LivePage(
            len(conversation.turns), waiting=conversation.waiting, seconds=conversation.seconds
        )
        if conversation.waiting:
            return Body(live=live)
        reply = conversation.turns[-1].text
        label = self._label(view, conversation.label)
        parts = (*((Part("label", label),) if label else ()), Part("reply", reply))
        story = Part("story", conversation.turns[0].text)
        return Body(view.said(self.text), (*parts, story), live=live)

    def _label(self, view: PageView, name: str | None) -> str:
        live = view.path.study.live
        return "" if live is None or name is None else view.said(live.labels[name].text)

    def minimum_seconds(self, step: Step) -> int:
        """As long as the file says."""
        return self.seconds

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """What a participant's part ends with where replies can no longer be had."""
        return ("interrupted",)

    def analysis_command(self, study: str) -> str | None:
        """How recipients rate what they were told."""
        return f"empathylab analyze recipients --study {study}"
