"""Sets of situations as TOML files; `parse_set` reads them back."""

from __future__ import annotations

import json
from collections.abc import Iterator

from empathylab.situations.sets import Situation, SituationSet

_HEAD = ("id", "version", "title", "language", "licence", "validated", "description")
_FIELDS = ("id", "topic", "emotion", "factor", "valence", "title", "text", "utterance")


def set_to_toml(chosen: SituationSet) -> str:
    """The set as a TOML text, norms included."""
    head = [f"{name} = {_value(getattr(chosen, name))}" for name in _HEAD]
    return "\n".join([*head, *("\n".join(_lines(item)) for item in chosen)]) + "\n"


def _lines(situation: Situation) -> Iterator[str]:
    yield "\n[[situations]]"
    for name in (*_FIELDS, "counterpart", "context", "tags"):
        if value := getattr(situation, name):
            yield f"{name} = {_value(value)}"
    if situation.norms:
        yield "[situations.norms]"
        for name, number in situation.norms.items():
            yield f"{name} = {number!r}"


def _value(value: object) -> str:
    # Strings, numbers, booleans and lists of strings are written in TOML as in JSON, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
