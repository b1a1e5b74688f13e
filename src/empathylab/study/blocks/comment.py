"""Comment: room for free text."""

from __future__ import annotations

from typing import ClassVar, Literal

from empathylab.file_models import Flag
from empathylab.study.blocks.forms import MOST_CHARACTERS, FormReader
from empathylab.study.blocks.interface import Block, PageView, ParticipantPath
from empathylab.study.blocks.pages import Asked, Body
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text


class Comment(Block):
    """Room for free text."""

    block: Literal["comment"]
    text: Text
    required: Flag = False

    holds_comments: ClassVar[bool] = True

    @property
    def free_answers(self) -> frozenset[str]:
        """The comment."""
        return frozenset({"comment"})

    def body(self, view: PageView) -> Body:
        """The question."""
        asked = Asked("comment", "paragraph", "", required=self.required)
        return Body(view.localized(self.text), asks=(asked,))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """Text that is not too long."""
        form.free("comment", required=self.required, most=MOST_CHARACTERS)
