"""Responding: a reply to someone who tells about a situation (Welivita & Pu 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from empathylab.errors import InputError
from empathylab.models import Completion, Message, Parameters
from empathylab.protocols.reply_checks import (
    CHECKS_VERSION,
    CHECKS_VERSION_ELSEWHERE,
    TOLERANCE,
    Expected,
    check_reply,
)
from empathylab.protocols.reply_templates import EMPATHIC_LISTENER, PEER_SUPPORTER, ReplyTemplate
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.situations import Situation, SituationSet
from empathylab.store import Lab, responses_frame
from empathylab.store.inserts import add_respondent, add_situation_set, now
from empathylab.store.schema import answers, responses
from empathylab.store.schema.statements import insert_rows
from empathylab.words import count_words

# English needs about 1.4 tokens a word, other languages more with the same tokenisers.
_TOKENS_PER_WORD = 1.4
_TOKENS_PER_WORD_ELSEWHERE = 3.0


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
    """With the lengths to ask for: see `ReplyTemplate.with_lengths`."""
    retries: int = 1
    """How often a reply that fails a check is asked for again."""

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run; the retries are the plan's."""
        return {
            "situations": f"{self.situation_set.id} (version {self.situation_set.version})",
            "situation_ids": [situation.id for situation in self.situations],
            "samples": self.samples,
            "temperature": self.temperature,
            "seed": self.seed,
            "template": dataclasses.asdict(self.template),
            "sees": list(self.template.sees),
            "checks": CHECKS_VERSION if self._in_english else CHECKS_VERSION_ELSEWHERE,
        }

    @property
    def _in_english(self) -> bool:
        return self.situation_set.language.lower().startswith("en")

    @property
    def max_tokens(self) -> int:
        """Enough for the longest reply that may still be rated: what is cut off was too long."""
        each = _TOKENS_PER_WORD if self._in_english else _TOKENS_PER_WORD_ELSEWHERE
        return int(TOLERANCE * each * self.template.most_words) + 8


def usual_template(situation_set: SituationSet) -> ReplyTemplate:
    """The template for that set if the user names none: posts are answered by a peer."""
    return PEER_SUPPORTER if situation_set.grouped_by == "topic" else EMPATHIC_LISTENER


def human_lengths(lab: Lab, situation_set: SituationSet) -> tuple[int, int]:
    """The mean (to the nearest word) and the maximum length of people's replies to the set."""
    frame = responses_frame(lab).filter(kind="human", set=situation_set.id, outcome="valid")
    words = [length for text in frame["text"] if (length := count_words(text))]
    if not words:
        raise InputError(
            "the lab has no replies by people to this set",
            where="--words human",
            got=situation_set.id,
            remedy="Import them first, or give a number.",
        )
    return int(sum(words) / len(words) + 0.5), max(words)


def plan_responding(lab: Lab, respondent: str, responding: Responding) -> Plan:
    """The run's requests: each situation, as often as samples are wanted."""
    planned = planned_replies(responding)
    with lab.writing() as connection:
        respondent_id = add_respondent(connection, respondent, "model")
        situation_ids = add_situation_set(connection, responding.situation_set)
    interpreter = RespondingInterpreter(responding, planned, respondent_id, situation_ids)
    requests = reply_requests(responding)
    return Plan("respond", responding.settings(), requests, interpreter, retries=responding.retries)


def planned_replies(responding: Responding) -> dict[str, tuple[Situation, int]]:
    """By the request's key, the situation and the number of the reply to it."""
    return {
        f"{situation.id}/sample-{sample}": (situation, sample)
        for situation in responding.situations
        for sample in range(responding.samples)
    }


def reply_requests(responding: Responding) -> list[Request]:
    """The requests for the planned replies, in their order."""
    return [
        _request(responding, key, situation, sample)
        for key, (situation, sample) in planned_replies(responding).items()
    ]


def _request(responding: Responding, key: str, situation: Situation, sample: int) -> Request:
    template = responding.template
    system = Message("system", _system(template, situation))
    return Request(
        key=key,
        messages=(system, *_conversation(template, situation)),
        parameters=Parameters(
            temperature=responding.temperature,
            seed=responding.seed + sample,
            max_tokens=responding.max_tokens,
        ),
        repeat=sample,
    )


def _system(template: ReplyTemplate, situation: Situation) -> str:
    paragraphs = template.system.split("\n\n")
    if situation.utterance is None:
        # The situation itself is what the person says.
        paragraphs = [paragraph for paragraph in paragraphs if "{situation}" not in paragraph]
    return "\n\n".join(paragraphs).format(
        words=template.words,
        least_words=template.least_words,
        most_words=template.most_words,
        situation=situation.text,
    )


def _conversation(template: ReplyTemplate, situation: Situation) -> tuple[Message, ...]:
    """What was said before, the person as user and the listener as assistant, then the utterance.

    A person who spoke twice in a row is one message: chat endpoints want the roles to alternate.
    """
    if situation.emotion is None and "{emotion}" in template.user:
        raise InputError(
            f"the template {template.id!r} uses {{emotion}}, but the situation names none",
            where=f"situation {situation.id}",
            remedy="Use another template, or add the emotion to the set.",
        )
    message = template.user.format(
        situation=situation.text,
        emotion=situation.emotion,
        utterance=situation.utterance or situation.text,
        title=situation.title or "",
    ).strip()
    before = list(situation.context)
    if len(before) % 2:
        message = f"{before.pop()}\n{message}"
    turns = [
        Message("assistant" if place % 2 else "user", turn) for place, turn in enumerate(before)
    ]
    return (*turns, Message("user", message))


@dataclass(frozen=True, slots=True)
class RespondingInterpreter:
    """Reads answers as replies and stores them as responses, one to each situation and sample."""

    responding: Responding
    planned: dict[str, tuple[Situation, int]]
    respondent_id: int
    situation_ids: dict[str, int]

    def read(self, request: Request, completion: Completion) -> Reading:
        text = completion.text.strip()
        if completion.refusal:
            reply = text or completion.refusal.strip()
            return Reading("refusal", "the endpoint marked the reply as a refusal", reply)
        if completion.finish_reason == "content_filter":
            return Reading("refusal", "the endpoint's content filter stopped the reply", text)
        template = self.responding.template
        expected = Expected(
            prompt=tuple(message.content for message in request.messages),
            least_words=template.least_words,
            most_words=template.most_words,
            language=self.responding.situation_set.language,
        )
        verdict = check_reply(text, expected, cut_off=completion.finish_reason == "length")
        return Reading(verdict.outcome, verdict.reason, text)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        """A retry takes the place of the response before it, whose answer stays in the lab."""
        firsts = [self._row(entry) for entry in answered if not entry.request.retry]
        insert_rows(connection, responses, firsts)
        for entry in answered:
            if entry.request.retry:
                self._replace(connection, entry)

    def _replace(self, connection: Connection, entry: Answered) -> None:
        own_run = select(answers.c.run_id).where(answers.c.id == entry.answer_id)
        earlier = select(answers.c.id).where(
            answers.c.run_id == own_run.scalar_subquery(),
            answers.c.key.in_(entry.request.earlier_keys),
        )
        change = responses.update().where(responses.c.answer_id.in_(earlier))
        connection.execute(change.values(**self._row(entry)))

    def _row(self, entry: Answered) -> dict[str, object]:
        situation, sample = self.planned[entry.request.first_key]
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
