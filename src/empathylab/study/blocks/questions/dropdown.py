"""Dropdown: one of many options, in a list that opens."""

from __future__ import annotations

from typing import ClassVar, Literal

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.questions.interface import OptionsQuestion


class DropdownQuestion(OptionsQuestion):
    """One of many options, in a list that opens."""

    kind: Literal["dropdown"]

    input: ClassVar = "dropdown"

    def read(self, form: FormReader) -> None:
        """One of the options."""
        form.option(self.name, self.values, required=self.required)
