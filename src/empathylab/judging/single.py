"""Rating: a judge rates one reply at a time, as a person does, and does not know who wrote it.

Replies to the same situation are not shown together: studies tell raters to rate each for itself,
and a judge has no memory of the one before. What a direct comparison says is asked for in pairs
(see `compare`). The order of the dimensions and the direction of the points change from reply to
reply, by a hash of its words: so they are balanced, do not tell the respondent, and stay the same
whichever other replies are judged along with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from empathylab.judging.asking import (
    Asking,
    Judged,
    refuse_reason_dimension,
    run_settings,
    save_rows,
    shared_columns,
)
from empathylab.judging.instruments import Instrument, JudgedDimension
from empathylab.judging.prompts import RATER, JudgeTemplate, rating_messages
from empathylab.models import Completion
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.store.judged_responses import JudgedResponse
from empathylab.store.schema import judgements

PROTOCOL = "judge"


@dataclass(frozen=True, slots=True)
class Judging:
    """What a judge is to rate, and how."""

    instrument: Instrument
    replies: tuple[JudgedResponse, ...]
    source: str
    """`study NAME` or `set NAME`."""
    study: int | None = None
    """The study's id in the lab."""
    asking: Asking = field(default_factory=Asking)
    orders: int = 1
    """In how many orders of dimensions and points each reply is rated."""
    template: JudgeTemplate = RATER
    key_prefix: str = ""
    """What the keys of the requests begin with, where plans are joined."""

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run."""
        settings = run_settings(
            self.instrument, self.replies, self.source, self.asking, self.template
        )
        return settings | {"orders": self.orders}


@dataclass(frozen=True, slots=True)
class _Rated:
    """One planned rating."""

    reply: JudgedResponse
    order: int
    repeat: int
    dimensions: tuple[JudgedDimension, ...]
    """In the order in which they are asked."""
    turned: bool
    prefix: str = ""

    @property
    def key(self) -> str:
        return (
            f"{self.prefix}response-{self.reply.response}/order-{self.order}/repeat-{self.repeat}"
        )

    @property
    def options(self) -> dict[str, Sequence[str]]:
        """The points by dimension, as they are shown."""
        return {
            dimension.name: dimension.labels[::-1] if self.turned else dimension.labels
            for dimension in self.dimensions
        }


def plan_judging(judging: Judging) -> Plan:
    """The run's requests: each reply, in as many orders and as often as is wanted."""
    refuse_reason_dimension(judging.instrument, judging.asking)
    planned = {rating.key: rating for rating in _ratings(judging)}
    requests = [_request(judging, item) for item in planned.values()]
    setup = judging.asking.setup(judging.instrument, judging.template)
    interpreter = JudgingInterpreter(judging, planned, setup)
    settings, retries = judging.settings(), judging.asking.retries
    return Plan(PROTOCOL, settings, requests, interpreter, retries=retries)


def _ratings(judging: Judging) -> list[_Rated]:
    return [
        _Rated(reply, order, repeat, *_shown_order(judging, reply, order), judging.key_prefix)
        for reply in judging.replies
        for order in range(judging.orders)
        for repeat in range(judging.asking.repeats)
    ]


def _shown_order(
    judging: Judging, reply: JudgedResponse, order: int
) -> tuple[tuple[JudgedDimension, ...], bool]:
    """The dimensions as they are asked, and whether the points are turned.

    The first order of a reply is drawn; the next ones turn the points each time and move the
    dimensions round every second time, until all have been used.
    """
    dimensions = judging.instrument.dimensions
    identity = f"{judging.asking.seed}\0{reply.set}\0{reply.situation.id}\0{reply.text}"
    drawn = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8])
    number = (drawn + order) % (2 * len(dimensions))
    first = number // 2
    return (*dimensions[first:], *dimensions[:first]), bool(number % 2)


def _request(judging: Judging, rated: _Rated) -> Request:
    messages = rating_messages(
        judging.template,
        judging.instrument,
        rated.dimensions,
        rated.reply.situation,
        rated.reply.text,
        turned=rated.turned,
        reason=judging.asking.reason,
    )
    return judging.asking.request(rated.key, messages, rated.options, rated.repeat)


@dataclass(frozen=True, slots=True)
class JudgingInterpreter:
    """Reads answers as points and stores them as judgements, one for each dimension."""

    judging: Judging
    planned: Mapping[str, _Rated]
    setup: str

    def read(self, request: Request, completion: Completion) -> Reading:
        rated = self.planned[request.first_key]
        return self.judging.asking.read(completion, rated.options)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        save_rows(connection, judgements, answered, self._rows)

    def _rows(self, entry: Answered) -> list[dict[str, Any]]:
        rated = self.planned[entry.request.first_key]
        judged: Judged = entry.reading.content
        return [
            shared_columns(entry, self.judging.study, self.setup)
            | _values(dimension, judged)
            | {
                "response_id": rated.reply.response,
                "dimension": dimension.name,
                "order_index": rated.order,
                "turned": rated.turned,
                "position": position,
                "repeat": rated.repeat,
            }
            for position, dimension in enumerate(rated.dimensions, start=1)
        ]


def _values(dimension: JudgedDimension, judged: Judged) -> dict[str, Any]:
    chosen = judged.answer.chosen.get(dimension.name)
    shares = judged.shares.get(dimension.name)
    known = {label: dimension.value_of(label) for label in dimension.labels}
    return {
        "value": None if chosen is None else known[chosen],
        "label": chosen,
        "probabilities": shares
        and {label: shares.probabilities[label] for label in dimension.labels},
        "expected": shares and shares.expected(known),
        "entropy": shares and shares.entropy,
        "mass": shares and shares.mass,
    }
