"""The shares of the points, from the tokens that a judge weighed."""

from __future__ import annotations

import math

import pytest

from empathylab.judging.distributions import point_distribution
from empathylab.models import TokenAlternatives

POINTS = ("Bad", "Okay", "Good")


def weighed(*tokens: str | dict[str, float]) -> list[TokenAlternatives]:
    """Tokens; a dict gives the alternatives with their probabilities, the one taken first."""
    found = []
    for item in tokens:
        shares = item if isinstance(item, dict) else {item: 1.0}
        top = {token: math.log(share) for token, share in shares.items()}
        taken = next(iter(shares))
        found.append(TokenAlternatives(taken, top[taken], top))
    return found


def test_the_shares_are_those_at_the_points_place() -> None:
    tokens = weighed('{"', "empathy", '":', ' "', {"Good": 0.6, "Bad": 0.2, "Nice": 0.2}, '"}')
    found = point_distribution(tokens, "empathy", POINTS)
    assert found is not None
    assert found.probabilities == pytest.approx({"Bad": 0.25, "Okay": 0.0, "Good": 0.75})
    assert found.mass == pytest.approx(0.8)
    assert found.expected({"Bad": 1, "Okay": 2, "Good": 3}) == pytest.approx(2.5)
    assert found.entropy == pytest.approx(0.8112781)


def test_a_quotation_mark_may_belong_to_the_points_token() -> None:
    tokens = weighed('{"empathy":', {' "Good': 0.5, ' "Bad': 0.25, ' "': 0.25}, '"}')
    found = point_distribution(tokens, "empathy", POINTS)
    assert found is not None
    assert found.probabilities == pytest.approx({"Bad": 1 / 3, "Okay": 0.0, "Good": 2 / 3})
    assert found.mass == pytest.approx(0.75)


def test_points_that_begin_alike_are_distinguished_further_on() -> None:
    tokens = weighed(
        '{"empathy": "', {"Very": 0.8, "No": 0.2}, {" good": 0.5, " bad": 0.25, '"': 0.25}, '"}'
    )
    found = point_distribution(tokens, "empathy", ("No", "Very", "Very bad", "Very good"))
    assert found is not None
    expected = {"No": 0.2, "Very": 0.2, "Very bad": 0.2, "Very good": 0.4}
    assert found.probabilities == pytest.approx(expected)


def test_numbers_of_two_digits_are_recognised_by_their_first_digit() -> None:
    tokens = weighed('{"empathy": "', {"1": 0.9, "2": 0.1}, {'0"': 0.5, '"': 0.5}, "}")
    found = point_distribution(tokens, "empathy", ("1", "2", "10"))
    assert found is not None
    assert found.probabilities == pytest.approx({"1": 0.45, "2": 0.1, "10": 0.45})


def test_what_could_become_several_points_counts_for_none() -> None:
    tokens = weighed('{"empathy": "', {"No": 0.5, "Ver": 0.5}, '"}')
    found = point_distribution(tokens, "empathy", ("No", "Very bad", "Very good"))
    assert found is not None
    assert found.probabilities == {"No": 1.0, "Very bad": 0.0, "Very good": 0.0}
    assert found.mass == pytest.approx(0.5)


def test_each_dimension_is_read_at_its_own_place() -> None:
    tokens = weighed('{"a": "', {"Good": 0.5, "Bad": 0.5}, '", "b": "', {"Bad": 1.0}, '"}')
    first, second = (point_distribution(tokens, name, POINTS) for name in ("a", "b"))
    assert first is not None
    assert second is not None
    assert (first.probabilities["Good"], second.probabilities["Bad"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    "tokens",
    [
        weighed("Good"),
        weighed('{"empathy": "', {"Nice": 1.0}, '"}'),
        weighed('{"empathy": "', {"Good": 1.0}, '", "empathy": "', {"Bad": 1.0}, '"}'),
        weighed('{"empathy": "'),
        [],
    ],
)
def test_without_a_place_there_are_no_shares(tokens: list[TokenAlternatives]) -> None:
    assert point_distribution(tokens, "empathy", POINTS) is None
