"""What holds whatever people do: come, go on, finish, leave, stay away, come back."""

from __future__ import annotations

import dataclasses
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.study import Study
from empathylab.study.assignment.allocation import (
    Full,
    Person,
    Place,
    State,
    Status,
    World,
    choose_place,
    counts,
    ended,
)
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.quotas import has_room, quota_limits
from empathylab.study.design.definition import Arm, Quota
from tests.study.assigned import arm_counts, with_place
from tests.study.examples import KEY, appraisal, between, ids, within

START = datetime(2026, 3, 1, tzinfo=UTC)
LEAVING: tuple[Status, ...] = (
    *("finished", "finished", "finished", "returned"),
    *("timed-out", "withdrawn", "failed", "excluded"),
)


class Event(NamedTuple):
    kind: str
    who: int
    world: World
    status: Status
    minutes: int


EVENTS = st.lists(
    st.builds(
        Event,
        st.sampled_from(["arrive", "arrive", "arrive", "back", "leave", "leave", "wait", "stop"]),
        st.integers(0, 60),
        st.sampled_from(["person", "person", "person", "simulated", "test"]),
        st.sampled_from(LEAVING),
        st.integers(1, 90),
    ),
    max_size=60,
)


class Site:
    """A study under way: keeps the state and checks every decision."""

    def __init__(self, study: Study, slots: dict[str, int]) -> None:
        self.study = study
        self.state = State(slots)
        self.now = START
        self.firsts: dict[tuple[str, str], tuple[str, int]] = {}
        self.new = 0

    def play(self, event: Event) -> None:
        if event.kind == "arrive":
            self.new += 1
            self.come(Person(f"person {self.new}", event.world, self.traits(event.who)))
        elif event.kind == "wait":
            self.now += timedelta(minutes=event.minutes)
        elif event.kind == "stop":
            arm = sorted(self.state.slots)[event.who % len(self.state.slots)]
            stopped = self.state.stopped ^ {arm}
            self.state = dataclasses.replace(self.state, stopped=stopped)
        elif self.state.places:
            place = self.state.places[event.who % len(self.state.places)]
            if event.kind == "back" or event.status == "finished":
                came = self.come(Person(place.person, place.world, place.traits))
                if event.kind == "leave" and isinstance(came, Place):
                    self.state = with_place(self.state, ended(came, "finished"))
            else:
                self.state = with_place(self.state, ended(place, event.status))
        self.check()

    def traits(self, who: int) -> dict[str, str]:
        return {"sex": ("female", "male", "other")[who % 3]}

    def come(self, person: Person) -> Place | Full:
        before = arm_counts(self.study, self.state, self.now)
        known = any(
            (place.person, place.world) == (person.key, person.world) for place in self.state.places
        )
        answer = choose_place(self.study, self.state, person, self.now, secret=KEY)
        if isinstance(answer, Place):
            self.admitted(answer, person, before, known=known)
        elif not known:
            self.turned_away(answer, person)
        return answer

    def admitted(
        self, place: Place, person: Person, before: dict[str, int], *, known: bool
    ) -> None:
        first = self.firsts.setdefault((person.key, person.world), (place.arm, place.slot))
        assert first == (place.arm, place.slot), "the same person, the same place"
        self.state = with_place(self.state, place)
        after = arm_counts(self.study, self.state, self.now)
        if person.world != "person":
            assert after == before, "neither test visits nor bots count"
        elif not known:
            assert place.arm not in self.state.stopped
            open_arms = [arm for arm in before if arm not in self.state.stopped]
            room = [arm for arm in open_arms if before[arm] < self.state.slots[arm]]
            assert before[place.arm] == min(before[arm] for arm in room), "to the fewest"

    def turned_away(self, answer: Full, person: Person) -> None:
        active = [
            place
            for place in self.state.places
            if place.world == person.world and counts(place, self.study.time_limits, self.now)
        ]
        held = Counter(item.arm for item in active)
        room = [arm for arm, slots in self.state.slots.items() if held[arm] < slots]
        if answer.reason == "full" and person.world != "test":
            assert not room
        elif answer.reason == "stopped" and person.world != "test":
            assert room
            assert set(room) <= self.state.stopped
        elif answer.reason == "quota":
            total = sum(self.state.slots.values())
            traits = [item.traits for item in active]
            assert not has_room(self.study.quotas, total, traits, person.traits)

    def check(self) -> None:
        people = Counter((place.person, place.world) for place in self.state.places)
        assert set(people.values()) <= {1}, "nobody has two places"
        for world in ("person", "simulated"):
            active = [
                place
                for place in self.state.places
                if place.world == world and counts(place, self.study.time_limits, self.now)
            ]
            holders = Counter((item.arm, item.slot) for item in active)
            assert set(holders.values()) <= {1}, "no slot has two holders"
            for quota in self.study.quotas:
                limits = quota_limits(quota, sum(self.state.slots.values()))
                kinds = Counter(item.traits[quota.by] for item in active)
                assert kinds["female"] <= limits["female"]
                assert kinds["male"] <= limits["male"]
                assert kinds["other"] <= limits["others"]


@settings(max_examples=150, deadline=None)
@given(EVENTS, st.integers(1, 5), st.integers(1, 4))
def test_every_decision_holds_whatever_people_do(
    events: list[Event], slots: int, arms: int
) -> None:
    site = Site(between(), {f"arm {number}": slots for number in range(arms)})
    for event in events:
        site.play(event)


@settings(max_examples=100, deadline=None)
@given(EVENTS, st.integers(2, 8))
def test_quotas_are_never_overfilled(events: list[Event], slots: int) -> None:
    quota = Quota(by="sex", counts={"female": slots, "male": slots // 2}, others=1)
    site = Site(between(quotas=(quota,)), {"one": slots, "two": slots})
    for event in events:
        site.play(event)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["arrive", "finish", "back", "test"]), max_size=80), st.integers(2, 5)
)
def test_arms_are_level_to_within_one_at_all_times_while_nobody_leaves(
    events: list[str], arms: int
) -> None:
    site = Site(between(), {f"arm {number}": 10 for number in range(arms)})
    for number, kind in enumerate(events):
        world: World = "test" if kind == "test" else "person"
        if kind in ("arrive", "test"):
            site.come(Person(f"{kind} {number}", world))
        elif site.state.places:
            place = site.state.places[number % len(site.state.places)]
            if kind == "finish" and place.world == "person":
                site.state = with_place(site.state, ended(place, "finished"))
            else:
                site.come(Person(place.person, place.world))
        held = arm_counts(site.study, site.state, site.now).values()
        assert max(held) - min(held) <= 1


@settings(max_examples=100, deadline=None)
@given(EVENTS, st.integers(2, 4))
def test_newcomers_bring_the_arms_back_to_level_after_any_leaving(
    events: list[Event], arms: int
) -> None:
    site = Site(between(), {f"arm {number}": 80 for number in range(arms)})
    for event in events:
        if event.kind != "stop":
            site.play(event)
    held = arm_counts(site.study, site.state, site.now)
    gap = sum(max(held.values()) - value for value in held.values())
    for number in range(gap):
        site.come(Person(f"late {number}"))
    after = arm_counts(site.study, site.state, site.now).values()
    assert max(after) - min(after) == 0


STUDIES = (
    between(ratings_per_response=1),
    between(ratings_per_response=3, arms={name: Arm(respondent=f"model/{name}") for name in "abc"}),
    within(3, batch_size=3, ratings_per_response=2),
    within(4, batch_size=4, replies_per_situation="one", ratings_per_response=1),
    appraisal(),
)


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.sampled_from(STUDIES))
def test_every_response_has_exactly_its_number_of_ratings_when_all_places_are_done(
    events: list[Event], study: Study
) -> None:
    slots = study_slots(study, ids(12))
    site = Site(study, {arm: len(own) for arm, own in slots.items()})
    for event in events:
        site.play(event)
    site.state = dataclasses.replace(site.state, stopped=frozenset())
    site.now += timedelta(days=1)
    while isinstance(place := site.come(Person(f"last {len(site.state.places)}")), Place):
        site.state = with_place(site.state, ended(place, "finished"))
    assert place.reason == "full"
    rated = Counter(
        item
        for place in site.state.places
        if place.world == "person" and place.status == "finished"
        for item in slots[place.arm][place.slot].items
    )
    assert rated == Counter(item for own in slots.values() for slot in own for item in slot.items)
    assert set(rated.values()) == {study.repeats}


def test_two_hundred_raters_who_come_at_once_are_level_and_leave_no_gap() -> None:
    study = between(
        batch_size=10,
        ratings_per_response=1,
        arms={name: Arm(respondent=f"m/{name}") for name in "abcde"},
    )
    slots = study_slots(study, ids(400))
    site = Site(study, {arm: len(own) for arm, own in slots.items()})
    for number in range(200):
        site.come(Person(f"person {number}"))
        held = arm_counts(study, site.state, site.now).values()
        assert max(held) - min(held) <= 1
    assert isinstance(site.come(Person("one more")), Full)
    assert {(place.arm, place.slot) for place in site.state.places} == {
        (arm, number) for arm in "abcde" for number in range(40)
    }
