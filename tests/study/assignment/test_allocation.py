"""Who gets which place."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from empathylab.errors import InputError
from empathylab.study import Study
from empathylab.study.assignment.allocation import (
    Full,
    Person,
    Place,
    State,
    World,
    choose_arm,
    choose_place,
    displaced,
    ended,
    is_live,
)
from empathylab.study.design.definition import Quota, TimeLimits
from tests.study.assigned import arm_counts, with_place
from tests.study.examples import KEY, altered, between

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SLOTS = State({"one": 3, "two": 3})


def minutes(count: float) -> datetime:
    return NOON + timedelta(minutes=count)


def arrive(
    state: State, *names: str, study: Study | None = None, at: float = 0, world: World = "person"
) -> State:
    for name in names:
        place = choose_place(
            study or between(), state, Person(name, world), minutes(at), secret=KEY
        )
        assert isinstance(place, Place), place
        state = with_place(state, place)
    return state


def place_of(state: State, name: str, world: World = "person") -> Place:
    return next(place for place in state.places if (place.person, place.world) == (name, world))


def leave(state: State, name: str, status: str) -> State:
    return with_place(state, ended(place_of(state, name), status))  # type: ignore[arg-type]


def refusal(state: State, name: str, *, study: Study | None = None, at: float = 0) -> str:
    answer = choose_place(study or between(), state, Person(name), minutes(at), secret=KEY)
    assert isinstance(answer, Full), answer
    return answer.reason


def test_newcomers_go_to_the_arms_in_turn() -> None:
    state = arrive(SLOTS, "a", "b", "c", "d")
    assert arm_counts(between(), state, NOON) == {"one": 2, "two": 2}


def test_who_goes_first_to_which_arm_is_chance_that_the_seed_repeats() -> None:
    arms = [
        place_of(arrive(SLOTS, f"person {number}"), f"person {number}").arm for number in range(40)
    ]
    assert {"one", "two"} == set(arms)
    assert arms[0] == place_of(arrive(SLOTS, "person 0"), "person 0").arm


def test_a_person_who_comes_back_has_the_same_place() -> None:
    state = arrive(SLOTS, "a", "b")
    again = choose_place(between(), state, Person("a"), minutes(10), secret=KEY)
    assert isinstance(again, Place)
    assert (again.arm, again.slot) == (place_of(state, "a").arm, place_of(state, "a").slot)
    assert again.seen_at == minutes(10)
    assert again.claimed_at == NOON


def test_nobody_gets_a_place_when_all_are_taken() -> None:
    state = arrive(SLOTS, *"abcdef")
    assert refusal(state, "g") == "full"


@pytest.mark.parametrize("status", ["returned", "timed-out", "withdrawn", "failed", "excluded"])
def test_a_place_that_was_left_is_given_to_the_next(status: str) -> None:
    state = arrive(SLOTS, *"abcdef")
    free = place_of(state, "c")
    state = arrive(leave(state, "c", status), "g")
    assert (place_of(state, "g").arm, place_of(state, "g").slot) == (free.arm, free.slot)


def test_an_abandoned_place_is_given_on_after_its_time() -> None:
    state = arrive(SLOTS, *"abcdef")
    assert refusal(state, "g", at=60) == "full"
    assert isinstance(choose_place(between(), state, Person("g"), minutes(60.1), secret=KEY), Place)


def test_a_slot_that_nobody_began_goes_before_an_abandoned_one() -> None:
    one_arm = State({"one": 3})
    state = arrive(arrive(one_arm, "a"), "b", at=100)
    assert place_of(state, "b").slot == 1
    again = choose_place(between(), state, Person("a"), minutes(60 * 24), secret=KEY)
    assert isinstance(again, Place)
    assert again.slot == 0


def test_of_abandoned_places_the_one_left_longest_ago_is_given_on() -> None:
    state = State({"one": 2})
    state = arrive(arrive(state, "a", at=30), "b", at=0)
    state = arrive(state, "c", at=200)
    assert place_of(state, "c").slot == place_of(state, "b").slot
    assert place_of(state, "b").status == "abandoned"
    assert place_of(state, "a").status == "live"


def test_who_was_displaced_is_told_so_and_gets_no_other_place() -> None:
    state = arrive(arrive(State({"one": 1}), "a"), "b", at=100)
    assert refusal(state, "a", at=101) == "given-on"


def test_who_was_displaced_may_go_on_when_the_place_is_free_again() -> None:
    state = arrive(arrive(State({"one": 1}), "a"), "b", at=100)
    state = leave(state, "b", "returned")
    assert isinstance(choose_place(between(), state, Person("a"), minutes(101), secret=KEY), Place)


def test_the_places_to_mark_abandoned_are_named() -> None:
    state = arrive(State({"one": 1}), "a")
    place = choose_place(between(), state, Person("b"), minutes(100), secret=KEY)
    assert isinstance(place, Place)
    assert [item.person for item in displaced(state, place)] == ["a"]


def test_test_visits_share_a_slot() -> None:
    state = arrive(State({"one": 1}), "a", world="test")
    place = choose_place(between(), state, Person("b", "test"), NOON, secret=KEY)
    assert isinstance(place, Place)
    assert displaced(state, place) == ()


def test_a_participant_who_returned_a_place_may_take_it_up_again() -> None:
    state = leave(arrive(SLOTS, "a"), "a", "returned")
    again = choose_place(between(), state, Person("a"), minutes(5), secret=KEY)
    assert isinstance(again, Place)
    assert again.status == "live"


@pytest.mark.parametrize("status", ["withdrawn", "failed", "excluded"])
def test_who_left_for_good_does_not_come_back(status: str) -> None:
    assert refusal(leave(arrive(SLOTS, "a"), "a", status), "a") == "ended"


def test_finished_work_stays_finished_whatever_the_platform_says() -> None:
    place = ended(place_of(arrive(SLOTS, "a"), "a"), "finished")
    assert ended(place, "returned") == place
    assert ended(place, "excluded").status == "excluded"
    assert ended(ended(place, "withdrawn"), "live").status == "withdrawn"


def test_a_place_that_was_given_on_cannot_be_finished() -> None:
    state = arrive(arrive(State({"one": 1}), "a"), "b", at=100)
    assert ended(place_of(state, "a"), "finished").status == "abandoned"


def test_who_has_finished_gets_the_finished_place_and_no_second_one() -> None:
    state = leave(arrive(SLOTS, "a"), "a", "finished")
    place = choose_place(between(), state, Person("a"), minutes(9999), secret=KEY)
    assert place == place_of(state, "a")


def test_a_finished_place_counts_for_ever() -> None:
    state = leave(arrive(State({"one": 1}), "a"), "a", "finished")
    assert refusal(state, "b", at=9999) == "full"


def test_test_visits_never_count() -> None:
    state = arrive(SLOTS, *(f"test {number}" for number in range(50)), world="test")
    assert arm_counts(between(), state, NOON) == {"one": 0, "two": 0}
    state = arrive(state, *"abcdef")
    assert refusal(state, "g") == "full"


def test_a_test_visit_shows_what_the_next_person_would_get() -> None:
    state = arrive(State({"one": 2}), "a")
    state = arrive(state, "me", world="test")
    state = arrive(state, "b")
    assert place_of(state, "me", "test").slot == place_of(state, "b").slot


def test_a_test_visit_is_possible_while_a_study_is_paused() -> None:
    paused = dataclasses.replace(SLOTS, status="paused")
    assert isinstance(
        choose_place(between(), paused, Person("me", "test"), NOON, secret=KEY), Place
    )


def test_simulated_raters_are_level_among_themselves_and_disturb_nobody() -> None:
    state = arrive(SLOTS, "x", "y", "z", world="simulated")
    assert sorted(sum(place.arm == arm for place in state.places) for arm in ("one", "two")) == [
        1,
        2,
    ]
    assert arm_counts(between(), state, NOON) == {"one": 0, "two": 0}


def test_the_same_name_in_another_world_is_another_person() -> None:
    state = arrive(arrive(SLOTS, "a", world="simulated"), "a")
    assert len(state.places) == 2


def test_a_stopped_arm_takes_nobody_new() -> None:
    state = arrive(dataclasses.replace(SLOTS, stopped=frozenset({"one"})), "a", "b", "c")
    assert arm_counts(between(), state, NOON) == {"one": 0, "two": 3}
    assert refusal(state, "d") == "stopped"


def test_who_is_in_a_stopped_arm_may_finish() -> None:
    state = arrive(SLOTS, "a", "b")
    state = dataclasses.replace(state, stopped=frozenset({"one", "two"}))
    assert isinstance(choose_place(between(), state, Person("a"), minutes(1), secret=KEY), Place)


def test_who_returned_a_place_in_a_stopped_arm_does_not_take_it_up_again() -> None:
    state = leave(arrive(State({"one": 1}), "a"), "a", "returned")
    assert refusal(dataclasses.replace(state, stopped=frozenset({"one"})), "a") == "stopped"


def test_nobody_comes_into_a_paused_or_closed_study() -> None:
    assert refusal(dataclasses.replace(SLOTS, status="paused"), "a") == "paused"
    assert refusal(dataclasses.replace(SLOTS, status="closed"), "a") == "closed"


def test_who_is_in_may_go_on_while_the_study_is_paused_but_not_when_it_is_closed() -> None:
    state = arrive(SLOTS, "a")
    paused = dataclasses.replace(state, status="paused")
    assert isinstance(choose_place(between(), paused, Person("a"), minutes(1), secret=KEY), Place)
    assert refusal(dataclasses.replace(state, status="closed"), "a") == "closed"


def test_a_clock_set_back_makes_nobody_late_and_gives_nothing_on() -> None:
    state = arrive(State({"one": 1}), "a", at=0)
    assert refusal(state, "b", at=-600) == "full"
    again = choose_place(between(), state, Person("a"), minutes(-600), secret=KEY)
    assert isinstance(again, Place)
    assert again.seen_at == NOON


def test_a_clock_that_leaps_ahead_costs_nobody_their_place_while_others_are_free() -> None:
    state = arrive(arrive(SLOTS, "a", "b"), "c", at=60 * 24 * 365)
    for name in "ab":
        again = choose_place(between(), state, Person(name), minutes(5), secret=KEY)
        assert isinstance(again, Place)
        assert again.slot == place_of(state, name).slot


def test_a_place_that_was_seen_days_ahead_is_not_held() -> None:
    for hours, held in ((23, True), (25, False)):
        place = Place("a", "one", 0, NOON, NOON + timedelta(hours=hours))
        assert is_live(place, TimeLimits(), NOON) is held


def test_the_time_to_finish_is_counted_from_the_claim() -> None:
    study = between(time_limits=TimeLimits(abandon_after=60, finish_within=90))
    place = place_of(arrive(SLOTS, "a"), "a")
    seen = dataclasses.replace(place, seen_at=minutes(80))
    assert is_live(seen, study.time_limits, minutes(90))
    assert not is_live(seen, study.time_limits, minutes(91))


def test_who_resumes_a_late_place_has_the_time_to_finish_anew() -> None:
    study = between(time_limits=TimeLimits(abandon_after=60, finish_within=90))
    again = choose_place(study, arrive(SLOTS, "a"), Person("a"), minutes(500), secret=KEY)
    assert isinstance(again, Place)
    assert is_live(again, study.time_limits, minutes(510))


QUOTA = Quota(by="sex", counts={"female": 2, "male": 1})


def person(name: str, sex: str) -> Person:
    return Person(name, traits={"sex": sex})


def admit(study: Study, state: State, *people: Person) -> State:
    for item in people:
        place = choose_place(study, state, item, NOON, secret=KEY)
        assert isinstance(place, Place), place
        state = with_place(state, place)
    return state


def test_a_full_quota_turns_away_its_kind_only() -> None:
    study = between(quotas=(QUOTA,))
    state = admit(study, SLOTS, person("a", "male"))
    answer = choose_place(study, state, person("b", "male"), NOON, secret=KEY)
    assert answer == Full("quota")
    assert answer.outcome == "screened-out"
    admit(study, state, person("c", "female"), person("d", "female"))


def test_who_is_of_no_named_kind_comes_in_by_the_others_only() -> None:
    study = between(quotas=(QUOTA,))
    assert choose_place(study, SLOTS, person("a", "other"), NOON, secret=KEY) == Full("quota")
    open_to_others = between(quotas=(altered(QUOTA, others=1),))
    state = admit(open_to_others, SLOTS, person("a", "other"))
    assert choose_place(open_to_others, state, Person("b"), NOON, secret=KEY) == Full("quota")


def test_a_freed_place_frees_its_quota() -> None:
    study = between(quotas=(QUOTA,))
    state = admit(study, SLOTS, person("a", "male"))
    admit(study, leave(state, "a", "returned"), person("b", "male"))


def test_a_participant_late_whose_quota_was_filled_meanwhile_does_not_overfill_it() -> None:
    study = between(quotas=(QUOTA,))
    state = admit(study, SLOTS, person("a", "male"))
    late = choose_place(study, state, person("b", "male"), minutes(100), secret=KEY)
    assert isinstance(late, Place)
    state = with_place(state, late)
    assert choose_place(study, state, person("a", "male"), minutes(101), secret=KEY) == Full(
        "quota"
    )


def test_between_level_arms_the_one_with_fewer_of_the_same_kind_is_chosen() -> None:
    study = between(quotas=(Quota(by="sex", counts={"female": 3, "male": 3}),))
    state = admit(study, SLOTS, person("a", "female"), person("b", "male"))
    for name in ("c", "d", "e", "f", "g"):
        after = admit(study, state, person(name, "female"))
        assert place_of(after, name).arm != place_of(state, "a").arm


def test_level_arms_come_before_an_equal_mix_of_kinds() -> None:
    study = between(quotas=(Quota(by="sex", counts={"female": 3, "male": 3}),))
    taken = (("a", "one", 0, "male"), ("b", "one", 1, "male"), ("c", "two", 0, "female"))
    places = tuple(
        Place(name, arm, slot, NOON, NOON, traits={"sex": sex}) for name, arm, slot, sex in taken
    )
    # Arm one has no woman yet, but arm two has fewer people.
    for name in ("d", "e", "f", "g"):
        state = State(SLOTS.slots, places)
        assert choose_arm(study, state, person(name, "female"), places, secret=KEY) == "two"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InputError, match="no time zone"):
        choose_place(between(), SLOTS, Person("a"), datetime(2026, 1, 1), secret=KEY)  # noqa: DTZ001
