"""Appraisal: a scale at rest, then after imagining each situation (Huang et al. 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from empathylab.models import Completion, Message, Parameters
from empathylab.protocols.templates import QUESTIONNAIRE, AppraisalTemplate
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.scales import (
    Scale,
    answer_schema,
    describe_range,
    item_order,
    parse_answer,
    render_items,
)
from empathylab.situations import Situation, SituationSet
from empathylab.store import (
    Lab,
    add_item_answers,
    add_respondent,
    add_scale,
    add_situation_set,
    insert_numbered,
    now,
)
from empathylab.store.schema import administrations

Mode = Literal["free", "structured"]


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What an appraisal run is to do."""

    scale: Scale
    situation_set: SituationSet
    situations: tuple[Situation, ...]
    mode: Mode = "structured"
    default_orders: int = 4
    """Administrations at rest, each in another order of the items."""
    orders: int = 1
    """Item orders after each situation."""
    repeats: int = 1
    """Administrations of each order, otherwise identical."""
    temperature: float = 0.0
    seed: int = 1
    template: AppraisalTemplate = QUESTIONNAIRE

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run."""
        return {
            "scale": f"{self.scale.id} (version {self.scale.version})",
            "situations": f"{self.situation_set.id} (version {self.situation_set.version})",
            "situation_ids": [situation.id for situation in self.situations],
            "mode": self.mode,
            "default_orders": self.default_orders,
            "orders": self.orders,
            "repeats": self.repeats,
            "temperature": self.temperature,
            "seed": self.seed,
            "template": dataclasses.asdict(self.template),
        }


@dataclass(frozen=True, slots=True)
class Administering:
    """One planned administration."""

    situation: Situation | None
    order_index: int
    order: tuple[int, ...]
    repeat: int

    @property
    def key(self) -> str:
        where = f"evoked/{self.situation.id}" if self.situation else "default"
        return f"{where}/order-{self.order_index}/repeat-{self.repeat}"


def plan_appraisal(lab: Lab, respondent: str, appraisal: Appraisal) -> Plan:
    """The run's requests, in order: at rest first, then after each situation."""
    appraisal.scale.require_words()
    planned = {entry.key: entry for entry in _administrations(appraisal)}
    with lab.writing() as connection:
        interpreter = AppraisalInterpreter(
            appraisal,
            planned,
            respondent_id=add_respondent(connection, respondent, "model"),
            scale_id=add_scale(connection, appraisal.scale),
            situation_ids=add_situation_set(connection, appraisal.situation_set),
        )
    requests = [_request(appraisal, entry) for entry in planned.values()]
    return Plan("appraise", appraisal.settings(), requests, interpreter)


def _administrations(appraisal: Appraisal) -> list[Administering]:
    targets: list[tuple[Situation | None, int]] = [(None, appraisal.default_orders)]
    targets += [(situation, appraisal.orders) for situation in appraisal.situations]
    return [
        Administering(situation, index, item_order(appraisal.scale, appraisal.seed, index), repeat)
        for situation, orders in targets
        for index in range(orders)
        for repeat in range(appraisal.repeats)
    ]


def _request(appraisal: Appraisal, entry: Administering) -> Request:
    scale, template = appraisal.scale, appraisal.template
    structured = appraisal.mode == "structured"
    question = template.question.format(
        instruction=scale.instruction,
        range=describe_range(scale),
        items=render_items(scale, entry.order),
        reply=template.reply_structured if structured else template.reply_free,
    )
    if entry.situation is not None:
        question = template.imagine.format(situation=entry.situation.text) + question
    system = template.system.format(minimum=scale.minimum, maximum=scale.maximum)
    return Request(
        key=entry.key,
        messages=(Message("system", system), Message("user", question)),
        parameters=Parameters(
            temperature=appraisal.temperature,
            seed=appraisal.seed + entry.repeat,
            max_tokens=100 + 12 * scale.items,
            schema=answer_schema(scale, entry.order) if structured else None,
        ),
        repeat=entry.repeat,
    )


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
            return Reading("refusal", "the endpoint marked the answer as a refusal", {})
        parsed = parse_answer(
            completion.text,
            self.appraisal.scale,
            self.planned[request.key].order,
            structured=self.appraisal.mode == "structured",
        )
        if parsed.outcome != "valid" and completion.finish_reason == "length":
            return Reading("truncated", f"cut off at the token limit; {parsed.reason}", {})
        return Reading(parsed.outcome, parsed.reason, parsed.values)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        rows = [self._row(entry) for entry in answered]
        ids = insert_numbered(connection, administrations, rows)
        add_item_answers(
            connection,
            (
                (number, entry.reading.content)
                for number, entry in zip(ids, answered, strict=True)
                if entry.reading.outcome == "valid"
            ),
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
            "counterpart": False,
            "mode": self.appraisal.mode,
            "order_index": planned.order_index,
            "item_order": list(planned.order),
            "repeat": planned.repeat,
            "outcome": entry.reading.outcome,
            "reason": entry.reading.reason,
            "added_at": now(),
        }
