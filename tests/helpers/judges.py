"""Scripted judges, used by name: `scripted/tests.helpers.judges:by_length`."""

from __future__ import annotations

import json

from empathylab.models import Message, Parameters


def by_length(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """A point for each dimension, which depends on the letters of the prompt alone."""
    assert parameters.schema is not None
    asked = sum(len(message.content) for message in messages)
    points = parameters.schema["properties"]
    return json.dumps({name: one["enum"][asked % len(one["enum"])] for name, one in points.items()})
