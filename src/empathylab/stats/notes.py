"""Why a figure is missing or doubtful: a code with its values. `analysis` writes the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a result, such as `few_levels` of the grouping `rater`."""

    code: str
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.values.items())
        return f"{self.code}({values})" if values else self.code


def note(code: str, **values: Value) -> Note:
    return Note(code, values)
