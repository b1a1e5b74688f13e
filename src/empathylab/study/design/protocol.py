"""A study as plain data, the hash of its protocol, and what differs between two versions.

The protocol is what a rater sees and how raters are shared out: it is frozen when the first rater
comes. A study's name, its version and how people are recruited are no part of it; nor are the arms
between subjects, so that a new arm can join later under the same protocol. Within subjects every
rater sees all arms, so there they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from empathylab.errors import InputError
from empathylab.study.blocks.interface import Block
from empathylab.study.blocks.texts import Text
from empathylab.study.design.definition import Study

_NOT_PROTOCOL = ("name", "version", "recruitment")


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose value differs between two versions of a study."""

    key: str
    """`blocks.consent.text`, `batch_size` …"""
    before: object
    """None where it was not there."""
    after: object
    frozen: bool
    """Whether it is part of the protocol, so that a new version is needed after launch."""


def to_dict(study: Study) -> dict[str, object]:
    """The study as JSON can hold it, in the keys of its file; `study_from_dict` reads it back.

    What has an order is a list: databases do not keep the order of keys.
    """
    data = _fields(study)
    if study.situations is None:
        del data["batch_size"], data["responses"]
        data.pop("replies_per_situation")
        return data
    data["ratings_per_response" if study.rated else "people_per_situation"] = study.repeats
    if not study.rated:
        del data["responses"]
    if not study.rated or study.design == "between":
        del data["replies_per_situation"]
    return data


def frozen_protocol(study: Study) -> dict[str, object]:
    """The frozen part of the study, as plain data: fit to be published, no code in it."""
    left_out = set(_NOT_PROTOCOL)
    if study.design == "between":
        left_out.add("arms")
    return {key: value for key, value in to_dict(study).items() if key not in left_out}


def protocol_hash(study: Study, fingerprints: Mapping[str, str] | None = None) -> str:
    """A hash that changes with any word a rater reads and any rule, and with nothing else.

    `fingerprints` are those of what the study only names: situations, scales.
    """
    content = {"protocol": frozen_protocol(study), "fingerprints": dict(fingerprints or {})}
    written = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


def differences(before: Study, after: Study) -> tuple[Difference, ...]:
    """The keys that differ between two versions, in the order of the file."""
    old, new = dict(_leaves(to_dict(before))), dict(_leaves(to_dict(after)))
    frozen = (
        dict(_leaves(frozen_protocol(before))).keys() | dict(_leaves(frozen_protocol(after))).keys()
    )
    return tuple(
        Difference(key, old.get(key), new.get(key), key in frozen)
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def require_same_protocol(launched: Study, now: Study) -> None:
    """Raises where a study that people have taken part in was changed under the same version."""
    changed = [difference.key for difference in differences(launched, now) if difference.frozen]
    if changed and now.version <= launched.version:
        shown = ", ".join(changed[:5]) + (" …" if len(changed) > 5 else "")
        raise InputError(
            f"the protocol of {launched.name!r} has been frozen since its launch, but {shown} "
            "changed",
            remedy=f"Undo the change, or set version to {launched.version + 1}: it is then a "
            "separate study, with its own raters.",
        )


def block_texts(block: Block) -> list[str]:
    """All that people may read in the block, in every language."""
    texts: list[str] = []

    def gather(value: object) -> None:
        if isinstance(value, Text):
            texts.extend(text for _, text in value.versions)
        elif isinstance(value, tuple):
            for item in value:
                gather(item)
        elif isinstance(value, BaseModel):
            for name in type(value).model_fields:
                gather(getattr(value, name))

    gather(block)
    return texts


def _leaves(value: object, key: str = "") -> list[tuple[str, object]]:
    if isinstance(value, dict):
        nested = [(str(name), part) for name, part in value.items()]
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        nested = [(_name_of(part, number), part) for number, part in enumerate(value, start=1)]
        # Blocks are distinguished by id, so their order is a leaf of its own.
        own = [(f"{key}.order", [name for name, _ in nested])]
        return own + [leaf for name, part in nested for leaf in _leaves(part, f"{key}.{name}")]
    else:
        return [(key, value)]
    return [
        leaf for name, part in nested for leaf in _leaves(part, f"{key}.{name}" if key else name)
    ]


def _name_of(value: object, number: int) -> str:
    if isinstance(value, dict):
        for key in ("id", "name", "by", "value"):
            if key in value:
                return str(value[key])
    return str(number)


def _fields(value: BaseModel) -> dict[str, object]:
    """Leaves out what is empty, so that a key invented later leaves older hashes true."""
    values = ((name, getattr(value, name)) for name in type(value).model_fields)
    return {
        name: _plain(field)
        for name, field in values
        if field is not None and field != () and field != {}
    }


def _plain(value: object) -> object:
    if isinstance(value, Text):
        versions = value.versions
        return versions[0][1] if len(versions) == 1 else dict(versions)
    if isinstance(value, BaseModel):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return ["" if item is None else _plain(item) for item in value]
    return value
