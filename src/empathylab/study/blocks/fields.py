"""Questions about the participant, one class per type of answer.

A new type of answer is a subclass of `PersonField` that is listed in `Field`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field as Constraint
from pydantic import ValidationInfo, model_validator

from empathylab.file_models import FileModel, Flag, Number, Words
from empathylab.study.blocks.forms import MOST_FIELD_CHARACTERS, FormReader
from empathylab.study.blocks.pages import Asked, Option
from empathylab.study.blocks.questions import Said
from empathylab.study.blocks.texts import Identifier, Text, languages_of, refuse_repeated
from empathylab.table_specs import ColumnSpec


class PersonField(FileModel):
    """One question about the participant."""

    name: Identifier
    label: Text
    kind: str
    required: Flag = True

    @property
    def values(self) -> tuple[str, ...]:
        """What can be stored, where that is a list; quotas name these."""
        return ()

    def asked(self, said: Said) -> Asked:
        """The question on a page."""
        return Asked(self.name, "line", said(self.label), (), self.required)

    def read(self, form: FormReader) -> None:
        """Checks the answer."""
        form.free(self.name, required=self.required, most=MOST_FIELD_CHARACTERS)

    def column(self, language: str) -> ColumnSpec:
        """The column of its answers."""
        meaning = f"Asked: {self.label.said(language)}"
        return ColumnSpec(self.name, "text", meaning, "; ".join(self.values) or None)


class TextField(PersonField):
    """A line of text."""

    kind: Literal["text"]


class NumberField(PersonField):
    """A number within bounds."""

    kind: Literal["number"]
    minimum: Number | None = None
    maximum: Number | None = None

    def asked(self, said: Said) -> Asked:
        """The question on a page."""
        return Asked(self.name, "number", said(self.label), (), self.required)

    def read(self, form: FormReader) -> None:
        """Checks the answer."""
        form.number(self.name, least=self.minimum, most=self.maximum, required=self.required)


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


class ChoiceField(PersonField):
    """One of several options."""

    kind: Literal["choice"]
    options: tuple[Choice, ...] = Constraint(min_length=2)

    @model_validator(mode="after")
    def _options_differ(self) -> Self:
        refuse_repeated(self.values, "options")
        return self

    @property
    def values(self) -> tuple[str, ...]:
        """What can be stored."""
        return tuple(one.value for one in self.options)

    def asked(self, said: Said) -> Asked:
        """The question on a page."""
        options = tuple(Option(one.value, said(one.label)) for one in self.options)
        return Asked(self.name, "choice", said(self.label), options, self.required)

    def read(self, form: FormReader) -> None:
        """Checks the answer."""
        form.option(self.name, self.values, required=self.required)


Field = Annotated[ChoiceField | NumberField | TextField, Constraint(discriminator="kind")]
