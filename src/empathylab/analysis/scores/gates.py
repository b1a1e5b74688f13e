"""A release gate: conditions that a measured model must meet, and whether it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from empathylab.analysis.scores.estimates import EMPATHY
from empathylab.analysis.scores.prose import comparison_sentence
from empathylab.analysis.scores.result import ScoresResult
from empathylab.analysis.text.numbers import number, percent
from empathylab.judging.rubric import rubric

_NOT_SCORED = "the replies were not scored; name a judge with --judge"

METRICS = tuple(f"replies.{name}" for name in (EMPATHY, *rubric().names))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is demanded of every respondent."""

    fail_under: Mapping[str, float]
    """By metric, such as `replies.empathy`, the lowest mean that passes."""
    max_unusable: float | None = None
    """The largest proportion of requests without a usable answer."""
    baseline: int | None = None
    """A run of replies to compare with."""
    no_worse_than: float | None = None
    """How much lower than the baseline's the mean may be."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a gate looks at of one respondent."""

    respondent: str
    runs: tuple[int, ...]
    """Its runs of replies."""
    requests: int
    usable: int


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition of one respondent."""

    respondent: str
    condition: str
    value: float | None
    passed: bool
    reason: str
    """Why it passed or failed, in one sentence."""

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.condition}: {self.reason}"


def check_gates(
    conditions: Conditions, measured: Sequence[Measured], scores: Mapping[str, ScoresResult]
) -> tuple[Gate, ...]:
    """Every condition for every respondent; `scores` by respondent, where a judge scored it.

    That there is anything usable at all is a condition of every evaluation, listed where it fails.
    A score counts only if the judge separates the planted replies.
    """
    gates: list[Gate] = []
    for item in measured:
        if not item.usable:
            gates.append(_nothing_usable(item))
        if conditions.max_unusable is not None:
            gates.append(_unusable(item, conditions.max_unusable))
        for run in item.runs or (None,):
            gates += _score_gates(item, run, conditions, scores.get(item.respondent))
    return tuple(gates)


def _score_gates(
    measured: Measured, run: int | None, conditions: Conditions, result: ScoresResult | None
) -> list[Gate]:
    name = measured.respondent if len(measured.runs) < 2 else f"{measured.respondent} (run {run})"
    gates = [
        _under(f"{name}: {metric} >= {least:g}", measured.respondent, run, metric, least, result)
        for metric, least in conditions.fail_under.items()
    ]
    if conditions.no_worse_than is not None:
        condition = (
            f"{name}: replies.{EMPATHY} no worse than run {conditions.baseline} "
            f"by {conditions.no_worse_than:g}"
        )
        gates.append(_no_worse(condition, measured.respondent, run, conditions.baseline, result))
    return gates


def _nothing_usable(measured: Measured) -> Gate:
    reason = f"none of {measured.requests} requests got a usable answer"
    return Gate(
        measured.respondent, f"{measured.respondent}: usable answers > 0", 0.0, False, reason
    )


def _unusable(measured: Measured, most: float) -> Gate:
    share = (measured.requests - measured.usable) / measured.requests if measured.requests else 1.0
    reason = f"{percent(share)} of {measured.requests} requests got no usable answer"
    condition = f"{measured.respondent}: unusable answers <= {percent(most)}"
    return Gate(measured.respondent, condition, share, share <= most, reason)


def _under(
    condition: str,
    respondent: str,
    run: int | None,
    metric: str,
    least: float,
    result: ScoresResult | None,
) -> Gate:
    scored = () if result is None else result.respondents
    mine = next((scores for scores in scored if scores.run == run), None)
    score = None if mine is None else mine.score(metric.removeprefix("replies."))
    if result is None or score is None:
        return Gate(respondent, condition, None, False, _NOT_SCORED)
    mean = number(score.mean, 2)
    gate = Gate(respondent, condition, score.mean, score.mean >= least, f"the mean is {mean}")
    return _if_fit(gate, result, f"its score of {mean} does not count")


def _if_fit(gate: Gate, result: ScoresResult, otherwise: str) -> Gate:
    """The gate; failed where the judge is not shown to separate the planted replies."""
    if result.fit:
        return gate
    doubt = "has not been checked" if result.fit is None else "is not fit"
    return replace(gate, passed=False, reason=f"the judge {result.judge} {doubt}, so {otherwise}")


def _no_worse(
    condition: str,
    respondent: str,
    run: int | None,
    baseline: int | None,
    result: ScoresResult | None,
) -> Gate:
    if run is not None and run == baseline:
        return Gate(respondent, condition, 0.0, True, "it is the baseline itself")
    compared = () if result is None else result.comparisons
    own = next((comparison for comparison in compared if comparison.run == run), None)
    if result is None or own is None:
        return Gate(respondent, condition, None, False, _NOT_SCORED)
    reason = comparison_sentence(own).rstrip(".")
    gate = Gate(respondent, condition, own.difference, own.passed, reason)
    return _if_fit(gate, result, "its scores do not count")
