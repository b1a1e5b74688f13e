"""How many are drawn from each stratum."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.errors import InputError
from empathylab.situations.sampling.allocation import Cell, allocate
from empathylab.situations.sampling.strata import marginal


def shared(supply: Mapping[Cell, int], count: int) -> dict[Cell, int]:
    return allocate(supply, count, lambda cell: "/".join(cell))


def singles(**supply: int) -> dict[Cell, int]:
    return {(name,): number for name, number in supply.items()}


def spread(counts: Mapping[str, int]) -> int:
    return max(counts.values()) - min(counts.values())


def test_an_even_count_is_shared_out_evenly() -> None:
    assert shared(singles(a=10, b=10, c=10), 12) == singles(a=4, b=4, c=4)


def test_a_remainder_goes_to_different_values() -> None:
    assert shared(singles(a=10, b=10, c=10), 11) == singles(a=4, b=4, c=3)


def test_a_value_that_has_too_little_gives_all_and_the_others_share_the_rest() -> None:
    # 20 over four: 5 each; a has 2, so 18 are left for three: 6 each.
    assert shared(singles(a=2, b=9, c=9, d=9), 20) == singles(a=2, b=6, c=6, d=6)


def test_all_can_be_taken() -> None:
    assert shared(singles(a=2, b=1), 3) == singles(a=2, b=1)


def test_more_than_there_is_is_refused() -> None:
    with pytest.raises(
        InputError, match="5 situations were requested, but only 3 are left.*at most 3"
    ):
        shared(singles(a=2, b=1), 5)


def test_without_a_balance_there_is_one_stratum() -> None:
    assert shared({(): 9}, 4) == {(): 4}


def test_from_nothing_nothing_can_be_drawn() -> None:
    with pytest.raises(InputError, match="but only 0 are left"):
        shared({}, 1)


def test_two_balances_are_both_even_where_the_cells_are_full() -> None:
    supply = {(a, b): 50 for a in "abcde" for b in "xyz"}
    taken = shared(supply, 101)
    assert spread(marginal(taken, 0)) <= 1
    assert spread(marginal(taken, 1)) <= 1
    assert max(taken.values()) - min(taken.values()) <= 1


def test_a_chain_of_moves_evens_out_the_second_balance() -> None:
    # a can only give x or y, b only y or z: 4 of each leave x, y and z at 8/3 only by a chain.
    supply = {("a", "x"): 9, ("a", "y"): 9, ("b", "y"): 9, ("b", "z"): 9}
    taken = shared(supply, 8)
    assert marginal(taken, 0) == {"a": 4, "b": 4}
    assert sorted(marginal(taken, 1).values()) == [2, 3, 3]


supplies = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), st.integers(1, 4), min_size=1
)


@settings(max_examples=200, deadline=None)
@given(supplies, st.data())
def test_the_first_balance_differs_by_one_at_most_where_supply_allows(
    supply: dict[Cell, int], data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, sum(supply.values())))
    taken = shared(supply, count)
    assert sum(taken.values()) == count
    assert all(0 <= taken[cell] <= supply[cell] for cell in supply)
    counts, available = marginal(taken, 0), marginal(supply, 0)
    level = max(counts.values())
    for value, number in counts.items():
        assert number >= level - 1 or number == available[value]


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), st.integers(1, 3), min_size=2
    ),
    st.data(),
)
def test_the_second_balance_is_as_even_as_any_choice_with_the_same_first(
    supply: dict[Cell, int], data: st.DataObject
) -> None:
    taken = shared(supply, data.draw(st.integers(1, sum(supply.values()))))
    first = marginal(taken, 0)

    def unevenness(choice: Mapping[Cell, int]) -> int:
        return sum(number**2 for number in marginal(choice, 1).values())

    choices = itertools.product(*(range(number + 1) for number in supply.values()))
    options = (dict(zip(supply, choice, strict=True)) for choice in choices)
    best = min(unevenness(option) for option in options if marginal(option, 0) == first)
    assert unevenness(taken) == best


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from("12")),
        st.integers(1, 5),
        min_size=1,
    ),
    st.data(),
)
def test_three_balances_stay_within_supply_and_keep_the_first_even(
    supply: dict[Cell, int], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, sum(supply.values())))
    taken = shared(supply, count)
    assert sum(taken.values()) == count
    assert all(0 <= taken[cell] <= supply[cell] for cell in supply)
    counts, available = marginal(taken, 0), marginal(supply, 0)
    assert all(
        number >= max(counts.values()) - 1 or number == available[value]
        for value, number in counts.items()
    )
