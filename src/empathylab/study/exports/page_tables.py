"""The exported tables of pages: times, attention checks, comments, live turns, and what those
answered who did not finish.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from empathylab.store.schema.statements import Rows
from empathylab.store.studies.live import exported_turns
from empathylab.store.studies.records import FrozenResponse
from empathylab.study.admin.embargo import hidden_blocks
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.steps import Step
from empathylab.study.exports.source import Record, StudySource, written
from empathylab.study.session.flow import study_steps
from empathylab.study.session.launched import Launched, load_launched


def pages(source: StudySource) -> list[Record]:
    """How long each page took, and how often it was left."""
    return [
        {
            "rater": page.person,
            "page": page.step,
            "position": position,
            "seconds": page.timing.get("seconds"),
            "browser_seconds": page.timing.get("reported"),
            "away_seconds": page.timing.get("away"),
            "focus_losses": page.timing.get("losses"),
            "corrections": page.corrections,
            **_signals(page.timing.get("signals")),
        }
        for position, page in source.numbered_pages
    ]


def attention(source: StudySource) -> list[Record]:
    """How attention checks were answered."""
    blocks = source.study.blocks if source.study else ()
    checks = {block.id: block for block in blocks if block.checks_attention}
    return [
        {
            "rater": page.person,
            "check": page.step,
            "position": position,
            "asked": page.given.get("check"),
            "chosen": page.given.get("question"),
            "right": checks[page.step].passed(page.given),
        }
        for position, page in source.numbered_pages
        if page.step in checks
    ]


def comments(source: StudySource) -> list[Record]:
    """Free words, those that were not left empty."""
    blocks = source.study.blocks if source.study else ()
    free = {block.id for block in blocks if block.holds_comments}
    return [
        {
            "rater": page.person,
            "block": page.step,
            "position": position,
            "text": page.given["comment"],
        }
        for position, page in source.numbered_pages
        if page.step in free and page.given.get("comment")
    ]


def partial_answers(source: StudySource) -> list[Record]:
    """Answers of people who did not finish."""
    if source.row.launched_at is None:
        return []
    finished = set(source.names.values())
    places = [place for place in source.places if place.person not in finished]
    launched = load_launched(source.connection, f"{source.row.name}@{source.row.version}")
    return list(PartialAnswers(launched, source.blind).rows(places, source.page_rows))


def live_turns(source: StudySource) -> list[Record]:
    """What participants wrote, and what they were answered."""
    return [
        {
            "rater": turn.person,
            "block": turn.step,
            "author": turn.author,
            "kind": turn.kind,
            "label": turn.label,
            "position": turn.position,
            "sender": turn.sender,
            "text": turn.text,
            "masked": turn.masked,
            "outcome": turn.outcome,
            "reason": turn.reason,
            "rejected": turn.rejected,
            "due_seconds": _between(turn.asked_at, turn.due_at),
            "waited_seconds": _between(turn.asked_at, turn.shown_at),
            "model": turn.model,
            "model_seconds": turn.latency,
            "prompt_tokens": turn.prompt_tokens,
            "completion_tokens": turn.completion_tokens,
            "cost": turn.cost,
            "ended_because": turn.ended_because,
            "excluded": source.excluded.get(turn.person),
        }
        for turn in exported_turns(source.connection, source.row.id)
    ]


def _signals(stored: Record | None) -> Record:
    if stored is None:
        return {}
    counts = {"pastes": "pastes", "pasted_characters": "pasted", "keys": "keys"}
    whole = {column: int(stored[name]) for column, name in counts.items() if name in stored}
    return {
        **whole,
        "key_interval_ms": stored.get("interval"),
        "key_interval_sd_ms": stored.get("spread"),
        "hidden_field": bool(stored.get("trap")),
    }


def _between(begin: datetime, end: datetime | None) -> float | None:
    return None if end is None else round((end - begin).total_seconds(), 3)


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
        slot, path = self.launched.slot_of(place), self.launched.path_of(place)
        steps = {step.key: step for step in study_steps(path, given)}
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
                        "answer": written(value),
                    }

    @property
    def _hidden(self) -> frozenset[str]:
        return hidden_blocks(self.launched.study)

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
