"""Number: a number within bounds, written in a field."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from empathylab.file_models import Number
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.questions.interface import Constant, Question


class NumberQuestion(Question):
    """A number within bounds."""

    kind: Literal["number"]
    minimum: Number | None = None
    maximum: Number | None = None

    input: ClassVar = "number"

    def read(self, form: FormReader) -> None:
        """A number within the bounds."""
        form.number(self.name, least=self.minimum, most=self.maximum, required=self.required)

    def can_meet(self, operator: str, constant: Constant) -> bool:
        """Numbers on both sides of the constant are within the bounds."""
        return within_bounds(operator, constant, self.minimum, self.maximum)


def within_bounds(
    operator: str, constant: Constant, least: float | None, most: float | None
) -> bool:
    """Whether a number within the bounds can meet the comparison, and another one not."""
    if isinstance(constant, str):
        return False
    low = -math.inf if least is None else least
    high = math.inf if most is None else most
    if operator in ("==", "!="):
        return low <= constant <= high
    if operator in ("<", ">="):
        return low < constant <= high
    return operator in ("<=", ">") and low <= constant < high
