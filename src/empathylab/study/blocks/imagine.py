"""Imagine: a situation to put oneself into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from empathylab.file_models import Whole, misfit
from empathylab.study.blocks.forms import MOST_CHARACTERS, FormReader
from empathylab.study.blocks.interface import PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Asked, Body
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import WorkBlock
from empathylab.yaml_documents import Path


class Imagine(WorkBlock):
    """A situation to put oneself into."""

    block: Literal["imagine"]
    text: Text
    seconds: Annotated[Whole, Field(ge=0, le=3600)] = 0
    """The minimum time on the page."""
    question: Text | None = None
    """Asks for a few words about it."""

    evokes: ClassVar[bool] = True

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """A second situation would be coloured by the first."""
        super().check_fit(study, at)
        if study.batch_size != 1:
            raise misfit(
                "each participant imagines one situation: the first would affect the second",
                "Set batch_size to 1, or remove it.",
                at=at,
                got=f"batch_size {study.batch_size}",
            )

    def item_body(self, view: PageView) -> Body:
        """The situation, and maybe a question about it."""
        asks = (
            (Asked("words", "paragraph", view.localized(self.question)),) if self.question else ()
        )
        return Body(view.localized(self.text), self.situation_parts(view), asks)

    @property
    def free_answers(self) -> frozenset[str]:
        """The words about the situation, too."""
        return super().free_answers | {"words"}

    def minimum_seconds(self, step: Step) -> int:
        """As long as the study asks for."""
        return self.seconds if step.shows else 0

    def own_names(self, study: StudyRules) -> Sequence[str]:
        """Of the words about the situation."""
        return ("words",)

    def read_item(self, form: FormReader, path: ParticipantPath) -> None:
        """Words, where they are asked for."""
        if self.question:
            form.words("words", least=1, most=MOST_CHARACTERS)
