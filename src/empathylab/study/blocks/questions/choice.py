"""Choice and dropdown: one of several options, all of them in view or in a list that opens."""

from __future__ import annotations

from typing import ClassVar, Literal

from empathylab.study.blocks.questions.interface import OptionsQuestion


class ChoiceQuestion(OptionsQuestion):
    """One of several options, all of them in view."""

    kind: Literal["choice"]

    input: ClassVar = "choice"


class DropdownQuestion(OptionsQuestion):
    """One of many options, in a list that opens."""

    kind: Literal["dropdown"]

    input: ClassVar = "dropdown"
