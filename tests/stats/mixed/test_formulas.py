"""Formulas taken apart."""

from __future__ import annotations

import pytest

from empathylab.errors import InputError
from empathylab.stats.mixed.formulas import parse_formula


def labels(text: str) -> list[str]:
    return [":".join(variable.label for variable in term) for term in parse_formula(text).terms]


def test_a_star_gives_main_effects_and_their_interaction() -> None:
    assert labels("rating ~ source * valence") == ["source", "valence", "source:valence"]


def test_main_effects_come_before_interactions_as_in_r() -> None:
    assert labels("rating ~ a:b + c") == ["c", "a:b"]


def test_a_slash_gives_the_outer_group_and_the_pair() -> None:
    assert parse_formula("rating ~ 1 + (1|school/class)").groups == (
        ("school",),
        ("school", "class"),
    )


def test_a_group_named_twice_counts_once() -> None:
    assert parse_formula("rating ~ 1 + (1|a/b) + (1|a)").groups == (("a",), ("a", "b"))


def test_columns_are_named_once_the_response_first() -> None:
    found = parse_formula("rating ~ arm * x + (1|rater) + (1|arm:x)")
    assert found.columns == ("rating", "arm", "x", "rater")


def test_backquotes_hold_names_with_spaces() -> None:
    assert parse_formula("rating ~ `my arm` + (1|`the rater`)").columns == (
        "rating",
        "my arm",
        "the rater",
    )


def test_a_number_in_c_is_categorical() -> None:
    (term,) = parse_formula("rating ~ C(week)").terms
    assert (term[0].name, term[0].categorical) == ("week", True)


def test_a_zero_takes_the_intercept_away() -> None:
    assert not parse_formula("rating ~ 0 + arm").intercept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rating ~ arm + (0|rater)", "random term is empty"),
        ("rating ~ arm + (1|)", "cannot be read"),
        ("rating ~ arm + (|rater)", "cannot be read"),
        ("rating ~ log(x)", "only C"),
        ("log(rating) ~ x", "one plain column"),
        ("arm + valence", "names no response"),
        ("rating ~ arm +", "cannot be read"),
        ("", "cannot be read"),
        ("rating ~ arm + 3", "the number 3 is not a column"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_formula(text)


def random(text: str) -> list[tuple[str, bool, list[str], bool]]:
    return [
        (
            ":".join(item.group),
            item.intercept,
            [":".join(variable.label for variable in term) for term in item.terms],
            item.correlated,
        )
        for item in parse_formula(text).random
    ]


def test_slopes_have_an_intercept_unless_a_zero_takes_it_away() -> None:
    assert random("rating ~ arm + (arm|rater) + (0 + arm|item)") == [
        ("rater", True, ["arm"], True),
        ("item", False, ["arm"], True),
    ]


def test_two_bars_part_intercept_and_slopes() -> None:
    assert random("rating ~ arm + (1 + arm * x || rater)") == [
        ("rater", True, ["arm", "x", "arm:x"], False)
    ]


def test_a_slope_with_c_and_quotes_is_read() -> None:
    assert random("rating ~ (C(week) - 1 | `the rater`/day)") == [
        ("the rater", False, ["C(week)"], True),
        ("the rater:day", False, ["C(week)"], True),
    ]
