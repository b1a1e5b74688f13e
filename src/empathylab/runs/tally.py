"""Counts of a run, as they stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from empathylab.models import Usage


@dataclass(slots=True)
class Tally:
    """What a run has done; `done` counts only what is durable."""

    model: str
    protocol: str
    planned: int
    """Requests known so far: retries and follow-ups are added as they turn out to be needed."""
    already: int = 0
    """Answered in an earlier session."""
    reused: int = 0
    """Taken over from another run of this lab."""
    asked: int = 0
    """Answered by the model in this session."""
    asked_again: int = 0
    """Answers of this session that could not be used, so that a retry was planned."""
    retries: int = 0
    """Times the endpoint failed and was tried again."""
    estimated: int = 0
    """Answers whose tokens the endpoint did not count, so that we had to estimate them."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """Dollars in this session; None where the price is unknown."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Of this session's answers: valid, refusal, empty …"""
    failures: Counter[str] = field(default_factory=Counter)
    """Requests of this session that got no answer, by kind."""
    examples: dict[str, str] = field(default_factory=dict)
    """By kind, the message of the first."""
    adjusted: str = ""
    """Settings that the endpoint refused, and what was sent instead."""
    seconds: float = 0.0
    stopped: str | None = None
    """Why the run ended before all was asked."""
    run: int | None = None
    """Its number in the lab."""

    @property
    def done(self) -> int:
        return self.already + self.reused + self.asked

    @property
    def missing(self) -> int:
        return self.planned - self.done

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    def count_answer(
        self,
        outcome: str,
        usage: Usage,
        cost: float | None,
        *,
        reused: bool,
        asked_again: bool = False,
        more: int = 0,
    ) -> None:
        """Counts one answer that has just become durable, and what follows from it."""
        self.outcomes[outcome] += 1
        self.asked_again += asked_again
        self.planned += more
        if reused:
            self.reused += 1
            return
        self.asked += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        if self.cost is not None:
            self.cost = None if cost is None else self.cost + cost
