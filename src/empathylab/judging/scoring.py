"""Scoring by the rubric: a judge scores replies dimension by dimension, and planted replies too.

The planted replies are in no table of replies, so that no study can show one and no analysis
counts one. What a judge says of them is read from its answers.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Connection, select

from empathylab.judging.asking import Asking, run_settings
from empathylab.judging.reading import read_judgement
from empathylab.judging.rubric import PlantedReplies, ScoredReply, planted_replies, rubric
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import Completion
from empathylab.runs import Answered, Interpreter, Plan, Reading, Request
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import JudgedResponse
from empathylab.store.judgements import RUBRIC

PLANTED = "planted"
"""The protocol of runs in which a judge scores the planted replies."""


def scoring_source(run: int) -> str:
    """What a judge's run over the replies of that run is called."""
    return f"replies of run {run}"


def planted_source() -> str:
    """The same for its run over the planted replies."""
    planted = planted_replies()
    return f"{planted.id}@{planted.version}"


def plan_scoring(replies: Sequence[JudgedResponse], source: str, asking: Asking) -> Plan:
    """One request for each reply and dimension of the rubric."""
    return _plan(RUBRIC, tuple(replies), source, asking, stored=True)


def plan_planted(asking: Asking, planted: PlantedReplies | None = None) -> Plan:
    """The same requests for the planted replies."""
    planted = planted or planted_replies()
    known = {item.id: item for item in builtin_set(planted.situation_set)}
    name = builtin_set(planted.situation_set).id
    replies = tuple(
        JudgedResponse(number, PLANTED, known[reply.situation], name, reply.text)
        for number, reply in enumerate(planted.replies)
    )
    return _plan(PLANTED, replies, planted_source(), asking, stored=False)


def planted_sample(situations: int | None) -> PlantedReplies:
    """The planted replies to the first so many situations; to all where none is given."""
    names = dict.fromkeys(reply.situation for reply in planted_replies().replies)
    return planted_to(list(names)[:situations])


def planted_to(situations: Collection[str]) -> PlantedReplies:
    """The planted replies to those situations."""
    planted = planted_replies()
    kept = tuple(reply for reply in planted.replies if reply.situation in situations)
    return dataclasses.replace(planted, replies=kept)


def planted_scores(lab: Lab, judge: str) -> tuple[PlantedReplies, list[ScoredReply]] | None:
    """The planted replies that a judge was last asked about, and its scores of them.

    A reply without a score on every dimension is missing. None where the judge was not asked.
    """
    runs, respondents = schema.runs, schema.respondents
    query = (
        select(runs.c.id, runs.c.settings)
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .where(runs.c.protocol == PLANTED, respondents.c.name == judge)
        .order_by(runs.c.last_used_at.desc().nulls_last(), runs.c.id.desc())
    )
    source = planted_source()
    with lab.reading() as connection:
        known = [row for row in connection.execute(query) if row.settings["situations"] == source]
        if not known:
            return None
        answers = schema.answers
        sent = select(answers.c.key, answers.c.text).where(
            answers.c.run_id == known[0].id, answers.c.outcome == "valid"
        )
        rows = [(row.key, row.text) for row in connection.execute(sent)]
    planted = planted_to(known[0].settings["situation_ids"])
    return planted, _scored(planted, rows)


def _scored(planted: PlantedReplies, rows: Sequence[tuple[str, str]]) -> list[ScoredReply]:
    options = {
        dimension.name: {
            dimension.name: [str(point) for point, _ in enumerate(dimension.points, start=1)]
        }
        for dimension in rubric().dimensions
    }
    scores: dict[tuple[int, int], dict[str, float]] = {}
    for key, text in rows:
        dimension, response, _, repeat, *_ = key.split("/")
        chosen = read_judgement(Completion(text), options[dimension]).chosen.get(dimension)
        if chosen is not None:
            place = (int(response.removeprefix("response-")), int(repeat.removeprefix("repeat-")))
            scores.setdefault(place, {})[dimension] = float(chosen)
    return [
        ScoredReply(
            planted.replies[number].situation,
            planted.replies[number].kind,
            repeat,
            rubric().profile(marks),
        )
        for (number, repeat), marks in sorted(scores.items())
        if len(marks) == len(rubric().names)
    ]


def _plan(
    protocol: str,
    replies: tuple[JudgedResponse, ...],
    source: str,
    asking: Asking,
    *,
    stored: bool,
) -> Plan:
    parts = {
        instrument.dimensions[0].name: Judging(
            instrument,
            replies,
            source,
            asking=asking,
            key_prefix=f"{instrument.dimensions[0].name}/",
        )
        for instrument in rubric().instruments()
    }
    plans = {name: plan_judging(judging) for name, judging in parts.items()}
    first = next(iter(parts.values()))
    settings = run_settings(first.instrument, replies, source, asking, first.template) | {
        "instrument": f"{rubric().id}@{rubric().version}",
        "dimensions": list(parts),
    }
    interpreters = {name: plan.interpreter for name, plan in plans.items()}
    return Plan(
        protocol,
        json.loads(json.dumps(settings)),
        [request for plan in plans.values() for request in plan.requests],
        _ByDimension(interpreters, stored=stored),
        retries=asking.retries,
    )


@dataclass(frozen=True, slots=True)
class _ByDimension:
    """Reads each answer as that to its dimension."""

    interpreters: Mapping[str, Interpreter]
    stored: bool
    """Whether judgements are stored, beside the answers."""

    def read(self, request: Request, completion: Completion) -> Reading:
        return self.interpreters[_dimension(request)].read(request, completion)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        if not self.stored:
            return
        ordered = sorted(answered, key=lambda entry: _dimension(entry.request))
        for name, entries in groupby(ordered, key=lambda entry: _dimension(entry.request)):
            self.interpreters[name].record(connection, list(entries))


def _dimension(request: Request) -> str:
    return request.key.partition("/")[0]
