"""A person goes through a whole study: place, pages, answers, end."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from empathylab.situations import Situation, builtin_set
from empathylab.study import ParticipantPath, Step, Study, parse_study, preset_text
from empathylab.study.assignment.allocation import Person, Place, State, choose_place, ended
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.blinding import person_key
from empathylab.study.assignment.slots import Item, Slot
from empathylab.study.blocks.content import check_answer, page_content
from empathylab.study.blocks.forms import Accepted
from empathylab.study.blocks.pages import PageContent
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.session.flow import End, NeedsPlace, Show, decide
from tests.study.assigned import with_place
from tests.study.examples import BETWEEN, KEY, SITUATION_PRESETS, scales

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Walk:
    """A study that is open, and the people who have gone through it."""

    def __init__(self, study: Study, situations: dict[str, Situation]) -> None:
        self.study = study
        self.situations = situations
        self.slots = study_slots(study, list(situations))
        self.state = State({arm: len(own) for arm, own in self.slots.items()})
        self.rated: Counter[Item] = Counter()
        self.pages: list[PageContent] = []

    def through(self, name: str) -> str:
        """The outcome for one careful person."""
        key = person_key(KEY, "open", name)
        answers: dict[str, dict[str, Any]] = {}
        slot: Slot | None = None
        while True:
            items = len(slot.items) if slot else None
            course = ParticipantPath(self.study, choose_scales(self.study, scales()), items, key)
            decision = decide(course, answers)
            if isinstance(decision, End):
                self.finish(key, slot, decision)
                return decision.outcome
            if isinstance(decision, NeedsPlace):
                slot = self.claim(key)
                continue
            assert isinstance(decision, Show)
            answers[decision.step.key] = self.answer(course, decision.step, slot)

    def claim(self, key: str) -> Slot:
        place = choose_place(self.study, self.state, Person(key), NOW, secret=KEY)
        assert isinstance(place, Place)
        self.state = with_place(self.state, place)
        return self.slots[place.arm][place.slot]

    def finish(self, key: str, slot: Slot | None, end: End) -> None:
        assert slot is not None
        place = next(place for place in self.state.places if place.person == key)
        done = end.outcome == "completed"
        self.state = with_place(self.state, ended(place, "finished" if done else "failed"))
        if done:
            self.rated.update(slot.items)

    def answer(self, course: ParticipantPath, step: Step, slot: Slot | None) -> dict[str, Any]:
        situation = None
        if step.page in ("rate", "imagine", "write"):
            assert slot is not None
            situation = self.situations[slot.items[step.number - 1].situation]
        page = page_content(course, step, language="en", situation=situation, replies=["I see."])
        self.pages.append(page)
        accepted = check_answer(course, step, self.fill(step, page))
        assert isinstance(accepted, Accepted), (step, accepted)
        asked = {one.name for ask in page.asks for one in ask.one_by_one()}
        assert set(accepted.values) == asked
        return dict(accepted.values)

    def fill(self, step: Step, page: PageContent) -> dict[str, str]:
        usual = {"number": "30", "line": "Here", "paragraph": "Some words of mine"}
        block = self.study.block(step.block)
        given = {
            one.name: usual[one.kind] if one.kind != "choice" else one.options[0].value
            for asked in page.asks
            for one in asked.one_by_one()
        }
        if isinstance(block, Tutorial) and block.check and step.page == "check":
            for number, question in enumerate(block.check.questions, start=1):
                given[f"question-{number}"] = str(question.right_option)
        return given


def opened(name: str) -> Walk:
    study = parse_study(preset_text(name))
    chosen = choose_situations(study, builtin_set(str(study.situations.set)))
    return Walk(study, {item.id: item for item in chosen})


@pytest.mark.parametrize("name", SITUATION_PRESETS)
def test_a_careful_person_comes_to_the_end_of_every_preset(name: str) -> None:
    walk = opened(name)
    assert walk.through("somebody") == "completed"


def test_when_all_have_gone_through_every_response_has_its_number_of_ratings() -> None:
    walk = opened("within-subjects")
    for number in range(18):
        assert walk.through(f"person {number}") == "completed"
    assert len(walk.rated) == 36 * 2
    assert set(walk.rated.values()) == {3}


def test_who_fails_the_check_twice_frees_their_place_for_the_next() -> None:
    text = BETWEEN.replace('answer: "No"', 'answer: "Yes"')
    walk = Walk(parse_study(BETWEEN), {name: Situation(name, "x", "sad") for name in "abcdef"})
    other = Walk(parse_study(text), walk.situations)
    walk.fill = other.fill  # type: ignore[method-assign]  # knows the wrong answers only
    assert walk.through("hasty") == "failed-comprehension"
    for number in range(12):
        walk.claim(f"person {number}")
    held = Counter((place.arm, place.slot) for place in walk.state.places if place.status == "live")
    assert held == {(arm, number): 1 for arm in ("one", "two") for number in range(6)}
