"""What people answered who came and did not finish, and did not ask for it to be deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from empathylab.store.studies.archive import Rows
from empathylab.store.studies.records import FrozenResponse
from empathylab.study.assignment.batches import Slot
from empathylab.study.blocks.types import Block, Rate, ScaleBlock
from empathylab.study.session.flow import Course, Step, study_steps
from empathylab.study.session.launched import Launched

_LISTED_ELSEWHERE = ("comment", "attention")
"""Pages whose answers have a table of their own, which also lists who did not finish."""
_WORK = ("rate", "write")


@dataclass(frozen=True, slots=True)
class PartialAnswers:
    """The answers of people who did not finish a launched study."""

    launched: Launched
    blind: bool
    """Whether answers that are results, and what tells an arm, are left out."""

    def rows(self, places: Rows, pages: Rows) -> Iterator[dict[str, Any]]:
        """One row per answer, in the order of people and answers."""
        given: dict[str, dict[str, Mapping[str, Any]]] = {}
        for one in pages:
            given.setdefault(one.person, {})[one.step] = one.given
        for place in places:
            yield from self._of_person(place, given.get(place.person, {}))

    def _of_person(
        self, place: Any, given: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        slot = self._slot(place)
        items = None if slot is None else len(slot.items)
        course = Course(self.launched.study, self.launched.scales, items, place.person)
        steps = {one.key: one for one in study_steps(course, given)}
        for key, values in given.items():
            step = steps.get(key)
            if step is not None and self._is_shown(step, slot):
                where = self._about(step, slot)
                for question, value in values.items():
                    yield {
                        "rater": place.person,
                        "page": key,
                        **where,
                        "question": question,
                        "answer": _written(value),
                    }

    def _slot(self, place: Any) -> Slot | None:
        if place.arm is None or place.slot is None:
            return None
        packets = self.launched.slots.get(str(place.arm), ())
        return packets[place.slot] if place.slot < len(packets) else None

    def _is_shown(self, step: Step, slot: Slot | None) -> bool:
        if step.page in _LISTED_ELSEWHERE:
            return False
        if slot is not None and step.page == "rate":
            shown = self._response(step, slot)
            # Whoever wrote the reply had it deleted: what was chosen there rates nothing.
            if shown is None or shown.withdrawn:
                return False
        return not (self.blind and is_result(self.launched.study.block(step.block)))

    def _response(self, step: Step, slot: Slot) -> FrozenResponse | None:
        item = slot.items[step.number - 1]
        return self.launched.responses.get((item.situation, item.arm or slot.arm))

    def _about(self, step: Step, slot: Slot | None) -> dict[str, Any]:
        """What the page was about; of a rated response also whose it is."""
        if slot is None or step.page not in _WORK:
            return {}
        item = slot.items[step.number - 1]
        shown = self._response(step, slot)
        if step.page != "rate" or shown is None:
            return {"situation": item.situation}
        arm = item.arm or slot.arm
        return {"situation": item.situation, "arm": arm, "response": shown.response}


def is_result(block: Block) -> bool:
    """Whether the block asks for what the study is about, which nobody sees while it runs."""
    return isinstance(block, Rate) or (isinstance(block, ScaleBlock) and block.phase == "evoked")


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
