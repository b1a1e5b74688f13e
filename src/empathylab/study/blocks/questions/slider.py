"""Slider: a number on a line between two labels, which starts without a mark."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Whole, wrong
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.pages import Asked, Option
from empathylab.study.blocks.questions.interface import Constant, Question, Reader
from empathylab.study.blocks.questions.number import within_bounds
from empathylab.study.blocks.texts import Text
from empathylab.table_specs import ColumnSpec


class SliderQuestion(Question):
    """A number on a line between two labels."""

    kind: Literal["slider"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2, max_length=2)]
    """Of the two ends."""
    minimum: Whole = 0
    maximum: Whole = 100
    step: Annotated[Whole, Field(ge=1)] = 1

    input: ClassVar = "slider"

    @model_validator(mode="after")
    def _steps_reach_the_end(self) -> Self:
        require_steps(self.minimum, self.maximum, self.step)
        return self

    def asked(self, reader: Reader) -> Asked:
        """A line with its steps."""
        return replace(super().asked(reader), step=self.step)

    def shown_options(self, reader: Reader) -> tuple[Option, ...]:
        """The two ends."""
        ends = zip((self.minimum, self.maximum), self.labels, strict=True)
        return tuple(Option(str(value), reader.localized(label)) for value, label in ends)

    def read(self, form: FormReader) -> None:
        """A number that the slider can stand on."""
        form.position(
            self.name, range(self.minimum, self.maximum + 1, self.step), required=self.required
        )

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """A column of numbers."""
        low, high = (label.in_language(language) for label in self.labels)
        values = f"{self.minimum} ({low}) to {self.maximum} ({high})"
        return (
            ColumnSpec(self.name, "number", f"Asked: {self.label.in_language(language)}", values),
        )

    def can_meet(self, operator: str, constant: Constant) -> bool:
        """Positions on both sides of the constant are on the line."""
        return within_bounds(operator, constant, self.minimum, self.maximum)


def require_steps(least: int, most: int, step: int) -> None:
    """Raises where steps from the one end do not lead to the other."""
    if most <= least:
        raise wrong(f"more than the minimum, {least}", at=("maximum",), got=most)
    if (most - least) % step:
        raise wrong(
            f"a step that leads from {least} to {most}", "Use 1, 5 or 10.", at=("step",), got=step
        )
