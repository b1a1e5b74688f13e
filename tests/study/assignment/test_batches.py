"""Packets of work: every response its number of times, in a balanced order."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.errors import InputError
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.seeded_random import draw, shuffled, turned
from empathylab.study.assignment.slots import Item, evenly
from empathylab.study.design.definition import EVERYONE
from tests.study.examples import appraisal, between, ids, within


def rated(slots: dict[str, tuple[object, ...]]) -> Counter[Item]:
    return Counter(item for own in slots.values() for slot in own for item in slot.items)  # type: ignore[attr-defined]


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 4), st.integers(0, 5))
def test_between_subjects_each_response_has_its_number(
    situations: int, batch: int, repeats: int, seed: int
) -> None:
    study = between(batch_size=batch, ratings_per_response=repeats, seed=seed)
    counts = rated(study_slots(study, ids(situations)))  # type: ignore[arg-type]
    assert len(counts) == 2 * situations
    assert set(counts.values()) == {repeats}


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 3), st.integers(2, 6))
def test_with_all_replies_each_response_has_its_number(
    situations: int, batch: int, repeats: int, arms: int
) -> None:
    study = within(arms, batch_size=batch, ratings_per_response=repeats)
    counts = rated(study_slots(study, ids(situations)))  # type: ignore[arg-type]
    assert len(counts) == arms * situations
    assert set(counts.values()) == {repeats}


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 3), st.integers(1, 3), st.integers(2, 6))
def test_with_one_reply_each_response_has_its_number(
    groups: int, rounds: int, repeats: int, arms: int
) -> None:
    study = within(
        arms, batch_size=rounds * arms, ratings_per_response=repeats, replies_per_situation="one"
    )
    slots = study_slots(study, ids(groups * arms))
    counts = rated(slots)  # type: ignore[arg-type]
    assert len(counts) == groups * arms * arms
    assert set(counts.values()) == {repeats}
    for slot in slots[EVERYONE]:
        shown = [item.situation for item in slot.items]
        assert len(set(shown)) == len(shown), "nobody sees a situation twice"
        by_arm = Counter(item.arm for item in slot.items)
        assert len(by_arm) == arms
        assert len(set(by_arm.values())) == 1, "each rater sees all arms equally often"


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 4))
def test_nobody_meets_a_response_twice(situations: int, batch: int, repeats: int) -> None:
    for study in (
        between(batch_size=batch, ratings_per_response=repeats),
        within(3, batch_size=batch),
    ):
        for own in study_slots(study, ids(situations)).values():
            for slot in own:
                assert len(set(slot.items)) == len(slot.items)


def test_every_situation_is_imagined_by_its_number_of_people() -> None:
    counts = rated(study_slots(appraisal(), ids(4)))  # type: ignore[arg-type]
    assert counts == {Item(id_, None): 3 for id_ in ids(4)}


def test_batches_are_as_even_as_can_be() -> None:
    assert [len(part) for part in evenly(range(36), 10)] == [9, 9, 9, 9]
    assert [len(part) for part in evenly(range(7), 3)] == [2, 2, 3]
    assert evenly([], 3) == []


def test_the_paper_needs_two_hundred_raters_for_an_arm() -> None:
    # Welivita & Pu (2024): 2,000 responses to an arm, 10 to a rater, each rated once.
    slots = study_slots(between(batch_size=10, ratings_per_response=1), ids(2000))
    assert [len(own) for own in slots.values()] == [200, 200]
    assert {len(slot.items) for own in slots.values() for slot in own} == {10}


def test_the_arms_have_the_same_situations_in_the_same_order() -> None:
    one, two = study_slots(between(), ids(20)).values()
    assert [[item.situation for item in slot.items] for slot in one] == [
        [item.situation for item in slot.items] for slot in two
    ]


def test_an_arm_that_joins_later_changes_nobodys_batch() -> None:
    study = between()
    more = between(arms={**study.arms, "new": study.arms["one"]})
    assert study_slots(more, ids(20))["one"] == study_slots(study, ids(20))["one"]


def test_the_order_of_arms_and_situations_in_a_file_does_not_matter() -> None:
    study = within(4)
    other = within(4, arms=dict(reversed(study.arms.items())))
    assert study_slots(study, ids(8)) == study_slots(other, ids(8)[::-1])


def test_another_repeat_is_cut_otherwise() -> None:
    own = study_slots(between(batch_size=5, ratings_per_response=2), ids(20))["one"]
    first = {frozenset(item.situation for item in slot.items) for slot in own[:4]}
    second = {frozenset(item.situation for item in slot.items) for slot in own[4:]}
    assert first != second


def test_with_all_replies_the_rows_of_the_design_take_turns() -> None:
    # 12 situations and 4 arms: each of the 4 rows three times, so each pair of neighbours too.
    [slots] = study_slots(within(4, batch_size=3, ratings_per_response=1), ids(12)).values()
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    first: Counter[str | None] = Counter()
    for slot in slots:
        for start in range(0, len(slot.items), 4):
            replies = [item.arm for item in slot.items[start : start + 4]]
            assert len({item.situation for item in slot.items[start : start + 4]}) == 1
            pairs.update(itertools.pairwise(replies))
            first[replies[0]] += 1
    assert len(pairs) == 12
    assert set(pairs.values()) == {3}
    assert set(first.values()) == {3}


def test_with_one_reply_each_arm_follows_each_other_equally_often() -> None:
    # 3 arms need both squares: two groups of situations, or two repeats of one.
    study = within(3, batch_size=3, ratings_per_response=2, replies_per_situation="one")
    [slots] = study_slots(study, ids(3)).values()
    pairs = Counter(
        pair for slot in slots for pair in itertools.pairwise(item.arm for item in slot.items)
    )
    assert len(pairs) == 6
    assert set(pairs.values()) == {2}


def test_situations_that_do_not_go_into_groups_are_refused() -> None:
    study = within(3, batch_size=3, replies_per_situation="one")
    with pytest.raises(InputError, match="multiple of the number of arms, 3.*got 10. Use 9"):
        study_slots(study, ids(10))


def test_a_situation_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="named twice; got 'a'"):
        study_slots(between(), ["a", "b", "a"])


def test_without_situations_there_are_no_slots() -> None:
    assert study_slots(between(), []) == {"one": (), "two": ()}


def test_draws_are_the_same_on_every_machine() -> None:
    # printf '[7, "a", "1"]' | sha256sum
    assert draw(7, "a", 1).hex()[:16] == "e29a9de53f17fbff"
    assert shuffled("abcdef", 7, "x") == tuple("cbfdae")


def test_parts_of_a_draw_are_kept_apart() -> None:
    assert draw(1, "ab", "c") != draw(1, "a", "bc")


def test_both_sides_come_up_about_equally_often() -> None:
    sides = [turned(1, "side", number) for number in range(1000)]
    # Binomial, n = 1000, p = ½: 450 to 550 covers 99.8%; the draw is fixed, so it never flickers.
    assert 450 < sum(sides) < 550
