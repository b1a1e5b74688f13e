"""Consent: information, and the choice to take part or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    BotForm,
    Outcome,
    PageView,
    ParticipantPath,
)
from empathylab.study.blocks.pages import Asked, Body, Option, Part
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text


class Consent(Block):
    """Information, and the choice to take part or not."""

    block: Literal["consent"]
    text: Text
    agree: Text | None = None
    decline: Text | None = None

    position: ClassVar = "first"
    unique: ClassVar[bool] = True

    def body(self, view: PageView) -> Body:
        """The information, what may distress, and the choice."""
        note = view.path.study.content_note
        parts = (Part("note", view.localized(note)),) if note else ()
        options = (
            Option("yes", view.localized(self.agree)),
            Option("no", view.localized(self.decline)),
        )
        return Body(view.localized(self.text), parts, (Asked("agree", "choice", "", options),))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """Yes or no."""
        form.option("agree", ("yes", "no"))

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of `early_end`."""
        return ("no-consent",)

    def early_end(self, answers: Answers) -> Outcome | None:
        """Declining ends the study."""
        return "no-consent" if answers.get(self.id, {}).get("agree") == "no" else None

    @classmethod
    def bot_answers(cls, form: BotForm) -> Mapping[str, str]:
        """Simulated participants agree."""
        return {"agree": "yes"}
