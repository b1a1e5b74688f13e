"""Debrief: the last page, which explains the study and thanks the participant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from empathylab.study.blocks.interface import Answers, Block, PageView, ParticipantPath, Step
from empathylab.study.blocks.pages import Body
from empathylab.study.blocks.texts import Text


class Debrief(Block):
    """The last page: an explanation, thanks, and the way back to the platform."""

    block: Literal["debrief"]
    text: Text

    position: ClassVar = "last"
    unique: ClassVar[bool] = True

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """None to answer: it is shown when the study is completed."""
        return iter(())

    def body(self, view: PageView) -> Body:
        """The explanation."""
        return Body(view.said(self.text))
