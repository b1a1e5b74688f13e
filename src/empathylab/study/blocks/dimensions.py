"""Rating dimensions: what a response is rated on, point by point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from empathylab.file_models import FileModel, Whole, wrong
from empathylab.study.blocks.texts import Identifier, Text

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

    @model_validator(mode="before")
    @classmethod
    def _count_labels(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("values") is None:
            labels = data.get("labels")
            count = len(labels) if isinstance(labels, list | tuple) else 0
            return {**data, "values": tuple(range(1, count + 1))}
        return data

    @model_validator(mode="after")
    def _values_fit_labels(self) -> Self:
        if self.labels[0] is None or self.labels[-1] is None:
            raise wrong(
                "labels of which the first and the last are not empty",
                "Say what the ends mean.",
                at=("labels",),
            )
        rising = list(self.values) == sorted(set(self.values))
        if len(self.values) != len(self.labels) or not rising:
            count = len(self.labels)
            raise wrong(f"{count} numbers in rising order, one for each label", at=("values",))
        return self
