"""Scripted sides of conversations: rule-based people, listeners, faulty simulators."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from empathylab.models import Message, Parameters
from empathylab.protocols.converse.persona import EndRule, Persona

KIND = "That sounds hard, and I can hear how much it weighs on you. What hurts most about it?"
COLD = "Everybody has problems. You should simply get over it."


def persona(number: int = 0, **given: object) -> Persona:
    """A person who wants to be heard; each number has a story of its own."""
    fields: dict[str, object] = {
        "id": f"p{number}",
        "collection": "test",
        "language": "en",
        "name": f"Person {number}",
        "emotion": "sadness",
        "need": "be heard",
        "story": f"The cat of person {number} ran away {number} days ago.",
        "opening": f"My cat left me {number} days ago and I miss it a lot.",
        "start": {"feeling": 40, "heard": 30, "trust": 40},
        "end": EndRule(success_at=90, failure_below=10, exchanges=6),
    }
    return Persona.model_validate(fields | given)


def listener(text: str) -> Callable[[tuple[Message, ...], Parameters], str]:
    """A respondent that always says the same, numbered so that no two replies are equal."""

    def reply(messages: tuple[Message, ...], _parameters: Parameters) -> str:
        return f"{text} ({len(messages)})"

    return reply


def rule_based_person(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """A simulator by rule: warmth adds 15 points, coldness takes 15, all else changes nothing."""
    asked = messages[-1].content
    reply = asked.split("They: ")[-1]
    if parameters.schema is None:
        count = asked.count("They: ")
        details = ["the bowl", "its toys", "the old blanket", "the garden", "the door", "the night"]
        return f"It is about {details[count % 6]}, day {count}, I keep looking at it and wonder."
    felt = {name: float(value) for name, value in re.findall(r"(\w+) (\d+)", _before(asked))}
    change = 15 if "I can hear" in reply else -15 if "get over it" in reply else 0
    feelings = {name: int(min(100, max(0, value + change))) for name, value in felt.items()}
    answer: dict[str, object] = {"noticed": f"They said: {reply[:40]}", **feelings}
    for key, value in parameters.schema["properties"].items():
        if key not in answer:
            answer[key] = "partly" if key == "need_met" else value["enum"][0]
    return json.dumps(answer)


def _before(asked: str) -> str:
    return asked.split("you felt: ")[1].split(".")[0]


def faulty(message: str) -> Callable[[tuple[Message, ...], Parameters], str]:
    """A person by rule, whose second message is that one."""

    def simulate(messages: tuple[Message, ...], parameters: Parameters) -> str:
        if parameters.schema is None and messages[-1].content.count("They: ") == 2:
            return message
        return rule_based_person(messages, parameters)

    return simulate


kind_listener = listener(KIND)
cold_listener = listener(COLD)
