"""Whether what an archive holds is a study: shapes, names that refer to others, the hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from empathylab.scales import scale_from_dict
from empathylab.situations import Situation
from empathylab.store.inserts import hash_of
from empathylab.study.admin.launching import fingerprints
from empathylab.study.archives.members import refuse
from empathylab.study.archives.packing import (
    SET_FIELDS,
    SITUATION_FIELDS,
    is_complete,
    read_protocol,
)
from empathylab.study.design.protocol import protocol_hash

_TEXT, _TEXT_OR_NOTHING = (str,), (str, type(None))
_NUMBER, _NUMBER_OR_NOTHING = (int, float), (int, float, type(None))
_TABLE_OR_NOTHING = (dict, type(None))
Kinds = Mapping[str, tuple[type, ...]]

_HEAD: Kinds = {
    "name": _TEXT,
    "version": (int,),
    "title": _TEXT,
    "protocol_hash": _TEXT,
    "launched": _TEXT_OR_NOTHING,
    "closed": _TEXT_OR_NOTHING,
}
_LISTS: Mapping[str, Kinds] = {
    "sets.json": {
        "set": _TEXT,
        "id": _TEXT,
        "version": (int,),
        **dict.fromkeys(SET_FIELDS, _TEXT),
        "validated": (bool,),
        "complete": (bool,),
    },
    "scales.json": {"called": _TEXT_OR_NOTHING, "fingerprint": _TEXT, "definition": (dict,)},
    "arms.json": {
        "arm": _TEXT,
        "respondent": _TEXT_OR_NOTHING,
        "kind": _TEXT_OR_NOTHING,
        "template": _TABLE_OR_NOTHING,
        "first": _TEXT_OR_NOTHING,
        "last": _TEXT_OR_NOTHING,
        "shown": (list,),
    },
    "situations.jsonl": {
        "set": _TEXT,
        "situation": _TEXT,
        **dict.fromkeys(SITUATION_FIELDS, _TEXT_OR_NOTHING),
        "text": _TEXT,
        "context": (list, type(None)),
    },
    "responses.jsonl": {
        "response": (int,),
        "set": _TEXT,
        "situation": _TEXT,
        "respondent": _TEXT,
        "kind": _TEXT,
        "sample": (int,),
        "prompt": _TEXT_OR_NOTHING,
        "text": _TEXT,
        "details": _TABLE_OR_NOTHING,
    },
    "raters.jsonl": {
        "rater": _TEXT,
        "kind": _TEXT,
        "seconds": _NUMBER_OR_NOTHING,
        "details": (dict,),
    },
    "ratings.jsonl": {
        "rater": _TEXT,
        "response": (int,),
        "arm": _TEXT_OR_NOTHING,
        "dimension": _TEXT,
        "value": _NUMBER,
        "label": _TEXT_OR_NOTHING,
        "seconds": _NUMBER_OR_NOTHING,
        "day": _TEXT_OR_NOTHING,
    },
    "scale_answers.jsonl": {
        "rater": _TEXT,
        "scale": _TEXT,
        "phase": _TEXT,
        "set": _TEXT_OR_NOTHING,
        "situation": _TEXT_OR_NOTHING,
        "item_order": (list,),
        "answers": (dict,),
    },
}
_ONE_OF: Mapping[str, Mapping[str, tuple[str | None, ...]]] = {
    "kind": {
        "arms.json": ("model", "human", None),
        "responses.jsonl": ("model", "human"),
        "raters.jsonl": ("person", "model"),
    },
    "phase": {"scale_answers.jsonl": ("default", "evoked", "before", "after", "later")},
    "valence": {"situations.jsonl": ("positive", "negative", "mixed", None)},
}
_DAYS = ("day", "first", "last", "launched", "closed")


def check_archive(content: Mapping[str, Any], where: str) -> None:
    """Raises where the archive does not hold a study that fits together."""
    _check_row(content["study.json"], _HEAD, "study.json", f"{where}, study.json")
    if not isinstance(content["protocol.json"], dict):
        refuse("the protocol must be a table", f"{where}, protocol.json")
    for member, kinds in _LISTS.items():
        if not isinstance(content[member], list):
            refuse("this must be a list", f"{where}, {member}")
        for number, row in enumerate(content[member], start=1):
            _check_row(row, kinds, member, f"{where}, {member} row {number}")
    _check_references(content, where)
    _check_scales(content, where)
    _check_protocol(content, where)


def situation_of(row: Mapping[str, Any]) -> Situation:
    """The situation that a row of the archive holds."""
    fields = {name: row[name] for name in SITUATION_FIELDS}
    return Situation(id=row["situation"], **{**fields, "context": tuple(row["context"] or ())})


def _check_row(row: Any, kinds: Kinds, member: str, where: str) -> None:
    if not isinstance(row, dict) or set(row) != set(kinds):
        refuse(f"this must have {', '.join(kinds)}", where, str(row)[:80])
    for name, allowed in kinds.items():
        value: Any = row[name]
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            refuse(f"{name!r} has the wrong type", where, value)
        if name in _DAYS and isinstance(value, str):
            _check_day(name, value, where)
        among = _ONE_OF.get(name, {}).get(member)
        if among is not None and value not in among:
            refuse(f"{name!r} must be one of {', '.join(map(str, among))}", where, value)


def _check_day(name: str, value: str, where: str) -> None:
    try:
        date.fromisoformat(value)
    except ValueError:
        refuse(f"{name!r} must be a day such as 2026-03-01", where, value)


def _check_references(content: Mapping[str, Any], where: str) -> None:
    sets = _once(content, "sets.json", ("set",), where)
    situations = _once(content, "situations.jsonl", ("set", "situation"), where)
    responses = _once(content, "responses.jsonl", ("response",), where)
    raters = _once(content, "raters.jsonl", ("rater",), where)
    arms = _once(content, "arms.json", ("arm",), where)
    _once(content, "ratings.jsonl", ("rater", "response", "dimension"), where)
    scales = {(item["fingerprint"],) for item in content["scales.json"]}
    nothing: set[tuple[Any, ...]] = {(None,), (None, None)}
    referring = (
        ("situations.jsonl", ("set",), sets),
        ("responses.jsonl", ("set", "situation"), situations),
        ("ratings.jsonl", ("rater",), raters),
        ("ratings.jsonl", ("response",), responses),
        ("ratings.jsonl", ("arm",), arms | nothing),
        ("scale_answers.jsonl", ("rater",), raters),
        ("scale_answers.jsonl", ("scale",), scales),
        ("scale_answers.jsonl", ("set", "situation"), situations | nothing),
    )
    for member, names, known in referring:
        for number, row in enumerate(content[member], start=1):
            key = tuple(row[name] for name in names)
            if key not in known:
                refuse(
                    f"{' and '.join(names)} refer to nothing in the archive",
                    f"{where}, {member} row {number}",
                    ", ".join(map(str, key)),
                )
    for arm in content["arms.json"]:
        for item in arm["shown"]:
            if not isinstance(item, int) or (item,) not in responses:
                refuse("an arm shows a response that is not there", f"{where}, arms.json", item)


def _once(
    content: Mapping[str, Any], member: str, names: Sequence[str], where: str
) -> set[tuple[Any, ...]]:
    keys: set[tuple[Any, ...]] = set()
    for number, row in enumerate(content[member], start=1):
        key = tuple(row[name] for name in names)
        if key in keys:
            listed = ", ".join(map(str, key))
            refuse("this row appears twice", f"{where}, {member} row {number}", listed)
        keys.add(key)
    return keys


def _check_scales(content: Mapping[str, Any], where: str) -> None:
    items = {}
    for entry in content["scales.json"]:
        scale = scale_from_dict(entry["definition"], where=f"{where}, scales.json")
        items[entry["fingerprint"]] = range(1, scale.items + 1)
    for number, row in enumerate(content["scale_answers.jsonl"], start=1):
        row_name = f"{where}, scale_answers.jsonl row {number}"
        known = {str(item) for item in items[row["scale"]]}
        for item, value in row["answers"].items():
            if item not in known or isinstance(value, bool) or not isinstance(value, int | float):
                refuse("an answer must be a number to an item of the scale", row_name, item)


def _check_protocol(content: Mapping[str, Any], where: str) -> None:
    """The hash must be that of the protocol, with the situations and scales beside it."""
    protocol, head = content["protocol.json"], content["study.json"]
    if is_complete(protocol):
        study = read_protocol(protocol, where=f"{where}, protocol.json")
        situations = [situation_of(item) for item in content["situations.jsonl"]]
        scales = {
            item["called"]: item["fingerprint"]
            for item in content["scales.json"]
            if item["called"] is not None
        }
        computed = protocol_hash(study, fingerprints(situations, scales))
    else:
        computed = hash_of(protocol)
    if computed != head["protocol_hash"]:
        what = f"the protocol's hash should be {head['protocol_hash']}"
        refuse(what, f"{where}, protocol.json", computed)
