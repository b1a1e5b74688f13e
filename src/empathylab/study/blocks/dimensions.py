"""Rating dimensions: what a response is rated on, point by point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from empathylab.file_models import FileModel, Number, Whole, wrong
from empathylab.study.blocks.questions.slider import require_steps
from empathylab.study.blocks.texts import Identifier, Text

_LIKERT_POINTS = 5
_SLIDER_ENDS = (0, 100)
Label = Annotated[Text | None, BeforeValidator(lambda value: None if value == "" else value)]


class Dimension(FileModel):
    """What a response is rated on."""

    name: Identifier
    question: Text
    labels: tuple[Label, ...] = Field(min_length=2)
    """Of each value; None where a point shows its number only."""
    values: tuple[Whole, ...]
    """1, 2, 3 and so on, unless the file says otherwise."""
    direction: Literal["fixed", "random"] = "fixed"
    """`random`: half of the raters see the points in reverse order, always the same half."""
    input: Literal["slider"] | None = None
    """`slider`: a line in place of points; the values are those of the labels on it."""
    step: Annotated[Whole, Field(ge=1)] | None = None
    """Of a slider; 1 unless given."""
    margin: Number | None = None
    """The smallest difference between arms that matters: in points of a scale with five points or
    more, else in percentage points of good ratings."""

    @model_validator(mode="before")
    @classmethod
    def _count_labels(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("values") is None:
            labels = data.get("labels")
            count = len(labels) if isinstance(labels, list | tuple) else 0
            on_slider = data.get("input") == "slider" and count == 2
            return {**data, "values": _SLIDER_ENDS if on_slider else tuple(range(1, count + 1))}
        return data

    @model_validator(mode="after")
    def _values_fit_labels(self) -> Self:
        if self.labels[0] is None or self.labels[-1] is None:
            raise wrong(
                "a list whose first and last labels are not empty",
                "Say what the ends mean.",
                at=("labels",),
            )
        rising = list(self.values) == sorted(set(self.values))
        if len(self.values) != len(self.labels) or not rising:
            count = len(self.labels)
            raise wrong(f"{count} numbers in rising order, one for each label", at=("values",))
        return self

    @model_validator(mode="after")
    def _step_fits_slider(self) -> Self:
        if self.step is not None and self.input is None:
            raise wrong("left out without a slider", "Add `input: slider`.", at=("step",))
        if self.input == "slider":
            require_steps(self.values[0], self.values[-1], self.step or 1)
        return self

    @property
    def positions(self) -> range:
        """The values that a slider can stand on."""
        return range(self.values[0], self.values[-1] + 1, self.step or 1)

    @model_validator(mode="after")
    def _margin_fits_scale(self) -> Self:
        by_mean = self.input == "slider" or len(self.values) >= _LIKERT_POINTS
        most = self.values[-1] - self.values[0] if by_mean else 100
        if self.margin is not None and not 0 < self.margin < most:
            unit = "points" if by_mean else "percentage points"
            raise wrong(
                f"a number of {unit} between 0 and {most}",
                "Declare the smallest difference that would matter.",
                at=("margin",),
            )
        return self
