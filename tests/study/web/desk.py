"""A study that is open, kept in memory: the service's calls without a database."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

from empathylab.errors import LabError
from empathylab.scales import Scale, builtin_scale
from empathylab.scales.wording import with_words
from empathylab.situations import Situation, builtin_set
from empathylab.study import ParticipantPath, Study, parse_study, preset_text
from empathylab.study.assignment.allocation import Person, Place, State, World, choose_place
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.blinding import person_key
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.content import check_answer, page_content, valid_values
from empathylab.study.blocks.forms import Refused
from empathylab.study.blocks.interface import Answers
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.session.drafts import RefusedForm
from empathylab.study.session.flow import End, GoTo, NeedsPlace, Show, decide, last_step
from empathylab.study.session.visits import (
    Closed,
    Finished,
    Moved,
    Page,
    PlatformIds,
    Saved,
    View,
    completion_for,
)
from tests.study.assigned import with_place

KEY = b"a key for the tests, 32 bytes it"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
STATEMENTS = (
    "I notice when a friend goes quiet.",
    "Long queues make me impatient.",
    "I like to hear how somebody's day was.",
    "I would rather not be asked for advice.",
    "A sad song can change my afternoon.",
    "I remember what people told me last week.",
    "I find crying at films silly.",
    "When somebody is left out, I go over to them.",
    "I talk more than I listen.",
    "Good news of others makes me cheerful.",
    "I do not care what the neighbours go through.",
    "I can tell a polite smile from a real one.",
    "I get restless when people speak of their worries.",
    "It moves me when strangers help each other.",
    "I think most people complain too much.",
    "I ask twice when an answer sounds tired.",
)


class Desk:
    """The service of one study, for one test."""

    secret = KEY

    def __init__(self, study: Study, situations: Mapping[str, Situation] | None = None) -> None:
        self.study = study
        if situations is None:
            chosen = choose_situations(study, builtin_set(str(study.situations.set)))
            situations = {item.id: item for item in chosen}
        self.situations = situations
        self.scales = choose_scales(study, scales())
        self.slots = study_slots(study, list(situations))
        self.state = State({arm: len(own) for arm, own in self.slots.items()})
        self.people: dict[str, World] = {}
        self.languages: dict[str, str] = {}
        self.ids: dict[str, PlatformIds] = {}
        self.answers: dict[str, dict[str, dict[str, Any]]] = {}
        self.drafts: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.refused: dict[tuple[str, str], RefusedForm] = {}
        self.timings: list[Mapping[str, float]] = []
        self.stored = 0
        self.left: dict[str, bool] = {}
        self.broken = False
        self.failures = 0
        self.lock = threading.RLock()

    def arrive(
        self, ids: PlatformIds, *, world: World = "person", language: str | None = None
    ) -> str:
        self._need_disk()
        person = person_key(KEY, ids.platform, ids.person)
        with self.lock:
            self.people[person] = world
            self.languages[person] = language or "en"
            self.ids[person] = ids
            self.answers.setdefault(person, {})
        return person

    def change_language(self, person: str, language: str) -> None:
        self._need_disk()
        with self.lock:
            self.languages[person] = language

    def is_known(self, ids: PlatformIds) -> bool:
        return person_key(KEY, ids.platform, ids.person) in self.people

    def view(self, person: str) -> View:
        self._need_disk()
        with self.lock:
            return self._view(person, None)

    def submit(
        self,
        person: str,
        step_key: str,
        values: Mapping[str, str],
        timing: Mapping[str, float],
        visit: str = "",
    ) -> Saved | Refused | Moved:
        self._need_disk()
        with self.lock:
            if person not in self.people or person in self.left:
                return Moved()
            course = self._course(person)
            decision = decide(course, self.answers[person], step_key)
            if not isinstance(decision, Show):
                return Moved()
            checked = check_answer(course, decision.step, values)
            if isinstance(checked, Refused):
                self.refused[person, step_key] = RefusedForm(visit, values, checked.problems)
                return checked
            self.refused.pop((person, step_key), None)
            self.answers[person][step_key] = dict(checked.values)
            self.timings.append(timing)
            self.stored += 1
            return Saved(step_key)

    def submit_soon(
        self,
        person: str,
        step_key: str,
        values: Mapping[str, str],
        timing: Mapping[str, float],
        *,
        corrects: bool = True,
        browser: str = "",
        answered: str | None = None,
        visit: str = "",
    ) -> Future[Saved | Refused | Moved]:
        done: Future[Saved | Refused | Moved] = Future()
        try:
            done.set_result(self.submit(person, step_key, values, timing, visit))
        except LabError as error:
            done.set_exception(error)
        return done

    def is_closed(self) -> bool:
        return False

    def is_begun_by(self, person: str, browser: str) -> bool:
        return True

    def back(self, person: str, step_key: str) -> Page | None:
        self._need_disk()
        with self.lock:
            if person not in self.people or person in self.left:
                return None
            decision = decide(self._course(person), self.answers[person], step_key)
            if not isinstance(decision, Show) or decision.back is None:
                return None
            view = self._view(person, decision.back)
            return view if isinstance(view, Page) else None

    def save_draft(self, person: str, step_key: str, values: Mapping[str, str]) -> None:
        self._need_disk()
        with self.lock:
            course = self._course(person)
            decision = decide(course, self.answers[person], step_key)
            if isinstance(decision, Show):
                self.drafts[person, step_key] = valid_values(course, decision.step, values)

    def leave(self, person: str, *, delete: bool) -> None:
        self._need_disk()
        with self.lock:
            self.left[person] = delete
            if delete:
                self.answers[person] = {}

    def slot(self, person: str) -> Slot | None:
        """The person's packet of work, once they have a place."""
        place = next((place for place in self.state.places if place.person == person), None)
        return None if place is None else self.slots[place.arm][place.slot]

    def _need_disk(self) -> None:
        if self.broken:
            raise LabError("the disk is full", where="lab/secret-folder", remedy="Make room.")

    def _course(self, person: str) -> ParticipantPath:
        slot = self.slot(person)
        return ParticipantPath(self.study, self.scales, len(slot.items) if slot else None, person)

    def _view(self, person: str, asked: str | None) -> View:
        if person not in self.people:
            return Closed("unknown", completion_for(self.study, "full"))
        if person in self.left:
            return Finished("withdrawn", None, completion_for(self.study, "withdrawn"))
        answers = self.answers[person]
        decision = decide(self._course(person), answers, asked)
        if isinstance(decision, NeedsPlace):
            who = Person(person, self.people[person])
            place = choose_place(self.study, self.state, who, NOW, secret=KEY)
            if not isinstance(place, Place):
                return Closed(place.reason, completion_for(self.study, "full"))
            self.state = with_place(self.state, place)
            decision = decide(self._course(person), answers, asked)
        if isinstance(decision, GoTo):
            decision = decide(self._course(person), answers)
        if isinstance(decision, End):
            return self._finished(person, decision)
        assert isinstance(decision, Show)
        return self._page(person, decision, answers)

    def _page(self, person: str, shown: Show, answers: Answers) -> Page:
        step = shown.step
        situation, replies = None, []
        slot = self.slot(person)
        if step.page in ("rate", "imagine", "write") and slot is not None:
            item = slot.items[step.number - 1]
            situation = self.situations[item.situation]
            replies = [f"I hear you, number {step.number}.\nThat is **not** nothing <b>at all</b>."]
        content = page_content(
            self._course(person),
            step,
            language="en",
            situation=situation,
            replies=replies,
            answers=answers,
        )
        draft = answers.get(step.key) or self.drafts.get((person, step.key), {})
        back = shown.back is not None
        language = self.languages[person]
        refused = tuple(filter(None, [self.refused.get((person, step.key))]))
        shown_as = Page(step.key, content, shown.progress, back, draft, language)
        return dataclasses.replace(shown_as, refused=refused)

    def _finished(self, person: str, end: End) -> Finished:
        content = None
        if end.outcome == "completed":
            course = self._course(person)
            content = page_content(course, last_step(self.study), language="en")
        return Finished(end.outcome, content, completion_for(self.study, end.outcome))


def scales() -> dict[str, Scale]:
    """PANAS as it ships, and a TEQ with statements made up for the tests."""
    teq = with_words(builtin_scale("teq"), STATEMENTS)
    return {"teq": teq, "panas": builtin_scale("panas")}


def preset(name: str, **replaced: str) -> Study:
    """A preset, with some of its lines replaced."""
    text = preset_text(name)
    for old, new in replaced.items():
        text = text.replace(old, new)
    return parse_study(text)
