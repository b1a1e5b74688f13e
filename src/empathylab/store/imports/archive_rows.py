"""An archive's rows into the lab's tables; the caller has checked that they fit together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select

from empathylab.scales import builtin_scales, scale_from_dict, scale_to_dict
from empathylab.situations import Situation, SituationSet, builtin_sets, builtin_versions
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
from empathylab.store.situations import save_situation_set, situations_in_set
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
            taken = head["id"] in builtin_sets() or not head["complete"]
            chosen = SituationSet(
                id=own if taken else head["id"],
                version=1,
                title=head["title"],
                language=head["language"],
                licence=head["licence"],
                validated=head["validated"],
                description=head["description"],
                situations=wanted,
            )
            stored = save_situation_set(connection, chosen)
            found = (stored.situation_set.id, stored.situation_set.version, stored.ids)
        name, version, numbers = found
        here[label] = f"{name}@{version}"
        ids |= {(label, one.id): numbers[one.id] for one in wanted}
    return SavedSets(ids, here)


def _held_set(
    connection: Connection, name: str, wanted: Sequence[Situation], *, complete: bool
) -> tuple[str, int, dict[str, int]] | None:
    """The newest set of that name that holds all of the situations, word for word."""
    versions = (one for one in builtin_versions().values() if one.id == name)
    for shipped in sorted(versions, key=lambda one: -one.version):
        if _holds(shipped.situations, wanted, complete=complete):
            return name, shipped.version, add_situation_set(connection, shipped)
    table, rows = schema.situation_sets, schema.situations
    query = select(table).where(table.c.name == name).order_by(table.c.version.desc())
    for row in connection.execute(query).all():
        if _holds(situations_in_set(connection, row.id), wanted, complete=complete):
            keys = select(rows.c.key, rows.c.id).where(rows.c.situation_set_id == row.id)
            return name, row.version, {one.key: int(one.id) for one in connection.execute(keys)}
    return None


def _holds(held: Sequence[Situation], wanted: Sequence[Situation], *, complete: bool) -> bool:
    return set(wanted) <= set(held) and (not complete or len(held) == len(wanted))


def save_archived_scales(connection: Connection, scales: Table) -> dict[str, tuple[int, str]]:
    """By the archive's fingerprint, the lab's id and fingerprint of each scale.

    One whose wording the lab holds is that one; else it is kept as it came, without its wording.
    """
    table = schema.scales
    held = {
        row.fingerprint: int(row.id)
        for row in connection.execute(select(table.c.fingerprint, table.c.id))
    }
    shipped = {hash_of(scale_to_dict(one)): one for one in builtin_scales().values()}
    found: dict[str, tuple[int, str]] = {}
    for one in scales:
        fingerprint = one["fingerprint"]
        if fingerprint in held:
            found[fingerprint] = (held[fingerprint], fingerprint)
            continue
        scale = shipped.get(fingerprint) or scale_from_dict(one["definition"])
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
        order = [(one["set"], one["situation"]) for one in self.content["situations.jsonl"]]
        freeze_situations(self.connection, study, [places.ids[one] for one in order])
        called = {
            one["called"]: scales[one["fingerprint"]][0]
            for one in self.content["scales.json"]
            if one["called"] is not None
        }
        freeze_scales(self.connection, study, called)
        responses = self._responses(places.ids)
        arms = self._arms(study, responses, places.ids)
        raters = self._raters(study)
        self._ratings(raters, responses, arms)
        self._answers(raters, scales, places.ids)
        return study

    def _responses(self, places: Mapping[Place, int]) -> dict[int, int]:
        """By the archive's number; one that the lab holds word for word is that one."""
        table = schema.responses
        rows, keys = [], []
        for one in self.content["responses.jsonl"]:
            row = {
                "situation_id": places[one["set"], one["situation"]],
                "respondent_id": add_respondent(self.connection, one["respondent"], one["kind"]),
                "sample": one["sample"],
                "prompt": one["prompt"],
                "text": one["text"],
                "details": one["details"],
            }
            rows.append(row)
            keys.append(one["response"])
        held = self._held({row["situation_id"] for row in rows})
        ids = [held.get(_identity(row)) for row in rows]
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

    def _held(self, situations: set[int]) -> dict[str, int]:
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
                "name": one["arm"],
                "respondent_id": None
                if one["respondent"] is None
                else add_respondent(self.connection, one["respondent"], one["kind"]),
                "stopped": True,
            }
            for one in self.content["arms.json"]
        ]
        names = [one["arm"] for one in self.content["arms.json"]]
        ids = dict(
            zip(names, insert_returning_ids(self.connection, schema.arms, rows), strict=True)
        )
        of = {
            one["response"]: places[one["set"], one["situation"]]
            for one in self.content["responses.jsonl"]
        }
        shown = [
            {
                "arm_id": ids[one["arm"]],
                "situation_id": of[number],
                "response_id": responses[number],
            }
            for one in self.content["arms.json"]
            for number in one["shown"]
        ]
        if shown:
            self.connection.execute(schema.shown_responses.insert(), shown)
        return ids

    def _raters(self, study: int) -> dict[str, int]:
        rows = [
            {
                "study_id": study,
                "name": one["rater"],
                "kind": one["kind"],
                "details": one["details"],
                "seconds": one["seconds"],
                "added_at": now(),
            }
            for one in self.content["raters.jsonl"]
        ]
        ids = insert_returning_ids(self.connection, schema.raters, rows)
        return dict(zip((row["name"] for row in rows), ids, strict=True))

    def _ratings(
        self, raters: Mapping[str, int], responses: Mapping[int, int], arms: Mapping[str, int]
    ) -> None:
        rows = [
            {
                "rater_id": raters[one["rater"]],
                "response_id": responses[one["response"]],
                "arm_id": None if one["arm"] is None else arms[one["arm"]],
                "dimension": one["dimension"],
                "value": float(one["value"]),
                "label": one["label"],
                "seconds": one["seconds"],
                "rated_at": _midnight(one["day"]),
                "import_id": self.number,
            }
            for one in self.content["ratings.jsonl"]
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
                "rater_id": raters[one["rater"]],
                "scale_id": scales[one["scale"]][0],
                "situation_id": None
                if one["situation"] is None
                else places[one["set"], one["situation"]],
                "phase": one["phase"],
                "counterpart": False,
                "mode": "imported",
                "order_index": 0,
                "item_order": one["item_order"],
                "repeat": 0,
                "outcome": "valid",
                "subject": one["rater"],
                "added_at": now(),
                "import_id": self.number,
            }
            for one in given
        ]
        numbers = insert_returning_ids(self.connection, schema.administrations, rows)
        values = ({int(item): v for item, v in one["answers"].items()} for one in given)
        add_item_answers(self.connection, zip(numbers, values, strict=True))


def _identity(row: Mapping[str, Any]) -> str:
    names = ("situation_id", "respondent_id", "sample", "prompt", "text", "details")
    return hash_of([row[name] for name in names])


def _midnight(day: str | None) -> datetime | None:
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)
