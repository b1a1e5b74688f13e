"""Appraisal: a scale at baseline, then after imagining each situation (Huang et al. 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.models import Completion, Message, Parameters
from empathylab.protocols.templates import QUESTIONNAIRE, AppraisalTemplate, range_text
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.scales import (
    Scale,
    answer_distributions,
    answer_schema,
    item_order,
    parse_answer,
    render_items,
    scale_to_dict,
)
from empathylab.situations import Situation, SituationSet
from empathylab.store import Lab
from empathylab.store.inserts import (
    add_item_answers,
    add_respondent,
    add_scale,
    add_situation_set,
    hash_of,
    insert_returning_ids,
    now,
)
from empathylab.store.schema import administrations

Mode = Literal["free", "structured", "logprob"]

# As many alternatives per token as OpenAI gives; a scale has at most a dozen answers.
_ALTERNATIVES = 20


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What an appraisal run is to do."""

    scale: Scale
    situation_set: SituationSet
    situations: tuple[Situation, ...]
    mode: Mode = "structured"
    default_orders: int = 4
    """Administrations at baseline, each in another order of the items."""
    orders: int = 1
    """Item orders after each situation."""
    repeats: int = 1
    """Administrations of each order, otherwise identical."""
    temperature: float = 0.0
    seed: int = 1
    counterparts: bool = False
    """Whether each situation is also given in its positive counterpart."""
    stable: bool = False
    """Whether the respondent is told to stay calm."""
    template: AppraisalTemplate = QUESTIONNAIRE

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run."""
        return {
            "scale": f"{self.scale.id} (version {self.scale.version})",
            "scale_fingerprint": hash_of(scale_to_dict(self.scale)),
            "situations": f"{self.situation_set.id} (version {self.situation_set.version})",
            "situation_ids": [situation.id for situation in self.situations],
            "mode": self.mode,
            "default_orders": self.default_orders,
            "orders": self.orders,
            "repeats": self.repeats,
            "temperature": self.temperature,
            "seed": self.seed,
            "counterparts": self.counterparts,
            "stable": self.stable,
            "template": dataclasses.asdict(self.template),
        }


@dataclass(frozen=True, slots=True)
class Administering:
    """One planned administration."""

    situation: Situation | None
    order_index: int
    order: tuple[int, ...]
    repeat: int
    counterpart: bool = False

    @property
    def key(self) -> str:
        phase = "counterpart" if self.counterpart else "evoked"
        where = f"{phase}/{self.situation.id}" if self.situation else "default"
        return f"{where}/order-{self.order_index}/repeat-{self.repeat}"


def plan_appraisal(lab: Lab, respondent: str, appraisal: Appraisal) -> Plan:
    """The run's requests, in order: at baseline first, then after each situation."""
    appraisal.scale.require_words()
    if appraisal.counterparts and not any(
        situation.counterpart for situation in appraisal.situations
    ):
        raise InputError(
            "none of the situations has a counterpart",
            where=f"situation set {appraisal.situation_set.id}",
            remedy="Leave out --counterparts, or add a 'counterpart' to the situations.",
        )
    planned = {entry.key: entry for entry in planned_administrations(appraisal)}
    with lab.writing() as connection:
        interpreter = AppraisalInterpreter(
            appraisal,
            planned,
            respondent_id=add_respondent(connection, respondent, "model"),
            scale_id=add_scale(connection, appraisal.scale),
            situation_ids=add_situation_set(connection, appraisal.situation_set),
        )
    return Plan("appraise", appraisal.settings(), appraisal_requests(appraisal), interpreter)


def appraisal_requests(appraisal: Appraisal) -> list[Request]:
    """The requests of the planned administrations, in their order."""
    return [_request(appraisal, entry) for entry in planned_administrations(appraisal)]


def planned_administrations(appraisal: Appraisal) -> list[Administering]:
    """At baseline first, then after each situation."""
    targets: list[tuple[Situation | None, int, bool]] = [(None, appraisal.default_orders, False)]
    for situation in appraisal.situations:
        targets.append((situation, appraisal.orders, False))
        if appraisal.counterparts and situation.counterpart:
            targets.append((situation, appraisal.orders, True))
    return [
        Administering(
            situation,
            index,
            item_order(appraisal.scale, appraisal.seed, index),
            repeat,
            counterpart,
        )
        for situation, orders, counterpart in targets
        for index in range(orders)
        for repeat in range(appraisal.repeats)
    ]


def _request(appraisal: Appraisal, entry: Administering) -> Request:
    scale, template = appraisal.scale, appraisal.template
    structured = appraisal.mode != "free"
    question = template.question.format(
        instruction=scale.instruction,
        range=range_text(scale, template),
        items=render_items(scale, entry.order),
        reply=template.reply_structured if structured else template.reply_free,
    )
    if entry.situation is not None:
        story = entry.situation.counterpart if entry.counterpart else entry.situation.text
        question = template.imagine.format(situation=story) + question
    system = template.system.format(minimum=scale.minimum, maximum=scale.maximum)
    if appraisal.stable:
        system = f"{system} {template.stability}".strip()
    return Request(
        key=entry.key,
        messages=(Message("system", system), Message("user", question)),
        parameters=Parameters(
            temperature=appraisal.temperature,
            seed=appraisal.seed + entry.repeat,
            max_tokens=answer_tokens(scale),
            schema=answer_schema(scale, entry.order) if structured else None,
            top_logprobs=_ALTERNATIVES if appraisal.mode == "logprob" else None,
        ),
        repeat=entry.repeat,
    )


def answer_tokens(scale: Scale) -> int:
    """Enough tokens for an answer to every item."""
    return 100 + 12 * scale.items


@dataclass(frozen=True, slots=True)
class ItemAnswers:
    """The answers to a scale's items, and how undecided they were where that is known."""

    values: dict[int, float]
    entropies: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AppraisalInterpreter:
    """Reads answers as item answers and stores them as administrations."""

    appraisal: Appraisal
    planned: dict[str, Administering]
    respondent_id: int
    scale_id: int
    situation_ids: dict[str, int]

    def read(self, request: Request, completion: Completion) -> Reading:
        if completion.refusal:
            return Reading("refusal", "the endpoint marked the answer as a refusal")
        if completion.finish_reason == "content_filter":
            return Reading("refusal", "the endpoint's content filter stopped the answer")
        scale, order = self.appraisal.scale, self.planned[request.key].order
        structured = self.appraisal.mode != "free"
        parsed = parse_answer(completion.text, scale, order, structured=structured)
        if structured and parsed.outcome == "unparseable":
            # Endpoints that do not enforce the schema put words around the JSON.
            parsed = parse_answer(completion.text, scale, order)
        if parsed.outcome != "valid" and completion.finish_reason == "length":
            return Reading("truncated", f"cut off at the token limit; {parsed.reason}")
        if parsed.outcome != "valid":
            return Reading(parsed.outcome, parsed.reason)
        if self.appraisal.mode == "logprob":
            return self._weigh(completion, order)
        return Reading("valid", None, ItemAnswers(dict(parsed.values)))

    def _weigh(self, completion: Completion, order: Sequence[int]) -> Reading:
        """The expected answers, from what the model weighed at the place of each."""
        if not completion.logprobs:
            return Reading("no_logprobs", "the endpoint gave no log-probabilities")
        tokens = [entry.weighed for entry in completion.logprobs]
        distributions = answer_distributions(tokens, self.appraisal.scale, order)
        missing = sorted(set(order) - set(distributions))
        if missing:
            listed = ", ".join(map(str, missing))
            return Reading("no_logprobs", f"no possible answer was weighed for the items {listed}")
        answers = ItemAnswers(
            {item: distribution.expected for item, distribution in distributions.items()},
            {item: distribution.entropy for item, distribution in distributions.items()},
        )
        return Reading("valid", None, answers)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        rows = [self._row(entry) for entry in answered]
        ids = insert_returning_ids(connection, administrations, rows)
        valid: list[tuple[int, ItemAnswers]] = [
            (number, entry.reading.content)
            for number, entry in zip(ids, answered, strict=True)
            if entry.reading.outcome == "valid"
        ]
        add_item_answers(
            connection,
            [(number, items.values) for number, items in valid],
            {number: items.entropies for number, items in valid},
        )

    def _row(self, entry: Answered) -> dict[str, object]:
        planned = self.planned[entry.request.key]
        situation = planned.situation
        return {
            "respondent_id": self.respondent_id,
            "scale_id": self.scale_id,
            "situation_id": situation and self.situation_ids[situation.id],
            "answer_id": entry.answer_id,
            "phase": "evoked" if situation else "default",
            "counterpart": planned.counterpart,
            "mode": self.appraisal.mode,
            "order_index": planned.order_index,
            "item_order": list(planned.order),
            "repeat": planned.repeat,
            "outcome": entry.reading.outcome,
            "reason": entry.reading.reason,
            "added_at": now(),
        }
