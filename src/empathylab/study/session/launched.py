"""A launched study as a server holds it in memory: all that does not change while people answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from empathylab.scales import Scale, scale_from_dict
from empathylab.situations import Situation
from empathylab.store.studies.records import (
    FrozenResponse,
    frozen_arms,
    frozen_responses,
    frozen_scales,
    frozen_situations,
    launched_study,
)
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.interface import ParticipantPath
from empathylab.study.design.definition import Study
from empathylab.study.design.reading import study_from_dict


@dataclass(frozen=True, slots=True)
class Launched:
    """A study and what it uses of the lab, frozen."""

    row: int
    """Its id in the lab."""
    study: Study
    secret: bytes = field(repr=False)
    revision: int
    launched_at: datetime
    scales: Mapping[str, Scale] = field(hash=False)
    scale_rows: Mapping[str, int] = field(hash=False)
    situations: Mapping[str, Situation] = field(hash=False)
    situation_rows: Mapping[str, int] = field(hash=False)
    arms: Mapping[str, int] = field(hash=False)
    """The ids of the arms."""
    responses: Mapping[tuple[str, str], FrozenResponse] = field(hash=False)
    """By situation and arm."""
    slots: Mapping[str, tuple[Slot, ...]] = field(hash=False)
    shut: frozenset[tuple[str, int]] = frozenset()
    """Arm and number of slots that nobody new is given: a reply in them was withdrawn."""

    def slot_of(self, row: Any) -> Slot | None:
        """The batch of the participant in that row, once they have a place."""
        if row.arm is None or row.slot is None:
            return None
        return self.slots[str(row.arm)][int(row.slot)]

    def path_of(self, row: Any) -> ParticipantPath:
        """The study as the participant in that row goes through it."""
        slot = self.slot_of(row)
        items = None if slot is None else len(slot.items)
        return ParticipantPath(self.study, self.scales, items, row.person)

    def places(self, occupied: Collection[tuple[str | None, int | None]]) -> dict[str, int]:
        """By arm, how many people can take part in all, given the slots that are held now."""
        closed = Counter(arm for arm, _ in self.shut.difference(occupied))
        return {arm: len(slots) - closed[arm] for arm, slots in self.slots.items()}


def load_launched(connection: Connection, name: str) -> Launched:
    """The launched study of that name, the newest version unless it is written `NAME@VERSION`."""
    row = launched_study(connection, name)
    where = f"study {row.name} of the lab"
    study = study_from_dict(row.protocol, where=where)
    scales = {
        used: (number, scale_from_dict(definition, where=where))
        for used, (number, definition) in frozen_scales(connection, row.id).items()
    }
    situations = frozen_situations(connection, row.id)
    keys = {number: situation.id for number, situation in situations.items()}
    responses = {
        (keys[item.situation], arm): item
        for arm, shown in frozen_responses(connection, row.id).items()
        for item in shown
    }
    slots = study_slots(study, list(keys.values()))
    return Launched(
        row=int(row.id),
        study=study,
        secret=bytes.fromhex(row.secret),
        revision=row.revision,
        launched_at=row.launched_at,
        scales={used: scale for used, (_, scale) in scales.items()},
        scale_rows={used: number for used, (number, _) in scales.items()},
        situations={situation.id: situation for situation in situations.values()},
        situation_rows={key: number for number, key in keys.items()},
        arms=frozen_arms(connection, row.id),
        responses=responses,
        slots=slots,
        shut=_shut(slots, {key for key, response in responses.items() if response.withdrawn}),
    )


def _shut(
    slots: Mapping[str, tuple[Slot, ...]], withdrawn: set[tuple[str, str]]
) -> frozenset[tuple[str, int]]:
    return frozenset(
        (arm, number)
        for arm, batches in slots.items()
        for number, batch in enumerate(batches)
        if withdrawn
        if any((item.situation, item.arm or batch.arm) in withdrawn for item in batch.items)
    )
