"""A block of a study: how warm do you feel, in steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from empathylab.file_models import Whole
from empathylab.study import Block, ParticipantPath, Step
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, BotForm, PageView
from empathylab.study.blocks.pages import Asked, Body
from empathylab.study.blocks.texts import Text
from empathylab.table_specs import ColumnSpec


class Thermometer(Block):
    """A number from 0 to 100 in steps; it becomes the column `warmth` of the raters' table."""

    block: Literal["thermometer"]
    text: Text
    step_size: Whole = 10

    def body(self, view: PageView) -> Body:
        asked = Asked("degrees", "number", f"In steps of {self.step_size}")
        return Body(view.localized(self.text), asks=(asked,))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        form.whole("degrees", range(0, 101, self.step_size))

    def details(self, answers: Answers) -> Mapping[str, Any]:
        return {"warmth": answers[self.id]["degrees"]} if self.id in answers else {}

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        return (ColumnSpec("warmth", "number", self.text.in_language(language), "0 to 100"),)

    @classmethod
    def bot_answers(cls, form: BotForm) -> Mapping[str, str]:
        return {"degrees": "70"}
