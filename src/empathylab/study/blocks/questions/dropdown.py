"""Dropdown: one of many options, in a list that opens."""

from __future__ import annotations

from typing import Literal

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.pages import Asked
from empathylab.study.blocks.questions.interface import OptionsQuestion, Reader


class DropdownQuestion(OptionsQuestion):
    """One of many options, in a list that opens."""

    kind: Literal["dropdown"]

    def asked(self, reader: Reader) -> Asked:
        """A list that opens."""
        options = self.shown_options(reader)
        return Asked(self.name, "dropdown", reader.localized(self.label), options, self.required)

    def read(self, form: FormReader) -> None:
        """One of the options."""
        form.option(self.name, self.values, required=self.required)
