"""What people answered who came and did not finish, and did not ask for it to be deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from empathylab.store.studies.archive import Rows
from empathylab.store.studies.records import FrozenResponse
from empathylab.study.admin.embargo import hidden_blocks
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.interface import ParticipantPath
from empathylab.study.blocks.steps import Step
from empathylab.study.session.flow import study_steps
from empathylab.study.session.launched import Launched


@dataclass(frozen=True, slots=True)
class PartialAnswers:
    """The answers of people who did not finish a launched study."""

    launched: Launched
    blind: bool
    """Whether answers that are results, and what tells an arm, are left out."""

    def rows(self, places: Rows, pages: Rows) -> Iterator[dict[str, Any]]:
        """One row per answer, in the order of people and answers."""
        given: dict[str, dict[str, Mapping[str, Any]]] = {}
        for page in pages:
            given.setdefault(page.person, {})[page.step] = page.given
        for place in places:
            yield from self._of_person(place, given.get(place.person, {}))

    def _of_person(
        self, place: Any, given: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        slot = self._slot(place)
        items = None if slot is None else len(slot.items)
        path = ParticipantPath(self.launched.study, self.launched.scales, items, place.person)
        steps = {study_step.key: study_step for study_step in study_steps(path, given)}
        for position, (key, values) in enumerate(given.items(), start=1):
            step = steps.get(key)
            if step is not None and self._is_shown(step, slot):
                where = self._about(step, slot)
                for question, value in values.items():
                    yield {
                        "rater": place.person,
                        "page": key,
                        "position": position,
                        **where,
                        "question": question,
                        "answer": _written(value),
                    }

    @property
    def _hidden(self) -> frozenset[str]:
        return hidden_blocks(self.launched.study)

    def _slot(self, place: Any) -> Slot | None:
        if place.arm is None or place.slot is None:
            return None
        batches = self.launched.slots.get(str(place.arm), ())
        return batches[place.slot] if place.slot < len(batches) else None

    def _is_shown(self, step: Step, slot: Slot | None) -> bool:
        block = self.launched.study.block(step.block)
        if block.checks_attention or block.holds_comments:
            return False  # they have tables of their own, which also list who did not finish
        if block.rates_responses and step.item(slot) is not None:
            shown = self._response(step, slot)
            # Anyone who wrote the reply had it deleted: what was chosen there rates nothing.
            if shown is None or shown.withdrawn:
                return False
        return not (self.blind and block.id in self._hidden)

    def _response(self, step: Step, slot: Slot | None) -> FrozenResponse | None:
        item = step.item(slot)
        if item is None or slot is None:
            return None
        return self.launched.responses.get((item.situation, item.arm or slot.arm))

    def _about(self, step: Step, slot: Slot | None) -> dict[str, Any]:
        """What the page was about; of a rated response also whose it is."""
        item = step.item(slot)
        if item is None or slot is None:
            return {}
        shown = self._response(step, slot)
        if shown is None:
            return {"situation": item.situation}
        arm = item.arm or slot.arm
        return {"situation": item.situation, "arm": arm, "response": shown.response}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
