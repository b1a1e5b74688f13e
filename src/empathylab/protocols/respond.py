"""Responding: a reply to somebody who tells about a situation (Welivita & Pu 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from empathylab.models import Completion, Message, Parameters
from empathylab.protocols.templates import EMPATHIC_LISTENER, ReplyTemplate
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.scales import looks_like_refusal
from empathylab.situations import Situation, SituationSet
from empathylab.store import Lab, add_respondent, add_situation_set, now
from empathylab.store.schema import responses


@dataclass(frozen=True, slots=True)
class Responding:
    """What a responding run is to do."""

    situation_set: SituationSet
    situations: tuple[Situation, ...]
    samples: int = 1
    """Replies to each situation."""
    temperature: float = 0.7
    seed: int = 1
    template: ReplyTemplate = EMPATHIC_LISTENER

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run."""
        return {
            "situations": f"{self.situation_set.id} (version {self.situation_set.version})",
            "situation_ids": [situation.id for situation in self.situations],
            "samples": self.samples,
            "temperature": self.temperature,
            "seed": self.seed,
            "template": dataclasses.asdict(self.template),
        }


def plan_responding(lab: Lab, respondent: str, responding: Responding) -> Plan:
    """The run's requests: each situation, as often as samples are wanted."""
    with lab.writing() as connection:
        respondent_id = add_respondent(connection, respondent, "model")
        situation_ids = add_situation_set(connection, responding.situation_set)
    planned = {
        f"{situation.id}/sample-{sample}": (situation, sample)
        for situation in responding.situations
        for sample in range(responding.samples)
    }
    interpreter = RespondingInterpreter(responding, planned, respondent_id, situation_ids)
    requests = [
        _request(responding, key, situation, sample) for key, (situation, sample) in planned.items()
    ]
    return Plan("respond", responding.settings(), requests, interpreter)


def _request(responding: Responding, key: str, situation: Situation, sample: int) -> Request:
    template = responding.template
    system = template.system.format(words=template.words, most_words=template.most_words)
    user = template.user.format(
        situation=situation.text,
        emotion=situation.emotion,
        utterance=situation.utterance or situation.text,
    )
    return Request(
        key=key,
        messages=(Message("system", system), Message("user", user)),
        parameters=Parameters(
            temperature=responding.temperature,
            seed=responding.seed + sample,
            # English needs about 1.4 tokens a word, so what is cut off was too long anyway.
            max_tokens=3 * template.most_words // 2,
        ),
        repeat=sample,
    )


@dataclass(frozen=True, slots=True)
class RespondingInterpreter:
    """Reads answers as replies and stores them as responses."""

    responding: Responding
    planned: dict[str, tuple[Situation, int]]
    respondent_id: int
    situation_ids: dict[str, int]

    def read(self, request: Request, completion: Completion) -> Reading:
        text = completion.text.strip()
        if completion.refusal or looks_like_refusal(text):
            return Reading("refusal", "the respondent declined to reply", text)
        if completion.finish_reason == "content_filter":
            return Reading("refusal", "the endpoint's content filter stopped the reply", text)
        if not text:
            return Reading("empty", "the reply holds no text", text)
        if completion.finish_reason == "length":
            return Reading("truncated", "cut off at the token limit", text)
        return Reading("valid", None, text)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        connection.execute(responses.insert(), [self._row(entry) for entry in answered])

    def _row(self, entry: Answered) -> dict[str, object]:
        situation, sample = self.planned[entry.request.key]
        template = self.responding.template
        return {
            "situation_id": self.situation_ids[situation.id],
            "respondent_id": self.respondent_id,
            "answer_id": entry.answer_id,
            "sample": sample,
            "prompt": f"{template.id}@{template.version}",
            "text": entry.reading.content,
            "outcome": entry.reading.outcome,
            "reason": entry.reading.reason,
            "added_at": now(),
        }
