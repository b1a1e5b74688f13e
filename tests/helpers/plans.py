"""A small protocol for runner tests: numbered questions, stored as responses."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from empathylab.models import Completion, Message, Parameters
from empathylab.runs import Answered, Plan, Reading, Request
from empathylab.situations import builtin_set
from empathylab.store import Lab, add_respondent, add_situation_set, now
from empathylab.store.schema import responses


class Recorder:
    """Stores each answer as a response to one and the same situation."""

    def __init__(self, lab: Lab) -> None:
        with lab.writing() as connection:
            ids = add_situation_set(connection, builtin_set("dialogues"))
            self.situation = next(iter(ids.values()))
            self.respondent = add_respondent(connection, "human", "human")

    def read(self, request: Request, completion: Completion) -> Reading:
        if completion.refusal:
            return Reading("refusal", "declined")
        return Reading("valid") if completion.text.strip() else Reading("empty", "no text")

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        rows = [
            {
                "situation_id": self.situation,
                "respondent_id": self.respondent,
                "answer_id": entry.answer_id,
                "sample": 0,
                "text": entry.completion.text,
                "outcome": entry.reading.outcome,
                "added_at": now(),
            }
            for entry in answered
        ]
        connection.execute(responses.insert(), rows)


def plan_of(
    lab: Lab, questions: Sequence[str], *, temperature: float | None = None, max_tokens: int = 50
) -> Plan:
    """A plan that asks those questions."""
    parameters = Parameters(temperature=temperature, max_tokens=max_tokens)
    requests = [
        Request(f"q{number}", (Message("user", question),), parameters)
        for number, question in enumerate(questions)
    ]
    return Plan("test", {"questions": len(requests)}, requests, Recorder(lab))
