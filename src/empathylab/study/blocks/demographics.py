"""Demographics: questions about the participant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field as Constraint
from pydantic import model_validator

from empathylab.file_models import Path, misfit
from empathylab.study.blocks.fields import Field, PersonField
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    PageView,
    ParticipantPath,
    Step,
    StudyRules,
)
from empathylab.study.blocks.pages import Body
from empathylab.study.blocks.texts import Text, refuse_repeated
from empathylab.table_specs import ColumnSpec


class Demographics(Block):
    """Questions about the participant."""

    block: Literal["demographics"]
    fields: tuple[Field, ...] = Constraint(min_length=1)
    text: Text | None = None

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        refuse_repeated([one.name for one in self.fields], "questions of the name")
        return self

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Raises where an earlier block asks the same."""
        for block in study.blocks[: study.blocks.index(self)]:
            for name in {one.name for one in block.person_fields} & set(self.names):
                raise misfit(
                    f"{name!r} is asked twice; first in the block {block.id!r}",
                    "Ask it once.",
                    at=at,
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions."""
        return tuple(one.name for one in self.fields)

    @property
    def person_fields(self) -> tuple[PersonField, ...]:
        """Its questions."""
        return self.fields

    def body(self, view: PageView) -> Body:
        """The questions."""
        asks = tuple(one.asked(view.said) for one in self.fields)
        return Body(view.said(self.text), asks=asks)

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """Every question checks its own answer."""
        for one in self.fields:
            one.read(form)

    def details(self, answers: Answers) -> Mapping[str, Any]:
        """The answers."""
        return answers.get(self.id, {})

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """One column per question."""
        return tuple(one.column(language) for one in self.fields)
