"""The conditions of a release gate, as a caller gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.analysis.scores.gates import Conditions
    from empathylab.store import Lab


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What is demanded of every model."""

    fail_under: Mapping[str, float] = field(default_factory=dict)
    """By metric, such as `replies.empathy`, the lowest mean that passes."""
    max_unusable: float | None = None
    """The largest proportion of requests without a usable answer."""
    baseline: str | None = None
    """A run by number or name."""
    no_worse_than: float | None = None
    """How much lower than the baseline's the mean may be."""
    allow_missing_baseline: bool = False
    """Whether the comparison passes if the lab has no such run yet."""

    def __post_init__(self) -> None:
        from empathylab.analysis.scores.gates import METRICS
        from empathylab.judging.rubric.definition import HIGHEST, LOWEST

        for metric, least in self.fail_under.items():
            if metric not in METRICS:
                raise UnknownName("metric", metric, METRICS, where="--fail-under")
            if not LOWEST <= least <= HIGHEST:
                raise InputError(
                    f"a threshold must be between {LOWEST} and {HIGHEST}",
                    where="--fail-under",
                    got=f"{metric}={least:g}",
                    remedy=f"Write it like {metric}=3.5.",
                )
        if self.max_unusable is not None and not 0 <= self.max_unusable <= 1:
            raise InputError(
                "the proportion must be between 0% and 100%",
                where="--max-unusable",
                got=self.max_unusable,
                remedy="Write it like 10% or 0.1.",
            )

    def conditions(self, lab: Lab, *, judged: bool) -> Conditions:
        """What is demanded; refuses what cannot be checked, as scores without a judge cannot."""
        from empathylab.analysis.scores.gates import Conditions

        if (self.baseline is None) != (self.no_worse_than is None):
            raise InputError(
                "a comparison with a baseline needs both a run and a margin",
                where="--baseline" if self.baseline else "--no-worse-than",
                remedy="Give --baseline RUN and --no-worse-than POINTS.",
            )
        if self.no_worse_than is not None and not self.no_worse_than > 0:
            raise InputError(
                "the margin must be above 0",
                where="--no-worse-than",
                got=self.no_worse_than,
                remedy="Give points of the scale from 1 to 5, such as 0.2.",
            )
        if self.allow_missing_baseline and self.baseline is None:
            raise InputError(
                "there is no comparison with a baseline",
                where="--allow-missing-baseline",
                remedy="Give --baseline RUN and --no-worse-than POINTS, or leave it out.",
            )
        baseline = self._baseline_run(lab)
        if not judged and (self.fail_under or self.no_worse_than is not None):
            raise InputError(
                "a condition on scores needs a judge that scores the replies",
                where="--fail-under" if self.fail_under else "--no-worse-than",
                remedy="Name a model with --judge (in a sweep file: judge), or leave it out.",
            )
        return Conditions(
            fail_under=dict(self.fail_under),
            max_unusable=self.max_unusable,
            baseline=baseline,
            baseline_name=_label(self.baseline),
            no_worse_than=self.no_worse_than,
        )

    def _baseline_run(self, lab: Lab) -> int | None:
        """The baseline's number; None if there is none, or it is missing and may be."""
        from empathylab.store.run_labels import replies_run

        if self.baseline is None:
            return None
        try:
            return replies_run(lab, self.baseline)
        except UnknownName as error:
            if self.allow_missing_baseline:
                return None
            raise InputError(
                error.what,
                where="--baseline",
                remedy=f"{error.remedy.rstrip('.')}. In a first build, add "
                "--allow-missing-baseline.",
            ) from error


def _label(run: str | None) -> str | None:
    """The run as the caller named it."""
    return f"run {run}" if run and run.isdecimal() else run
