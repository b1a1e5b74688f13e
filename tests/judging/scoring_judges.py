"""Judges that score by the rubric, and models that reply, as scripted models."""

from __future__ import annotations

import json
import zlib

from empathylab.judging.rubric import planted_replies
from empathylab.models import Message, Parameters

PANAS = json.dumps({str(n): 1 + n % 4 for n in range(1, 21)})
EXPECTED = {reply.text: reply.expected.scores for reply in planted_replies().replies}


def model(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """Answers scales, and replies with some words of the person's own."""
    if parameters.schema is not None:
        return PANAS
    words = messages[-1].content.split()
    return "I can hear how much this means to you: " + " ".join(words[:12])


def silent(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return ""


def good(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """Knows the planted replies; gives others a 4, and every fifth a 3."""
    text = messages[-1].content
    [dimension] = parameters.schema["properties"]
    planted = next((scores for reply, scores in EXPECTED.items() if reply in text), None)
    score = planted[dimension] if planted else 4 - (len(text) % 5 == 0)
    return json.dumps({dimension: str(int(score))})


def better(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """As a model, but worse by the judge `strict`."""
    return model(messages, parameters) + " Congratulations!"


def strict(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """As `good`, but gives congratulations a 1."""
    text = messages[-1].content
    if "Congratulations!\n</reply>" in text:
        [dimension] = parameters.schema["properties"]
        return json.dumps({dimension: "1"})
    return good(messages, parameters)


def mumbling(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """As `good`, but gives no score of care to every third reply that is not planted."""
    text = messages[-1].content
    planted = any(reply in text for reply in EXPECTED)
    if (
        not planted
        and "care" in parameters.schema["properties"]
        and zlib.crc32(text.encode()) % 3 == 0
    ):
        return "Hard to say."
    return good(messages, parameters)


def flat(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """Gives everything the same score."""
    [dimension] = parameters.schema["properties"]
    return json.dumps({dimension: "4"})


def broken(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return "I would rather not say."
