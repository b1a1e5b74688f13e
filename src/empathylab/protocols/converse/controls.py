"""Scripted listeners that a simulator should tell apart: an attentive one and a cold one.

A simulator that feels no better with the first than with the second does not react to what is
said, so what it feels with any model means nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.protocols.converse.prompts import prompts_for

ATTENTIVE = "scripted/control-attentive"
COLD = "scripted/control-cold"
CONTROLS = (ATTENTIVE, COLD)


def control_listeners(language: str) -> list[ScriptedModel]:
    """The attentive and the cold listener in that language; English for one that has none."""
    lines = prompts_for(language).controls
    return [
        ScriptedModel(_listener(lines["attentive"]), name=ATTENTIVE),
        ScriptedModel(_listener(lines["cold"]), name=COLD),
    ]


def _listener(lines: list[str]) -> Callable[[tuple[Message, ...], Parameters], str]:
    def reply(messages: tuple[Message, ...], _parameters: Parameters) -> str:
        replies = sum(message.role == "assistant" for message in messages)
        return lines[replies % len(lines)]

    return reply
