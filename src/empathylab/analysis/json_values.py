"""Results as values that JSON can hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from empathylab.stats.arms.estimates import Estimate


def json_value(value: Any) -> Any:
    """The value with dataclasses as objects, tuples as lists, NaN and infinity as null."""
    if isinstance(value, Estimate):
        return {name: json_value(part) for name, part in value._asdict().items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: json_value(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
