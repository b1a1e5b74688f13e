"""Demographics: questions about the participant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field as Constraint
from pydantic import model_validator

from empathylab.file_models import misfit
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    Outcome,
    PageView,
    ParticipantPath,
    StudyRules,
)
from empathylab.study.blocks.pages import Body
from empathylab.study.blocks.questions.conditions import ConditionText
from empathylab.study.blocks.questions.interface import Question
from empathylab.study.blocks.questions.registry import AnyQuestion
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text, refuse_repeated
from empathylab.table_specs import ColumnSpec
from empathylab.yaml_documents import Path


class Demographics(Block):
    """Questions about the participant."""

    block: Literal["demographics"]
    fields: tuple[AnyQuestion, ...] = Constraint(min_length=1)
    text: Text | None = None
    screen_out_if: ConditionText | None = None
    """A condition on these answers and earlier ones: who meets it cannot take part."""

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        refuse_repeated(self.names, "questions of the name")
        return self

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Raises where an earlier block asks the same."""
        for block in study.blocks[: study.blocks.index(self)]:
            for name in {person_field.name for person_field in block.person_fields} & set(
                self.names
            ):
                raise misfit(
                    f"{name!r} is asked twice; first in the block {block.id!r}",
                    "Ask it once.",
                    at=at,
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions."""
        return tuple(question.name for question in self.fields)

    @property
    def person_fields(self) -> tuple[Question, ...]:
        """Its questions."""
        return self.fields

    def conditions(self) -> Iterator[tuple[str, str, bool]]:
        """The condition for showing it, and the one that ends the study."""
        yield from super().conditions()
        if self.screen_out_if is not None:
            yield "screen_out_if", self.screen_out_if, True

    @property
    def screening(self) -> str | None:
        """The condition under which someone cannot take part."""
        return self.screen_out_if

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of its condition."""
        return () if self.screen_out_if is None else ("screened-out",)

    def body(self, view: PageView) -> Body:
        """The questions."""
        asks = tuple(question.asked(view) for question in self.fields)
        return Body(view.localized(self.text), asks=asks)

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """Every question checks its own answer."""
        for question in self.fields:
            question.read(form)

    def details(self, answers: Answers) -> Mapping[str, Any]:
        """The answers, by the names of their columns."""
        given = answers.get(self.id, {})
        return {
            column: value
            for question in self.fields
            if question.name in given
            for column, value in question.cells(given[question.name]).items()
        }

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """One column per question, or per part of its answer."""
        return tuple(column for question in self.fields for column in question.columns(language))


class Questions(Demographics):
    """A page of questions, anywhere in the study."""

    block: Literal["questions"]  # type: ignore[assignment]
