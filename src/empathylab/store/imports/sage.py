"""SAGE's result files: `<simulator>/<model>_result.jsonl`, one conversation per line.

Zhang, B., Ma, R., Jiang, Q., et al. (2025). Sentient Agent as a Judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from empathylab.errors import InputError
from empathylab.files import read_text
from empathylab.store.conversations import ImportedConversation, SpokenTurn
from empathylab.tables import clean_text

COLLECTION = "sage"
SUCCESS_AT = 100.0
FAILURE_BELOW = 10.0
_SUFFIX = "_result.jsonl"
_ROLES = {"user": "person", "assistant": "respondent"}
_EXCHANGES = 10
_FEELING = "emotion-point"


@dataclass(frozen=True, slots=True)
class SageFile:
    """The conversations of one model with one simulator."""

    source: str
    respondent: str
    simulator: str
    conversations: tuple[ImportedConversation, ...]
    skipped: Mapping[int, str] = field(default_factory=dict)
    """Lines that could not be read, with the reason."""


def sage_files(path: Path) -> list[Path]:
    """The result files in a folder, at any depth, or the one file."""
    if path.is_file():
        return [path]
    found = sorted(path.rglob(f"*{_SUFFIX}")) if path.is_dir() else []
    if not found:
        raise InputError(
            f"there is no file that ends in {_SUFFIX}",
            where=str(path),
            remedy="Give SAGE's folder of results, or one file: <simulator>/<model>_result.jsonl.",
        )
    return found


def read_sage(
    path: Path, *, names: Mapping[str, str] | None = None, skip_invalid: bool = False
) -> SageFile:
    """What the file holds; `names` gives a respondent or a simulator another name."""
    given = dict(names or {})
    resolved = path.resolve()
    respondent = resolved.name.removesuffix(_SUFFIX).removesuffix(".jsonl")
    simulator = resolved.parent.name
    source = f"{simulator}/{resolved.name}"
    respondent, simulator = given.get(respondent, respondent), given.get(simulator, simulator)
    conversations: dict[str, ImportedConversation] = {}
    skipped: dict[int, str] = {}
    # Not splitlines(): texts hold U+2028, which is no end of a line in this format.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{source} line {number}"
        try:
            conversation = _conversation(line, respondent, simulator, where)
            if conversation.key in conversations:
                raise _wrong("the id occurs twice", where, conversation.key)
        except InputError as error:
            if not skip_invalid:
                raise
            skipped[number] = error.what
            continue
        conversations[conversation.key] = conversation
    if not conversations:
        raise InputError(
            "the file contains no conversations", where=source, remedy="Give another file."
        )
    return SageFile(source, respondent, simulator, tuple(conversations.values()), skipped)


def _wrong(what: str, where: str, got: object) -> InputError:
    remedy = "Fix the line, or leave out such lines with --skip-invalid."
    return InputError(what, where=where, got=got, remedy=remedy)


def _conversation(line: str, respondent: str, simulator: str, where: str) -> ImportedConversation:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"this is not JSON ({error})", where, line[:40]) from None
    if not isinstance(data, dict):
        raise _wrong("a line must be one JSON object", where, line[:40])
    for name in ("id", "emo_point", "history"):
        if name not in data:
            raise _wrong(f"{name!r} is missing", where, ", ".join(map(str, data))[:80])
    history = data["history"]
    if not isinstance(history, list) or not history:
        raise _wrong("'history' must be a list of messages", where, str(history)[:40])
    turns = tuple(_turn(entry, where) for entry in history)
    final = _number(data["emo_point"], "emo_point", where)
    return ImportedConversation(
        key=clean_text(str(data["id"])),
        respondent=respondent,
        simulator=simulator,
        turns=turns,
        persona=_persona(data, turns),
        language="zh",
        start=next((turn.feeling for turn in turns if turn.feeling is not None), None),
        final=final,
        success_at=SUCCESS_AT,
        failure_below=FAILURE_BELOW,
        details={"emo_state": str(data.get("emo_state", ""))},
    )


def _turn(entry: Any, where: str) -> SpokenTurn:
    if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
        raise _wrong("a message needs 'role' and 'content'", where, str(entry)[:60])
    role = _ROLES.get(str(entry.get("role")))
    if role is None:
        raise _wrong("a message's role must be user or assistant", where, entry.get("role"))
    feeling = entry.get(_FEELING)
    notes = {
        name: clean_text(str(entry[name])) for name in ("thinking", "planning") if name in entry
    }
    return SpokenTurn(
        role="person" if role == "person" else "respondent",
        text=clean_text(entry["content"]),
        feeling=None if feeling is None else _number(feeling, _FEELING, where),
        state=notes or None,
    )


def _number(value: Any, name: str, where: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if isinstance(value, bool) or not abs(found) < float("inf"):
        raise _wrong(f"{name!r} must be a number", where, value)
    return found


def _persona(data: Mapping[str, Any], turns: tuple[SpokenTurn, ...]) -> dict[str, Any]:
    """SAGE's profile in the form of this project's personas."""
    parts = {
        name: clean_text(str(data.get(name) or "")).strip()
        for name in ("player", "scene", "character", "topic", "task")
    }
    opening = next((turn.text for turn in turns if turn.role == "person"), "")
    start = next((turn.feeling for turn in turns if turn.feeling is not None), 40.0)
    return {
        "id": clean_text(str(data["id"])),
        "collection": COLLECTION,
        "language": "zh",
        "name": _name(parts["player"]),
        "emotion": "not stated",
        "topic": parts["topic"],
        "temperament": parts["character"],
        "need": parts["task"] or "not stated",
        "story": "\n\n".join(part for part in (parts["player"], parts["scene"]) if part),
        "opening": opening,
        "start": {"feeling": start},
        "end": {
            "success_at": SUCCESS_AT,
            "failure_below": FAILURE_BELOW,
            "exchanges": _EXCHANGES,
        },
        "licence": "MIT",
        "validated": False,
    }


def _name(profile: str) -> str:
    """The value of the profile's line 姓名 (name)."""
    for line in profile.split("\n"):
        label, sign, value = line.strip("* \t").partition("：")
        if sign and label.strip() == "姓名":
            return value.strip()
    return "not stated"
