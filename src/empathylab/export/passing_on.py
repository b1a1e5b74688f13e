"""A lab's rows as they may be passed on: nobody's identity, no free words, no secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from types import SimpleNamespace

from empathylab.scales import builtin_scales, scale_to_dict
from empathylab.store.inserts import hash_of
from empathylab.store.studies.retention import without_free_words
from empathylab.store.transfer import Records, Row
from empathylab.study.archives.packing import (
    is_complete,
    rater_names,
    read_protocol,
    shared_protocol,
)

_PASSWORD = re.compile(r"://[^/@\s\"]+@")


def without_identities(records: Records) -> Records:
    """The rows of people only, each under a random name, with days in place of times.

    Simulated raters and test visits are left out, and so are passwords in addresses.
    """
    real = {row["id"] for row in records.get("raters", ()) if not _is_simulated(row)}
    free = {row["id"]: _free_answers(row) for row in records.get("studies", ())}
    kept = dict(records)
    names = _rater_names(records)
    kept["raters"] = [
        row
        | {
            "name": names[row["id"]],
            "details": without_free_words(row["details"], free[row["study_id"]]),
        }
        for row in records.get("raters", ())
        if row["id"] in real
    ]
    kept["ratings"] = [
        row | {"rated_at": _midnight(row["rated_at"])}
        for row in records.get("ratings", ())
        if row["rater_id"] in real
    ]
    given = [
        row
        for row in records.get("administrations", ())
        if row["rater_id"] is None or row["rater_id"] in real
    ]
    kept["administrations"] = given
    numbers = {row["id"] for row in given}
    kept["item_answers"] = [
        row for row in records.get("item_answers", ()) if row["administration_id"] in numbers
    ]
    kept["studies"] = [_as_released(row) for row in records.get("studies", ())]
    kept["responses"] = [_without_author(row) for row in records.get("responses", ())]
    kept["runs"] = [
        row | {"settings": json.loads(_PASSWORD.sub("://", json.dumps(row["settings"])))}
        for row in records.get("runs", ())
    ]
    return kept


def without_wording(records: Records) -> Records:
    """The rows without the wording of scales that EmpathyLab does not bring along.

    Their licence is not ours to give, and the prompts of appraisals quote them.
    """
    shipped = {hash_of(scale_to_dict(scale)) for scale in builtin_scales().values()}
    foreign = {row["id"] for row in records["scales"] if row["fingerprint"] not in shipped}
    quoting = {row["answer_id"] for row in records["administrations"] if row["scale_id"] in foreign}
    return records | {
        "scales": [_structure(row) if row["id"] in foreign else row for row in records["scales"]],
        "answers": [
            row | {"messages": []} if row["id"] in quoting else row for row in records["answers"]
        ],
    }


def _structure(row: Row) -> Row:
    definition = {name: value for name, value in row["definition"].items() if name != "words"}
    return row | {"definition": definition, "fingerprint": hash_of(definition)}


def _rater_names(records: Records) -> dict[int, str]:
    """The names under which raters leave the lab; those that a file brought are numbered."""
    names: dict[int, str] = {}
    for study in records.get("studies", ()):
        raters = [
            SimpleNamespace(**row)
            for row in records.get("raters", ())
            if row["study_id"] == study["id"] and not _is_simulated(row)
        ]
        names |= rater_names(raters, pseudonyms=study["launched_at"] is not None)
    return names


def _is_simulated(rater: Row) -> bool:
    return bool((rater["details"].get("marks") or {}).get("world"))


def _free_answers(study: Row) -> Collection[str]:
    protocol = study["protocol"]
    if not is_complete(protocol):
        return frozenset()
    blocks = read_protocol(protocol, where=f"study {study['name']}").blocks
    return frozenset[str]().union(*(block.free_answers for block in blocks))


def _midnight(moment: str | None) -> str | None:
    return None if moment is None else f"{moment[:10]}T00:00:00+00:00"


def _as_released(study: Row) -> Row:
    """The study as one that this lab did not run: nobody can take part in it."""
    protocol = shared_protocol(study["protocol"])
    removed = {"secret": None, "launched_at": None, "closed_at": None}
    return study | removed | {"protocol": protocol, "revision": 0}


def _without_author(response: Row) -> Row:
    """A reply that a rater wrote does not say which rater."""
    details = dict(response["details"] or {})
    if details.pop("rater", None) is None:
        return response
    return response | {"details": details or None}
