"""What a question type is: one class that knows everything about its kind of answer.

A question type is a subclass of `Question`: a pydantic model of its entry in the study file, with
its input on the page, the check of a submitted answer, and the columns of an export. It is listed
in `empathylab.study.blocks.questions.registry`, one module per type.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar

from pydantic import Field, ValidationInfo, model_validator

from empathylab.file_models import FileModel, Flag, Words, misfit
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.pages import Asked, InputKind, Option
from empathylab.study.blocks.texts import Identifier, Text, languages_of, refuse_repeated
from empathylab.table_specs import ColumnSpec, ColumnType

Thing = TypeVar("Thing")
Order = Literal["printed", "shuffled"]
Constant = str | float
"""What a condition compares an answer with."""


class Reader(Protocol):
    """Who reads a question: their language, and the order that is drawn for them."""

    def localized(self, text: Text | None) -> str: ...
    def in_order(self, things: Sequence[Thing], *parts: object) -> tuple[Thing, ...]: ...


class Question(FileModel):
    """One question."""

    name: Identifier
    label: Text
    kind: str
    """Its type; a subclass narrows it to a literal."""
    required: Flag = True

    input: ClassVar[InputKind]
    """What it is answered with on the page."""
    is_free: ClassVar[bool] = False
    """Whether answers are free words, which may identify someone."""

    @model_validator(mode="before")
    @classmethod
    def _no_condition(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "show_if" in data:
            raise misfit(
                "a single question cannot have `show_if`",
                "Put the question into its own block `questions`, with `show_if` there.",
                at=("show_if",),
            )
        return data

    @property
    def values(self) -> tuple[str, ...]:
        """What can be stored, where that is a list; quotas name these."""
        return ()

    def asked(self, reader: Reader) -> Asked:
        """The question on a page."""
        label, options = reader.localized(self.label), self.shown_options(reader)
        return Asked(self.name, self.input, label, options, self.required)

    def shown_options(self, reader: Reader) -> tuple[Option, ...]:
        """What can be chosen, in the order in which this reader sees it."""
        return ()

    @abstractmethod
    def read(self, form: FormReader) -> None:
        """Checks the submitted answer."""

    def parts(self, value: Any) -> Mapping[str, Any]:
        """The parts of a stored answer, by what each is about; empty for an answer of one part."""
        return {}

    def cells(self, value: Any) -> Mapping[str, Any]:
        """A stored answer by the names of its columns."""
        return {self.name: value}

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """The columns that `cells` fills."""
        meaning = f"Asked: {self.label.in_language(language)}"
        return (ColumnSpec(self.name, "text", meaning, "; ".join(self.values) or None),)

    def can_meet(self, operator: str, constant: Constant) -> bool:
        """Whether some answer meets the comparison of a condition, and some other does not."""
        return operator in ("==", "!=") and constant in self.values


class Choice(FileModel):
    """An option: what is stored, and what people read. A plain text is both."""

    value: Words
    label: Text

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any, info: ValidationInfo) -> Any:
        if isinstance(data, Mapping) and "value" in data:
            return data
        label = Text.read(data, languages_of(info))
        return {"value": label.versions[0][1], "label": label}


class OptionsQuestion(Question):
    """A question with a list of options."""

    options: tuple[Choice, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _options_differ(self) -> Self:
        refuse_repeated(self.values, "options")
        return self

    @property
    def values(self) -> tuple[str, ...]:
        """What can be stored."""
        return tuple(option.value for option in self.options)

    @property
    def options_order(self) -> Order:
        """The order of the options on the page."""
        return "printed"

    def shown_options(self, reader: Reader) -> tuple[Option, ...]:
        """The options in the order in which this reader sees them."""
        return shown_choices(self.options, reader, self.options_order, "options", self.name)

    def read(self, form: FormReader) -> None:
        """One of the options."""
        form.option(self.name, self.values, required=self.required)


class PartsQuestion(OptionsQuestion):
    """A question whose answer has a part for each option or row, and as many columns."""

    order: Order = "printed"

    column_type: ClassVar[ColumnType] = "number"

    @property
    def options_order(self) -> Order:
        """As the file says."""
        return self.order

    @property
    def part_choices(self) -> tuple[Choice, ...]:
        """What the parts are about."""
        return self.options

    def cells(self, value: Any) -> Mapping[str, Any]:
        """Columns are numbered as the parts are listed in the file."""
        parts = self.parts(value)
        return {
            f"{self.name}_{number}": parts[part.value]
            for number, part in enumerate(self.part_choices, start=1)
            if part.value in parts
        }

    @property
    @abstractmethod
    def part_values(self) -> tuple[str, str]:
        """What stands before the part in the meaning of its column, and the column's values."""

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """A column for each part."""
        asked = f"Asked: {self.label.in_language(language)}"
        before, values = self.part_values
        return tuple(
            ColumnSpec(
                f"{self.name}_{number}",
                self.column_type,
                f"{asked}{before} {part.label.in_language(language)}",
                values,
            )
            for number, part in enumerate(self.part_choices, start=1)
        )

    def can_meet(self, operator: str, constant: Constant) -> bool:
        """Conditions go by single answers."""
        return False


def shown_choices(
    choices: Sequence[Choice], reader: Reader, order: Order, *parts: object
) -> tuple[Option, ...]:
    """The choices in the order in which this reader sees them."""
    known = {
        choice.value: Option(choice.value, reader.localized(choice.label)) for choice in choices
    }
    values = tuple(known)
    return tuple(
        known[value]
        for value in (reader.in_order(values, *parts) if order == "shuffled" else values)
    )
