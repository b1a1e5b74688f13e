"""The options of a release gate, as they are written on the command line or in a sweep file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.api.evaluation.gates import GateOptions


def read_gates(
    fail_under: Iterable[str],
    max_unusable: str | None,
    baseline: str | None,
    no_worse_than: float | None,
    *,
    allow_missing_baseline: bool,
) -> GateOptions:
    """The conditions: thresholds such as `replies.empathy=3.5`, a proportion such as `10%`."""
    from empathylab.api.evaluation.gates import GateOptions

    return GateOptions(
        dict(map(_threshold, fail_under)),
        None if max_unusable is None else proportion(max_unusable),
        baseline,
        no_worse_than,
        allow_missing_baseline,
    )


def _threshold(text: str) -> tuple[str, float]:
    metric, equals, least = text.partition("=")
    value = _number(least)
    if not equals or value is None:
        raise InputError(
            "a threshold must have the form METRIC=NUMBER",
            where="--fail-under",
            got=text,
            remedy="Write it like replies.empathy=3.5.",
        )
    return metric.strip(), value


def proportion(text: str) -> float:
    """The number, also where it is written in percent."""
    value = _number(text.strip().removesuffix("%"))
    if value is None:
        raise InputError(
            "the proportion must be between 0% and 100%",
            where="--max-unusable",
            got=text,
            remedy="Write it like 10% or 0.1.",
        )
    return value / 100 if text.strip().endswith("%") else value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
