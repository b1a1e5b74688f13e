"""Choice: one of several options, all of them in view."""

from __future__ import annotations

from typing import Literal

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.pages import Asked
from empathylab.study.blocks.questions.interface import OptionsQuestion, Reader


class ChoiceQuestion(OptionsQuestion):
    """One of several options, all of them in view."""

    kind: Literal["choice"]

    def asked(self, reader: Reader) -> Asked:
        """Radio buttons."""
        options = self.shown_options(reader)
        return Asked(self.name, "choice", reader.localized(self.label), options, self.required)

    def read(self, form: FormReader) -> None:
        """One of the options."""
        form.option(self.name, self.values, required=self.required)
