"""Results as values that JSON can hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date
from typing import Any

from empathylab.analysis.text.notes import note_text
from empathylab.stats.estimates import Estimate
from empathylab.stats.notes import Note


def json_value(value: Any) -> Any:
    """The value with dataclasses as objects, tuples as lists, NaN and infinity as null.

    Notes become sentences, a missing one is empty; days and times are in ISO 8601.
    """
    if isinstance(value, Note):
        return note_text(value)
    if isinstance(value, Estimate):
        return {name: json_value(part) for name, part in value._asdict().items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: "" if field.name == "note" and part is None else json_value(part)
            for field in dataclasses.fields(value)
            for part in [getattr(value, field.name)]
        }
    if isinstance(value, Mapping):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(part) for part in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def picked(item: Any, names: str) -> dict[str, Any]:
    """Some fields or properties by name (`"n low high"`), as values that JSON can hold."""
    return {name: json_value(getattr(item, name)) for name in names.split()}


def interval_columns(name: str, item: Any) -> dict[str, Any]:
    """An estimate and the ends of its interval as `name`, `name_low` and `name_high`."""
    ends = {name: item.estimate, f"{name}_low": item.low, f"{name}_high": item.high}
    return {column: json_value(value) for column, value in ends.items()}


def scalars(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without lists and objects in it."""
    return {
        name: value for name, value in row.items() if not isinstance(value, Mapping | list | tuple)
    }


def finite(value: float | None) -> float | None:
    """The value; None for NaN and infinity, as in JSON."""
    return value if value is not None and math.isfinite(value) else None
