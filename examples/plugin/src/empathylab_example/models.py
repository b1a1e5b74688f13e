"""A model that always gives the same answer: `canned/kind` or `canned/threes`."""

from __future__ import annotations

import json

from empathylab.errors import UnknownName
from empathylab.models import Message, Model, Parameters, RequestOptions, ScriptedModel


def open_canned(name: str, options: RequestOptions | None) -> Model:
    """The model of that name; any object with the methods of `empathylab.models.Model` will do."""
    answers = {"kind": _kind, "threes": _threes}
    wanted = name.removeprefix("canned/")
    if wanted not in answers:
        raise UnknownName("canned model", wanted, answers)
    return ScriptedModel(answers[wanted], name=name)


def _kind(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return "That sounds hard, and I am glad you told me. What do you need most right now?"


def _threes(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """A 3 for every item that the answer's schema names."""
    items = (parameters.schema or {}).get("properties", {})
    return json.dumps(dict.fromkeys(items, 3))
