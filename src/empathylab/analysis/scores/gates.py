"""A release gate: conditions that a measured model must meet, and whether it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from empathylab.analysis.scores.estimates import EMPATHY
from empathylab.analysis.scores.prose import comparison_sentence, loss_sentence, unscored_sentence
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
    """A run of replies to compare with; None where the lab has no such run yet."""
    baseline_name: str | None = None
    """As the caller named it."""
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
    details: str = ""
    """What the run lost, where a comparison with a baseline failed."""

    @property
    def checked(self) -> bool:
        """Whether there was anything to check; a comparison without a baseline has no value."""
        return not self.passed or self.value is not None

    def __str__(self) -> str:
        return f"{self.outcome.replace('failed', 'FAILED')}: {self.condition}: {self.reason}"

    @property
    def outcome(self) -> str:
        """In words."""
        if not self.passed:
            return "failed"
        return "passed" if self.checked else "not checked"


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


def gates_sentence(gates: Sequence[Gate]) -> str:
    """How many conditions failed; of none, nothing."""
    if not gates:
        return ""
    what = "condition" if len(gates) == 1 else "conditions"
    counts = Counter(gate.outcome for gate in gates)
    parts = [f"{counts[name]} {name}" for name in ("failed", "not checked", "passed")]
    listed = ", ".join(part for part in parts if not part.startswith("0 "))
    return f"Release gate of {len(gates)} {what}: {listed}."


def _score_gates(
    measured: Measured, run: int | None, conditions: Conditions, result: ScoresResult | None
) -> list[Gate]:
    name = measured.respondent if len(measured.runs) < 2 else f"{measured.respondent} (run {run})"
    scored = _Scored(measured.respondent, name, run, conditions, result)
    gates = [scored.under(metric, least) for metric, least in conditions.fail_under.items()]
    if conditions.no_worse_than is not None:
        gates.append(scored.no_worse(conditions.no_worse_than))
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


@dataclass(frozen=True, slots=True)
class _Scored:
    """A run of replies with the judge's scores, for conditions on them."""

    respondent: str
    name: str
    run: int | None
    conditions: Conditions
    result: ScoresResult | None

    def under(self, metric: str, least: float) -> Gate:
        """Whether a mean is not lower than this."""
        condition = f"{self.name}: {metric} >= {least:g}"
        scored = () if self.result is None else self.result.respondents
        mine = next((scores for scores in scored if scores.run == self.run), None)
        score = None if mine is None else mine.score(metric.removeprefix("replies."))
        if self.result is None or mine is None or score is None:
            return self._gate(condition, None, False, self._not_scored(self.run))
        mean = number(score.mean, 2)
        if not self.result.fit:
            reason = f"{_unfit(self.result)}, so its score of {mean} does not count"
            return self._gate(condition, score.mean, False, reason)
        replies = self.result.replies.get(mine.run)
        unscored = 0 if replies is None else replies.unscored
        if not unscored:
            return self._gate(condition, score.mean, score.mean >= least, f"the mean is {mean}")
        missing = f"{unscored} of {mine.n + unscored} replies have no full score"
        if self._too_many(unscored, mine.n + unscored):
            reason = f"{missing}; the mean of the others is {mean}"
            return self._gate(condition, score.mean, False, reason)
        reason = f"the mean is {mean}, but {missing}"
        return self._gate(condition, score.mean, score.mean >= least, reason)

    def no_worse(self, margin: float) -> Gate:
        """Whether the run is shown not to be worse than the baseline by this."""
        baseline = self.conditions.baseline
        reference = self.conditions.baseline_name or f"run {baseline}"
        condition = f"{self.name}: replies.{EMPATHY} no worse than {reference} by {margin:g}"
        if baseline is None:
            reason = f"the lab does not have {reference} yet, so there was nothing to compare with"
            return self._gate(condition, None, True, reason)
        if self.run == baseline:
            return self._gate(condition, 0.0, True, "it is the baseline itself")
        compared = () if self.result is None else self.result.comparisons
        own = next((comparison for comparison in compared if comparison.run == self.run), None)
        if self.result is None or own is None:
            return self._gate(condition, None, False, self._not_compared(reference))
        if not self.result.fit:
            reason = f"{_unfit(self.result)}, so its scores do not count"
            return self._gate(condition, own.difference, False, reason)
        reason = comparison_sentence(own).rstrip(".")
        unscored = own.shared - own.situations
        details = "" if own.passed else loss_sentence(own)
        if unscored <= 0:
            return self._gate(condition, own.difference, own.passed, reason, details)
        missing = (
            f"{unscored} of {own.shared} situations that both replied to have no scores of both"
        )
        if self._too_many(unscored, own.shared):
            return self._gate(condition, own.difference, False, f"{missing}. {reason}", details)
        return self._gate(
            condition, own.difference, own.passed, f"{reason}, but {missing}", details
        )

    def _gate(
        self, condition: str, value: float | None, passed: bool, reason: str, details: str = ""
    ) -> Gate:
        return Gate(self.respondent, condition, value, passed, reason, details)

    def _too_many(self, missing: int, of: int) -> bool:
        most = self.conditions.max_unusable
        return most is not None and missing > most * of

    def _not_scored(self, run: int | None) -> str:
        """Why a run has no scores."""
        replies = None if self.result is None or run is None else self.result.replies.get(run)
        if self.result is None or replies is None:
            return _NOT_SCORED
        if not replies.usable:
            return "there is no usable reply to score"
        return unscored_sentence(replies, self.result.judge).rstrip(".")

    def _not_compared(self, reference: str) -> str:
        """Why a run cannot be compared with the baseline."""
        known = {} if self.result is None else self.result.replies
        for run in (self.run, self.conditions.baseline):
            replies = None if run is None else known.get(run)
            if replies is None or not replies.scored:
                return self._not_scored(run)
        return f"it has scored replies to fewer than two situations of {reference}"


def _unfit(result: ScoresResult) -> str:
    doubt = "has not been checked" if result.fit is None else "is not fit"
    return f"the judge {result.judge} {doubt}"
