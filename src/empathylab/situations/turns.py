"""Ids of situations that are turns of the same conversation."""

from __future__ import annotations

import re

_TURN = re.compile(r"(.+)-turn-(\d+)")


def turn_id(conversation: str, turn: int) -> str:
    """The id of a turn of a conversation."""
    return f"{conversation}-turn-{turn}"


def conversation_and_turn(situation: str) -> tuple[str, int]:
    """The conversation that a situation is a turn of, and which; other situations are alone."""
    parts = _TURN.fullmatch(situation)
    return (parts[1], int(parts[2])) if parts else (situation, 0)
