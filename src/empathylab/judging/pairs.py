"""Comparing: which of two replies to the same situation a judge prefers, asked in both orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.judging.asking import (
    Asking,
    Judged,
    refuse_reason_dimension,
    run_settings,
    save_rows,
    shared_columns,
)
from empathylab.judging.instruments import Instrument
from empathylab.judging.prompts import CHOOSER, PLACES, JudgeTemplate, choosing_messages
from empathylab.models import Completion
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.situations import Situation
from empathylab.store.judged_responses import JudgedResponse
from empathylab.store.schema import preferences

PROTOCOL = "compare"


@dataclass(frozen=True, slots=True)
class Comparing:
    """Which replies a judge is to compare, and how."""

    instrument: Instrument
    replies: tuple[JudgedResponse, ...]
    source: str
    study: int | None = None
    asking: Asking = field(default_factory=Asking)
    template: JudgeTemplate = CHOOSER

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run."""
        return run_settings(self.instrument, self.replies, self.source, self.asking, self.template)


@dataclass(frozen=True, slots=True)
class _Compared:
    """One planned comparison."""

    first: JudgedResponse
    second: JudgedResponse
    order: int
    repeat: int

    @property
    def key(self) -> str:
        pair = f"responses-{self.first.response}-{self.second.response}"
        return f"{pair}/repeat-{self.repeat}"


def plan_comparing(comparing: Comparing) -> Plan:
    """The run's requests: each pair of replies by different respondents, in both orders."""
    refuse_reason_dimension(comparing.instrument, comparing.asking)
    planned = {comparison.key: comparison for comparison in _comparisons(comparing)}
    if not planned:
        raise InputError(
            "no situation has replies by two respondents",
            where=comparing.source,
            remedy="Collect the replies of another respondent, or leave out --pairs.",
        )
    requests = [_request(comparing, item) for item in planned.values()]
    setup = comparing.asking.setup(comparing.instrument, comparing.template)
    interpreter = ComparingInterpreter(comparing, planned, setup)
    settings, retries = comparing.settings(), comparing.asking.retries
    return Plan(PROTOCOL, settings, requests, interpreter, retries=retries)


def _comparisons(comparing: Comparing) -> Iterator[_Compared]:
    by_situation: dict[tuple[str, Situation], list[JudgedResponse]] = {}
    for reply in comparing.replies:
        by_situation.setdefault((reply.set, reply.situation), []).append(reply)
    for replies in by_situation.values():
        for first, second in combinations(sorted(replies, key=lambda reply: reply.response), 2):
            if first.respondent != second.respondent:
                for repeat in range(comparing.asking.repeats):
                    yield _Compared(first, second, 0, repeat)
                    yield _Compared(second, first, 1, repeat)


def _options(comparing: Comparing) -> dict[str, Sequence[str]]:
    return {dimension.name: PLACES for dimension in comparing.instrument.dimensions}


def _request(comparing: Comparing, compared: _Compared) -> Request:
    messages = choosing_messages(
        comparing.template,
        comparing.instrument,
        compared.first.situation,
        (compared.first.text, compared.second.text),
        reason=comparing.asking.reason,
    )
    options = _options(comparing)
    return comparing.asking.request(compared.key, messages, options, compared.repeat)


@dataclass(frozen=True, slots=True)
class ComparingInterpreter:
    """Reads answers as choices and stores them as preferences, one for each dimension."""

    comparing: Comparing
    planned: Mapping[str, _Compared]
    setup: str

    def read(self, _request: Request, completion: Completion) -> Reading:
        return self.comparing.asking.read(completion, _options(self.comparing))

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        save_rows(connection, preferences, answered, self._rows)

    def _rows(self, entry: Answered) -> list[dict[str, Any]]:
        compared = self.planned[entry.request.first_key]
        judged: Judged = entry.reading.content
        rows = []
        for dimension in self.comparing.instrument.dimensions:
            shares = judged.shares.get(dimension.name)
            rows.append(
                shared_columns(entry, self.comparing.study, self.setup)
                | {
                    "first_response_id": compared.first.response,
                    "second_response_id": compared.second.response,
                    "dimension": dimension.name,
                    "preferred": judged.answer.chosen.get(dimension.name),
                    "probabilities": shares and shares.probabilities,
                    "entropy": shares and shares.entropy,
                    "mass": shares and shares.mass,
                    "order_index": compared.order,
                    "repeat": compared.repeat,
                }
            )
        return rows
