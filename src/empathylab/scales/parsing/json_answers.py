"""Answers given as JSON: an object from items to values, a list of values, or a list of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from empathylab.scales.parsing.labels import label_at
from empathylab.scales.parsing.lines import Reading, Run
from empathylab.scales.parsing.statements import Statement, mismatch
from empathylab.scales.parsing.tokens import Lexicon, Token, kind_at
from empathylab.scales.parsing.values import Value, bare_values, outside

_MOST_FAILURES, _MOST_PIECES = 50, 300
"""Brackets that open no JSON, and pieces of JSON, after which the rest is taken for prose."""
_MOST_WRAPPERS = 3
_LARGE = 1_000_000
_ITEM_KEYS = frozenset(
    {"item", "id", "number", "position", "question", "statement", "emotion", "word", "name"}
)
_ANSWER_KEYS = frozenset({"answer", "score", "rating", "value", "response"})


class Members(list[tuple[str, object]]):
    """A JSON object as its members, so that a key given twice is seen twice."""


class Found(NamedTuple):
    """A piece of JSON in a text."""

    content: object
    start: int
    end: int


_DECODER = json.JSONDecoder(object_pairs_hook=Members)
_OPENING = re.compile(r"[{\[]")


def parse_json(text: str) -> object:
    """What the JSON text holds, objects as their members; ValueError if it is none."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def json_object_in(text: str) -> dict[str, Any] | None:
    """The one JSON object that the text holds, with words around it or not; None without one.

    Endpoints that do not enforce a schema put words around the JSON.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        content = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def find_json(text: str) -> Iterator[Found]:
    """The JSON objects and lists in the text, outermost ones only."""
    failures = pieces = 0
    match = _OPENING.search(text)
    while match and failures < _MOST_FAILURES and pieces < _MOST_PIECES:
        end = match.end()
        try:
            content, end = _DECODER.raw_decode(text, match.start())
            pieces += 1
            yield Found(content, match.start(), end)
        except (ValueError, RecursionError):
            failures += 1
        match = _OPENING.search(text, end)


def read_json_answer(content: object, lexicon: Lexicon) -> Reading:
    """What the JSON says of the items; an empty reading if it speaks of something else."""
    reading = Reading()
    for _ in range(_MOST_WRAPPERS):
        content = _unwrapped(content, lexicon)
    if isinstance(content, Members):
        _read_members(_as_member(content), lexicon, reading)
    elif isinstance(content, list):
        _read_list(content, lexicon, reading)
    return reading


def _unwrapped(content: object, lexicon: Lexicon) -> object:
    """The only list or object inside an object that names no item itself."""
    if not isinstance(content, Members) or any(_named(key, lexicon) for key, _ in content):
        return content
    inner = [value for _, value in content if isinstance(value, list)]
    return inner[0] if len(inner) == 1 else content


def _read_members(members: Iterable[tuple[str, object]], lexicon: Lexicon, into: Reading) -> None:
    for key, content in members:
        named = _named(key, lexicon)
        value = _value(content, lexicon)
        if named is None:
            continue
        if value is None:
            into.named = True
        elif named.fault:
            into.faults.append(named.fault)
        else:
            glossed = value.kind == "label" and value.number == named.position
            into.answers.append(named._replace(value=value, how="gloss" if glossed else "plain"))


def _read_list(entries: list[object], lexicon: Lexicon, into: Reading) -> None:
    if all(isinstance(entry, Members) for entry in entries):
        for entry in entries:
            if isinstance(entry, Members):
                _read_members(_as_member(entry), lexicon, into)
    elif all(isinstance(entry, list) and len(entry) == 2 for entry in entries):
        pairs = [(str(entry[0]), entry[1]) for entry in entries if isinstance(entry, list)]
        _read_members(pairs, lexicon, into)
    elif len(entries) == lexicon.positions > 1:
        values = [_value(entry, lexicon) for entry in entries]
        into.runs += [Run([v for v in values if v])] if all(values) else []


def _as_member(entry: Members) -> Members:
    """{"item": 3, "rating": 4} as {"3": 4}, once for every key that names the item."""
    items = [content for key, content in entry if key.lower() in _ITEM_KEYS]
    answers = [content for key, content in entry if key.lower() in _ANSWER_KEYS]
    if not items or len(answers) != 1:
        return entry
    return Members((str(item), answers[0]) for item in items)


def _named(key: str, lexicon: Lexicon) -> Statement | None:
    """The item that a key names, as a statement without a value."""
    lines = lexicon.lines(key)
    if len(lines) != 1:
        return None
    line = lines[0]
    if kind_at(line, 0) == "words" and all(token.kind == "mark" for token in line[1:]):
        return Statement(line[0].number, len(line))
    label = label_at(line, 0)
    if label is None or not (label.closed or label.end == len(line)):
        return None
    words = line[label.end] if kind_at(line, label.end) == "words" else None
    if words and words.number != label.number:
        fault = mismatch(label.number, words)
    elif not 1 <= label.number <= lexicon.positions:
        fault = f"it answers number {label.number}, which was not shown"
    else:
        fault = None
    return Statement(label.number, len(line), fault=fault)


def _value(content: object, lexicon: Lexicon) -> Value | None:
    """The value that a JSON value gives, or None if it gives none."""
    if isinstance(content, Members):
        answers = [inner for key, inner in content if key.lower() in _ANSWER_KEYS]
        content = answers[0] if len(answers) == 1 else None
    if isinstance(content, str):
        lines = lexicon.lines(content)
        bare = bare_values(lines[0], lexicon.scale, one_item=True) if len(lines) == 1 else None
        return bare.values[0] if bare and len(bare.values) == 1 else None
    if isinstance(content, bool) or not isinstance(content, int | float):
        return None
    usable = abs(content) < _LARGE and content == int(content)
    token = Token(
        "number" if usable else "decimal", str(content), int(content) if usable else 0, True
    )
    return Value(token.number, outside(token, lexicon.scale), 0)
