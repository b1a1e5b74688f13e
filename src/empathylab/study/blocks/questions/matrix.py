"""Matrix: several statements, each answered with one of the same options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.pages import Asked
from empathylab.study.blocks.questions.interface import (
    Choice,
    Order,
    PartsQuestion,
    Reader,
    shown_choices,
)
from empathylab.study.blocks.texts import refuse_repeated
from empathylab.table_specs import ColumnType


class MatrixQuestion(PartsQuestion):
    """Several statements, each answered with one of the same options."""

    kind: Literal["matrix"]
    rows: tuple[Choice, ...] = Field(min_length=2)
    """The statements; `order` is theirs."""

    input: ClassVar = "matrix"
    column_type: ClassVar[ColumnType] = "text"

    @model_validator(mode="after")
    def _rows_differ(self) -> Self:
        refuse_repeated([row.value for row in self.rows], "rows")
        return self

    @property
    def part_choices(self) -> tuple[Choice, ...]:
        """The rows."""
        return self.rows

    def asked(self, reader: Reader) -> Asked:
        """A table of radio buttons, with the rows in their order."""
        rows = shown_choices(self.rows, reader, self.order, "rows", self.name)
        return replace(super().asked(reader), rows=rows)

    @property
    def options_order(self) -> Order:
        """As the file lists them; `order` is that of the rows."""
        return "printed"

    @property
    def part_values(self) -> tuple[str, str]:
        """The options."""
        return "", "; ".join(self.values)

    def read(self, form: FormReader) -> None:
        """One of the options for each row."""
        rows = [row.value for row in self.rows]
        given = form.parts(self.name, rows)
        if given is None:
            return
        if any(value not in self.values for value in given.values()):
            form.refuse(self.name, "not-an-option")
            return
        if given:
            form.values[self.name] = {row: given[row] for row in rows if row in given}
        if self.required and len(given) < len(rows):
            form.refuse(self.name, "missing-rows" if given else "missing")

    def parts(self, value: Any) -> Mapping[str, Any]:
        """The answer in each row."""
        return dict(value)
