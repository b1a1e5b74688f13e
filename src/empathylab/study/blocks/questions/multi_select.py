"""Multi-select: several of the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Whole, wrong
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.questions.interface import Constant, PartsQuestion


class MultiSelectQuestion(PartsQuestion):
    """Several of the options."""

    kind: Literal["multi-select"]
    minimum: Annotated[Whole, Field(ge=1)] = 1
    """Choices that are needed; a question that is not required may be left empty, too."""
    maximum: Annotated[Whole, Field(ge=1)] | None = None

    input: ClassVar = "choices"

    @model_validator(mode="after")
    def _bounds_fit_options(self) -> Self:
        most = len(self.options)
        if self.minimum > most:
            raise wrong(f"at most the number of options, {most}", at=("minimum",))
        if self.maximum is not None and not self.minimum <= self.maximum <= most:
            raise wrong(f"from {self.minimum} to {most}", at=("maximum",))
        return self

    def read(self, form: FormReader) -> None:
        """Some of the options, in the order of the file."""
        given = form.parts(self.name, self.values)
        if given is None:
            return
        if any(given[value] != value for value in given):
            form.refuse(self.name, "not-an-option")
            return
        chosen = [value for value in self.values if value in given]
        if chosen or not self.required:
            form.values[self.name] = chosen
        if not chosen and self.required:
            form.refuse(self.name, "missing")
        elif chosen and len(chosen) < self.minimum:
            form.refuse(self.name, "too-few-choices", least=self.minimum)
        elif self.maximum is not None and len(chosen) > self.maximum:
            form.refuse(self.name, "too-many-choices", most=self.maximum)

    def parts(self, value: Any) -> Mapping[str, Any]:
        """1 for what was chosen, 0 for the rest."""
        return {option: int(option in value) for option in self.values}

    @property
    def part_values(self) -> tuple[str, str]:
        """0 and 1."""
        return " Chosen:", "0; 1"

    def can_meet(self, operator: str, constant: Constant) -> bool:
        """Whether an option is among those chosen."""
        return operator == "contains" and constant in self.values
