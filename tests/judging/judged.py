"""Replies to judge, and judges that answer by rule, for the tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from empathylab.judging.instruments import Instrument, JudgedDimension
from empathylab.models import Message, Parameters
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent, add_situation_set, now
from empathylab.store.judged_responses import JudgedResponse, set_responses

DIALOGUES = builtin_set("dialogues")
EMPATHY = JudgedDimension("empathy", "How empathetic?", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
HELP = JudgedDimension("help", "How helpful?", (1.0, 2.0), ("No", "Yes"))
ONE = Instrument("test", "Rate it.", ("situation", "utterance"), (EMPATHY,))
TWO = Instrument("test", "Rate it.", ("situation", "utterance"), (EMPATHY, HELP))


def replied(
    lab: Lab,
    *respondents: str,
    situations: int = 3,
    reply: Callable[[str, str], str] = "{0} said to {1}".format,
) -> tuple[JudgedResponse, ...]:
    """The replies of those respondents to the first situations, added to the lab."""
    with lab.writing() as connection:
        ids = add_situation_set(connection, DIALOGUES)
        for name in respondents:
            number = add_respondent(connection, name, "human" if name == "human" else "model")
            rows = [
                {
                    "situation_id": ids[situation.id],
                    "respondent_id": number,
                    "sample": 0,
                    "text": reply(f"R{number}", situation.id),
                    "outcome": "valid",
                    "added_at": now(),
                }
                for situation in DIALOGUES.situations[:situations]
            ]
            connection.execute(schema.responses.insert(), rows)
    return set_responses(lab, "dialogues")


def points_of(messages: tuple[Message, ...]) -> dict[str, list[str]]:
    """The points by dimension, in the order in which the judge reads them."""
    found = re.findall(r"^(\w+): .*\nPoints: (.*)$", messages[-1].content, re.MULTILINE)
    return {name: json.loads(f"[{points}]") for name, points in found}


def always(chosen: Mapping[str, str]) -> Callable[[tuple[Message, ...], Parameters], str]:
    """A judge that always answers the same."""

    def answer(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
        return json.dumps(dict(chosen))

    return answer


def first_point(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """A judge that takes the point shown first."""
    return json.dumps({name: points[0] for name, points in points_of(messages).items()})
