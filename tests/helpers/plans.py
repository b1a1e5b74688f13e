"""A small protocol for runner tests: numbered questions, stored as responses."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from empathylab.models import Completion, Message, Parameters
from empathylab.runs import Answered, Plan, Reading, Request, Thread
from empathylab.situations import builtin_set
from empathylab.store import Lab
from empathylab.store.inserts import add_respondent, add_situation_set, hash_of, now
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


def chains_of(lab: Lab, chains: int, length: int, *, temperature: float | None = None) -> Plan:
    """A plan of chains: each question but the first quotes the answer before it."""
    parameters = Parameters(temperature=temperature, max_tokens=50)

    def question(chain: int, step: int, said: str) -> Request:
        text = f"chain {chain} step {step} after {hash_of(said)[:8]}"
        # Every second question goes to the partner, as in a conversation of two models.
        partner = "other" if step % 2 else None
        key = f"c{chain}/s{step}"
        return Request(key, (Message("user", text),), parameters, partner=partner)

    def follow_up(thread: Thread) -> list[Request]:
        last = thread[-1]
        chain, step = int(last.request.first_key[1:].split("/")[0]), len(thread)
        heard = " ".join(exchange.completion.text for exchange in thread)
        return [] if step == length else [question(chain, step, heard)]

    first = [question(chain, 0, "nothing") for chain in range(chains)]
    settings = {"chains": chains, "length": length}
    return Plan("test", settings, first, Recorder(lab), follow_up=follow_up)
