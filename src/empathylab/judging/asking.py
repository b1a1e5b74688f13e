"""How a judge is asked, the same for single replies and for pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Table

from empathylab.errors import InputError
from empathylab.judging.distributions import PointDistribution, point_distribution
from empathylab.judging.instruments import Instrument
from empathylab.judging.prompts import REASON, JudgeTemplate, answer_schema
from empathylab.judging.reading import ReadAnswer, read_judgement
from empathylab.models import Completion, Message, Parameters
from empathylab.runs import Answered, Reading, Request
from empathylab.store.inserts import hash_of, now
from empathylab.store.judged_responses import JudgedResponse
from empathylab.store.judgements import forget_earlier
from empathylab.store.schema.statements import insert_rows

Mode = Literal["structured", "free", "logprob"]

# As many alternatives per token as OpenAI gives; a scale has at most a dozen points.
_ALTERNATIVES = 20
_TOKENS_FOR_ANSWER, _TOKENS_PER_DIMENSION, _TOKENS_FOR_REASON = 80, 20, 200


@dataclass(frozen=True, slots=True)
class Asking:
    """How a judge is asked."""

    mode: Mode = "structured"
    """`structured`: held to a JSON schema; `free`: asked for JSON only in words; `logprob`:
    structured, with the shares of the points where the endpoint tells them."""
    repeats: int = 1
    """How often each question is asked, otherwise identical."""
    temperature: float = 0.0
    seed: int = 1
    reason: bool = False
    """Whether the judge gives a reason, before it chooses."""
    retries: int = 1
    """How often an answer that cannot be used is asked for again; never at temperature 0."""
    max_tokens: int | None = None
    """Room for an answer, for models that think aloud; None: enough for the answer itself."""

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run; the retries are the plan's."""
        settings = dataclasses.asdict(self)
        del settings["retries"]
        return settings

    def setup(self, instrument: Instrument, template: JudgeTemplate) -> str:
        """A hash of what is asked and how, but not how often: judgements that belong together."""
        settings = self.settings()
        del settings["repeats"], settings["max_tokens"]
        parts = [settings, dataclasses.asdict(instrument), dataclasses.asdict(template)]
        return hash_of(parts)[:24]

    def request(
        self,
        key: str,
        messages: tuple[Message, ...],
        options: Mapping[str, Sequence[str]],
        repeat: int,
    ) -> Request:
        """The request for one choice out of each dimension's options."""
        room = _TOKENS_FOR_ANSWER + _TOKENS_PER_DIMENSION * len(options)
        if self.reason:
            room += _TOKENS_FOR_REASON
        schema = answer_schema(dict(options), reason=self.reason)
        return Request(
            key=key,
            messages=messages,
            parameters=Parameters(
                temperature=self.temperature,
                seed=self.seed + repeat,
                max_tokens=room if self.max_tokens is None else self.max_tokens,
                schema=None if self.mode == "free" else schema,
                top_logprobs=_ALTERNATIVES if self.mode == "logprob" else None,
            ),
            repeat=repeat,
        )

    def read(self, completion: Completion, options: Mapping[str, Sequence[str]]) -> Reading:
        """What the answer chooses, with the shares of the points where they are known."""
        answer = read_judgement(completion, options)
        shares: dict[str, PointDistribution] = {}
        if answer.outcome == "valid" and self.mode == "logprob" and completion.logprobs:
            for name, shown in options.items():
                distribution = point_distribution(completion.logprobs, name, shown)
                if distribution is not None:
                    shares[name] = distribution
        return Reading(answer.outcome, answer.problem, Judged(answer, shares))


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer as read, with the shares of the points by dimension, where they are known."""

    answer: ReadAnswer
    shares: dict[str, PointDistribution]


def refuse_reason_dimension(instrument: Instrument, asking: Asking) -> None:
    """Refuses a dimension whose name the answer needs for the judge's reason."""
    if asking.reason and any(
        dimension.name.casefold() == REASON for dimension in instrument.dimensions
    ):
        raise InputError(
            "a dimension has the same name as the judge's reason",
            where=instrument.id,
            got=REASON,
            remedy="Leave out --reason.",
        )


def run_settings(
    instrument: Instrument,
    replies: Sequence[JudgedResponse],
    source: str,
    asking: Asking,
    template: JudgeTemplate,
) -> dict[str, object]:
    """All that a reader needs to repeat the run; respondents are not named."""
    return {
        "situations": source,
        "situation_ids": list(dict.fromkeys(reply.situation.id for reply in replies)),
        "responses": len(replies),
        "dimensions": [dimension.name for dimension in instrument.dimensions],
        "instrument": instrument.id,
        "instruction": instrument.instruction,
        "shows": list(instrument.shows),
        **asking.settings(),
        "template": dataclasses.asdict(template),
    }


def shared_columns(entry: Answered, study: int | None, setup: str) -> dict[str, Any]:
    """The columns that judgements and preferences share, for a row of the answer."""
    return {
        "answer_id": entry.answer_id,
        "study_id": study,
        "setup": setup,
        "said": entry.reading.content.answer.said,
        "outcome": entry.reading.outcome,
        "reason": entry.reading.reason,
        "added_at": now(),
    }


def save_rows(
    connection: Connection,
    table: Table,
    answered: Sequence[Answered],
    rows_of: Callable[[Answered], list[dict[str, Any]]],
) -> None:
    """Stores the rows of each answer; those of a retry replace those of earlier attempts."""
    for entry in answered:
        if entry.request.retry:
            forget_earlier(connection, table, entry.answer_id, entry.request.earlier_keys)
    insert_rows(connection, table, [row for entry in answered for row in rows_of(entry)])
