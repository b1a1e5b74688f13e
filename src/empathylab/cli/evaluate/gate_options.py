"""The options of a release gate, as they are given, and what they demand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.analysis.scores.gates import Conditions
    from empathylab.store import Lab


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Conditions as written on the command line or in a sweep file."""

    fail_under: tuple[str, ...] = ()
    """Such as `replies.empathy=3.5`."""
    max_unusable: str | None = None
    """Such as `10%` or `0.1`."""
    baseline: str | None = None
    """A run by number or name."""
    no_worse_than: float | None = None
    junit: Path | None = None

    def conditions(self, lab: Lab) -> Conditions:
        """What is demanded; refuses what cannot be checked."""
        from empathylab.analysis.scores.gates import Conditions
        from empathylab.store.run_labels import replies_run

        if (self.baseline is None) != (self.no_worse_than is None):
            raise InputError(
                "a comparison with a baseline needs both a run and a margin",
                where="--baseline" if self.baseline else "--no-worse-than",
                remedy="Give --baseline RUN and --no-worse-than POINTS.",
            )
        found = Conditions(
            fail_under=dict(map(_threshold, self.fail_under)),
            max_unusable=None if self.max_unusable is None else _proportion(self.max_unusable),
            baseline=None if self.baseline is None else replies_run(lab, self.baseline),
            no_worse_than=self.no_worse_than,
        )
        if self.no_worse_than is not None and not self.no_worse_than > 0:
            raise InputError(
                "the margin must be above 0",
                where="--no-worse-than",
                got=self.no_worse_than,
                remedy="Give points of the scale from 1 to 5, such as 0.2.",
            )
        return found


def _threshold(text: str) -> tuple[str, float]:
    from empathylab.analysis.scores.gates import METRICS

    metric, equals, least = text.partition("=")
    if equals and metric.strip() not in METRICS:
        raise UnknownName("metric", metric.strip(), METRICS, where="--fail-under")
    value = _number(least)
    if not equals or value is None:
        raise InputError(
            "a threshold must be a metric, = and a number",
            where="--fail-under",
            got=text,
            remedy="Write it like replies.empathy=3.5.",
        )
    return metric.strip(), value


def _proportion(text: str) -> float:
    value = _number(text.strip().removesuffix("%"))
    if value is not None and text.strip().endswith("%"):
        value /= 100
    if value is None or not 0 <= value <= 1:
        raise InputError(
            "the largest proportion must lie between 0% and 100%",
            where="--max-unusable",
            got=text,
            remedy="Write it like 10% or 0.1.",
        )
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
