"""An archive's rows into the lab's tables; the caller has checked that they fit together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select

from empathylab.scales import builtin_scales, scale_from_dict, scale_to_dict
from empathylab.situations import Situation, builtin_sets, builtin_versions
from empathylab.store import schema
from empathylab.store.inserts import (
    add_item_answers,
    add_respondent,
    add_scale,
    add_situation_set,
    hash_of,
    insert_returning_ids,
    now,
)
from empathylab.store.schema.statements import ids_by, insert_rows
from empathylab.store.situations import save_situation_set, set_from_row, situations_in_set
from empathylab.store.studies.records import freeze_scales, freeze_situations

Table = Sequence[Mapping[str, Any]]
Place = tuple[str, str]
"""A set's label in the archive and a situation's id in the set."""


@dataclasses.dataclass(frozen=True, slots=True)
class SavedSets:
    """Where the archive's situations are in this lab."""

    ids: Mapping[Place, int]
    here: Mapping[str, str]
    """By the archive's label, the set's name and version in this lab."""


def save_sets(
    connection: Connection, sets: Table, situations: Mapping[str, Sequence[Situation]], own: str
) -> SavedSets:
    """The lab's ids of the situations; sets that the lab does not hold yet are added.

    A set of which the archive holds a part only is added under the name `own`, so that nobody
    takes it for the whole.
    """
    ids: dict[Place, int] = {}
    here: dict[str, str] = {}
    for head in sets:
        label, wanted = head["set"], tuple(situations[head["set"]])
        found = _held_set(connection, head["id"], wanted, complete=head["complete"])
        if found is None:
            reserved = head["id"] in builtin_sets() or not head["complete"]
            name = own if reserved else head["id"]
            chosen = set_from_row({**head, "version": 1}, name, wanted)
            stored = save_situation_set(connection, chosen)
            found = (stored.situation_set.id, stored.situation_set.version, stored.ids)
        name, version, numbers = found
        here[label] = f"{name}@{version}"
        ids |= {(label, item.id): numbers[item.id] for item in wanted}
    return SavedSets(ids, here)


def _held_set(
    connection: Connection, name: str, wanted: Sequence[Situation], *, complete: bool
) -> tuple[str, int, dict[str, int]] | None:
    """The newest set of that name that holds all of the situations, word for word."""
    versions = (
        builtin_version
        for builtin_version in builtin_versions().values()
        if builtin_version.id == name
    )
    for shipped in sorted(versions, key=lambda item: -item.version):
        if _holds(shipped.situations, wanted, complete=complete):
            return name, shipped.version, add_situation_set(connection, shipped)
    table, rows = schema.situation_sets, schema.situations
    query = select(table).where(table.c.name == name).order_by(table.c.version.desc())
    for row in connection.execute(query).all():
        if _holds(situations_in_set(connection, row.id), wanted, complete=complete):
            own = rows.c.situation_set_id == row.id
            return name, row.version, ids_by(connection, rows.c.key, own)
    return None


def _holds(present: Sequence[Situation], wanted: Sequence[Situation], *, complete: bool) -> bool:
    return set(wanted) <= set(present) and (not complete or len(present) == len(wanted))


def save_archived_scales(connection: Connection, scales: Table) -> dict[str, tuple[int, str]]:
    """By the archive's fingerprint, the lab's id and fingerprint of each scale.

    One whose wording the lab has is that one; else it is kept as it came, without its wording.
    """
    stored_rows = ids_by(connection, schema.scales.c.fingerprint)
    shipped = {
        hash_of(scale_to_dict(builtin_scale)): builtin_scale
        for builtin_scale in builtin_scales().values()
    }
    found: dict[str, tuple[int, str]] = {}
    for item in scales:
        fingerprint = item["fingerprint"]
        if fingerprint in stored_rows:
            found[fingerprint] = (stored_rows[fingerprint], fingerprint)
            continue
        scale = shipped.get(fingerprint) or scale_from_dict(item["definition"])
        found[fingerprint] = (add_scale(connection, scale), hash_of(scale_to_dict(scale)))
    return found


class ArchiveRows:
    """Writes the rows of one archive."""

    def __init__(self, connection: Connection, content: Mapping[str, Any], number: int) -> None:
        self.connection, self.content, self.number = connection, content, number

    def study(self, name: str, places: SavedSets, scales: Mapping[str, tuple[int, str]]) -> int:
        """The id of the study, with all that belongs to it."""
        head, protocol = self.content["study.json"], self.content["protocol.json"]
        row = {
            "name": name,
            "version": head["version"],
            "title": head["title"],
            "protocol": {**protocol, "name": name} if "name" in protocol else protocol,
            "protocol_hash": head["protocol_hash"],
            "status": "closed",
            "added_at": now(),
        }
        (study,) = insert_returning_ids(self.connection, schema.studies, [row])
        order = [(item["set"], item["situation"]) for item in self.content["situations.jsonl"]]
        freeze_situations(self.connection, study, [places.ids[item] for item in order])
        called = {
            item["called"]: scales[item["fingerprint"]][0]
            for item in self.content["scales.json"]
            if item["called"] is not None
        }
        freeze_scales(self.connection, study, called)
        responses = self._responses(places.ids)
        arms = self._arms(study, responses, places.ids)
        raters = self._raters(study)
        self._ratings(raters, responses, arms)
        self._answers(raters, scales, places.ids)
        return study

    def _responses(self, places: Mapping[Place, int]) -> dict[int, int]:
        """By the archive's number; one that the lab has word for word is that one."""
        table = schema.responses
        rows, keys = [], []
        for item in self.content["responses.jsonl"]:
            row = {
                "situation_id": places[item["set"], item["situation"]],
                "respondent_id": add_respondent(self.connection, item["respondent"], item["kind"]),
                "sample": item["sample"],
                "prompt": item["prompt"],
                "text": item["text"],
                "details": item["details"],
            }
            rows.append(row)
            keys.append(item["response"])
        stored_ids = self._stored({row["situation_id"] for row in rows})
        ids = [stored_ids.get(_identity(row)) for row in rows]
        fresh = [
            {**row, "outcome": "valid", "added_at": now(), "import_id": self.number}
            for row, known in zip(rows, ids, strict=True)
            if known is None
        ]
        numbers = iter(insert_returning_ids(self.connection, table, fresh))
        return {
            key: next(numbers) if known is None else known
            for key, known in zip(keys, ids, strict=True)
        }

    def _stored(self, situations: set[int]) -> dict[str, int]:
        table = schema.responses
        query = select(table).where(table.c.outcome == "valid").order_by(table.c.id)
        return {
            _identity(dict(row)): int(row["id"])
            for row in self.connection.execute(query).mappings()
            if row["situation_id"] in situations
        }

    def _arms(
        self, study: int, responses: Mapping[int, int], places: Mapping[Place, int]
    ) -> dict[str, int]:
        rows = [
            {
                "study_id": study,
                "name": item["arm"],
                "respondent_id": None
                if item["respondent"] is None
                else add_respondent(self.connection, item["respondent"], item["kind"]),
                "stopped": True,
            }
            for item in self.content["arms.json"]
        ]
        names = [item["arm"] for item in self.content["arms.json"]]
        ids = dict(
            zip(names, insert_returning_ids(self.connection, schema.arms, rows), strict=True)
        )
        of = {
            item["response"]: places[item["set"], item["situation"]]
            for item in self.content["responses.jsonl"]
        }
        shown = [
            {
                "arm_id": ids[item["arm"]],
                "situation_id": of[number],
                "response_id": responses[number],
            }
            for item in self.content["arms.json"]
            for number in item["shown"]
        ]
        insert_rows(self.connection, schema.shown_responses, shown)
        return ids

    def _raters(self, study: int) -> dict[str, int]:
        rows = [
            {
                "study_id": study,
                "name": item["rater"],
                "kind": item["kind"],
                "details": item["details"],
                "seconds": item["seconds"],
                "added_at": now(),
            }
            for item in self.content["raters.jsonl"]
        ]
        ids = insert_returning_ids(self.connection, schema.raters, rows)
        return dict(zip((row["name"] for row in rows), ids, strict=True))

    def _ratings(
        self, raters: Mapping[str, int], responses: Mapping[int, int], arms: Mapping[str, int]
    ) -> None:
        rows = [
            {
                "rater_id": raters[item["rater"]],
                "response_id": responses[item["response"]],
                "arm_id": None if item["arm"] is None else arms[item["arm"]],
                "dimension": item["dimension"],
                "value": float(item["value"]),
                "label": item["label"],
                "seconds": item["seconds"],
                "rated_at": _midnight(item["day"]),
                "import_id": self.number,
            }
            for item in self.content["ratings.jsonl"]
        ]
        insert_returning_ids(self.connection, schema.ratings, rows)

    def _answers(
        self,
        raters: Mapping[str, int],
        scales: Mapping[str, tuple[int, str]],
        places: Mapping[Place, int],
    ) -> None:
        given = self.content["scale_answers.jsonl"]
        rows = [
            {
                "rater_id": raters[item["rater"]],
                "scale_id": scales[item["scale"]][0],
                "situation_id": None
                if item["situation"] is None
                else places[item["set"], item["situation"]],
                "phase": item["phase"],
                "counterpart": False,
                "mode": "imported",
                "order_index": 0,
                "item_order": item["item_order"],
                "repeat": 0,
                "outcome": "valid",
                "subject": item["rater"],
                "added_at": now(),
                "import_id": self.number,
            }
            for item in given
        ]
        numbers = insert_returning_ids(self.connection, schema.administrations, rows)
        values = ({int(item): v for item, v in entry["answers"].items()} for entry in given)
        add_item_answers(self.connection, zip(numbers, values, strict=True))


def _identity(row: Mapping[str, Any]) -> str:
    names = ("situation_id", "respondent_id", "sample", "prompt", "text", "details")
    return hash_of([row[name] for name in names])


def _midnight(day: str | None) -> datetime | None:
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)
