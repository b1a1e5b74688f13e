"""Choice: one of several options, all of them in view."""

from __future__ import annotations

from typing import ClassVar, Literal

from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.questions.interface import OptionsQuestion


class ChoiceQuestion(OptionsQuestion):
    """One of several options, all of them in view."""

    kind: Literal["choice"]

    input: ClassVar = "choice"

    def read(self, form: FormReader) -> None:
        """One of the options."""
        form.option(self.name, self.values, required=self.required)
