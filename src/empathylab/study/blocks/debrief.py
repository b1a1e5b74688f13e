"""Debrief: the last page, which explains the study and thanks the participant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, Block, BotForm, PageView, ParticipantPath
from empathylab.study.blocks.pages import Asked, Body, Option
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text

_DATA = "data"
_REVEAL = "reveal"


class Debrief(Block):
    """The last page: an explanation, thanks, and the way back to the platform."""

    block: Literal["debrief"]
    text: Text
    reveals: Text | None = None
    """What participants were not told, or told wrongly: a page of its own before the last one, on
    which they can have their answers deleted and are paid all the same."""

    position: ClassVar = "last"
    unique: ClassVar[bool] = True

    @property
    def reveals_deception(self) -> bool:
        """Whether it reveals what participants were not told."""
        return self.reveals is not None

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """The page that reveals, if any; the last page is shown when the study is completed."""
        if self.reveals is not None:
            yield Step(f"{self.id}/{_REVEAL}", self.id, self.kind)

    def body(self, view: PageView) -> Body:
        """The explanation, or what was not told with the choice about one's answers."""
        if not view.step.key.endswith(_REVEAL):
            return Body(view.localized(self.text))
        options = (Option("keep", ""), Option("withdraw", ""))
        return Body(view.localized(self.reveals), asks=(Asked(_DATA, "choice", "", options),))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """Whether the answers may be used."""
        if step.key.endswith(_REVEAL):
            form.option(_DATA, ("keep", "withdraw"))

    def withdraws(self, answers: Answers) -> bool:
        """Whether the participant had their answers deleted."""
        return answers.get(f"{self.id}/{_REVEAL}", {}).get(_DATA) == "withdraw"

    @classmethod
    def bot_answers(cls, form: BotForm) -> Mapping[str, str]:
        """Simulated participants leave their answers."""
        return {_DATA: "keep"} if form.step.endswith(_REVEAL) else {}
