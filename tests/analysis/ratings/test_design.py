"""The design of a study is recognised from who rated what."""

from __future__ import annotations

import random
from collections.abc import Iterable

import polars as pl
import pytest

from empathylab.analysis.ratings.design import (
    ReferenceArm,
    pairing_unit,
    recognise_design,
    reference_arm,
)
from empathylab.analysis.ratings.model import random_terms
from empathylab.errors import UserError

ARMS = ("human", "gpt")
Place = tuple[str, int, str]


def ratings(places: Iterable[Place], dimensions: tuple[str, ...] = ("empathy",)) -> pl.DataFrame:
    """One row per rater, situation, arm and dimension."""
    return pl.DataFrame(
        [
            {"rater": rater, "situation": f"s{s}", "arm": arm, "dimension": name, "rating": 1.0}
            for rater, s, arm in places
            for name in dimensions
        ]
    )


def between(raters: int = 6, situations: int = 4) -> list[Place]:
    """Each rater rates one arm's replies; each reply has as many ratings as the arm has raters."""
    return [(f"r{r}", s, ARMS[r % 2]) for r in range(raters) for s in range(situations)]


def within(raters: int = 3, situations: int = 4) -> list[Place]:
    return [(f"w{r}", s, arm) for r in range(raters) for s in range(situations) for arm in ARMS]


def test_raters_of_one_arm_each_make_a_study_between_subjects() -> None:
    found = recognise_design(ratings(between()), "human")
    assert (found.kind, found.raters, found.raters_per_arm) == (
        "between",
        6,
        {"human": 3, "gpt": 3},
    )
    assert (found.situations, found.replies, found.ratings_per_reply) == (4, 8, 3.0)
    assert found.shared_replies == found.shared_situations == 1.0


def test_raters_of_both_arms_make_a_study_within_subjects() -> None:
    found = recognise_design(ratings(within()), "human")
    assert (found.kind, found.pairing) == ("within", "rater and situation")
    assert found.ratings_per_rater == 8


def test_some_raters_of_both_arms_make_a_mixed_design() -> None:
    found = recognise_design(ratings([*between(4), *within(2)]), "human")
    assert found.kind == "mixed"
    assert found.raters_per_arm == {"human": 4, "gpt": 4}
    assert found.raters_vary_by_arm


def test_one_stray_rater_in_twenty_does_not_change_the_design() -> None:
    assert recognise_design(ratings([*between(19), *within(1)]), "human").kind == "between"
    # One rater in five is more than an exception.
    assert recognise_design(ratings([*between(8), *within(2)]), "human").kind == "mixed"
    # Where nearly all raters rated one reply, a few who rated two are exceptions, too.
    single = [(f"r{number}", number, ARMS[number % 2]) for number in range(60)]
    twice = [(f"r{number}", number, ARMS[1 - number % 2]) for number in range(3)]
    assert recognise_design(ratings([*single, *twice]), "human").kind == "between"
    dropout = ("late", 0, "gpt")
    assert recognise_design(ratings([*within(3), dropout]), "human").kind == "within"


def test_one_arm_is_neither() -> None:
    found = recognise_design(ratings([("a", 0, "gpt"), ("b", 1, "gpt")]), "gpt")
    assert (found.kind, found.pairing) == ("single arm", None)


def test_unequal_raters_per_arm_are_counted() -> None:
    places = [("few", s, "human") for s in range(4)] + [
        (f"r{r}", s, "gpt") for r in range(50) for s in range(4)
    ]
    found = recognise_design(ratings(places), "human")
    assert found.raters_per_arm == {"human": 1, "gpt": 50}
    assert found.fewest_raters == 1


def test_one_rating_per_reply_needs_no_random_effect_of_replies() -> None:
    places = [(f"{arm}{s}", s, arm) for s in range(12) for arm in ARMS]
    found = recognise_design(ratings(places), "human")
    assert (found.ratings_per_reply, found.replies_vary) == (1.0, False)
    # Raters of one reply each are the residual.
    assert [term.term for term in random_terms(found)] == ["(1|situation)"]
    again = [*places, ("human0", 1, "human")]
    found = recognise_design(ratings(again), "human")
    assert [term.term for term in random_terms(found)] == ["(1|rater)", "(1|situation)"]


def test_several_ratings_per_reply_need_one() -> None:
    found = recognise_design(ratings(between()), "human")
    assert random_terms(found)[-1].term == "(1|arm:situation)"
    # Where every situation belongs to one arm, its random effect is that of the reply.
    apart = [
        (f"{arm}{r}", s + 10 * k, arm)
        for k, arm in enumerate(ARMS)
        for r in (1, 2)
        for s in range(3)
    ]
    found = recognise_design(ratings(apart), "human")
    assert (found.shared_replies, found.replies_vary) == (1.0, False)


def test_the_freedom_of_replies_is_that_of_the_analysis_of_variance() -> None:
    """Of the interaction of arms and situations, or of situations within arms."""
    shared = [(f"{arm}{r}", s, arm) for arm in ARMS for r in (1, 2) for s in range(6)]
    assert recognise_design(ratings(shared), "human").freedom_of_replies == 5
    own = [(rater, s + 10 * (arm == "gpt"), arm) for rater, s, arm in shared]
    assert recognise_design(ratings(own), "human").freedom_of_replies == 10
    # Several numbered replies of an arm to one situation are one cell of the model.
    numbered = ratings(shared).with_columns(response=pl.int_range(pl.len()) // 2)
    assert recognise_design(numbered, "human").freedom_of_replies == 5
    third = [(f"llama{r}", s, "llama") for r in (1, 2) for s in range(6)]
    assert recognise_design(ratings([*shared, *third]), "human").freedom_of_replies == 10


def test_several_dimensions_of_one_reply_are_one_rating_of_it() -> None:
    found = recognise_design(ratings(between(2), ("warmth", "help")), "human")
    assert (found.dimensions, found.ratings, found.ratings_per_reply) == (
        ("warmth", "help"),
        16,
        1.0,
    )


def test_two_responses_to_one_situation_are_two_replies() -> None:
    frame = ratings([("a", 0, "human"), ("b", 0, "human"), ("c", 0, "gpt")])
    assert recognise_design(frame, "human").replies == 2
    assert recognise_design(frame.with_columns(response=pl.Series([1, 2, 3])), "human").replies == 3


def test_pairs_are_made_by_what_the_ratings_share() -> None:
    assert pairing_unit(ratings(within())) == "rater and situation"
    apart = [(f"r{r}", s, ARMS[s % 2]) for r in range(3) for s in range(4)]
    assert pairing_unit(ratings(apart)) == "rater"
    assert pairing_unit(ratings(between())) == "situation"
    assert pairing_unit(ratings([*between(), *within(1)])) == "situation"


def test_slopes_need_15_raters_of_two_arms() -> None:
    """Five per parameter: the slopes' covariance has three."""
    terms = [
        [term.term for term in random_terms(recognise_design(ratings(within(raters)), "human"))]
        for raters in (15, 14)
    ]
    assert terms[0][0] == "(1 + arm|rater)"
    assert terms[1][:2] == ["(1|rater)", "(1|arm:rater)"]


def arms(*rows: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["arm", "kind"], orient="row")


def test_peoples_arm_is_the_reference_whatever_it_is_called() -> None:
    listed = arms(("gpt", "model"), ("counsellors", "human"), ("llama", "model"))
    found = reference_arm(None, ["llama", "counsellors", "gpt"], listed)
    assert (found.name, found.assumed) == ("counsellors", False)


def test_without_people_the_first_arm_of_the_study_is_the_reference() -> None:
    listed = arms(("zeta", "model"), ("alpha", "model"))
    found = reference_arm(None, ["alpha", "zeta"], listed)
    assert (found.name, found.assumed) == ("zeta", True)


def test_the_order_of_the_ratings_never_decides() -> None:
    names = ["gpt", "llama", "mistral"]
    shuffled = random.Random(1).sample(names, 3)
    assert reference_arm(None, shuffled).name == reference_arm(None, names).name == "gpt"


def test_an_arm_without_ratings_cannot_be_the_reference() -> None:
    assert reference_arm(None, ["gpt"], arms(("human", "human"), ("gpt", "model"))).name == "gpt"
    with pytest.raises(UserError, match="Did you mean 'gpt'"):
        reference_arm("gtp", ["human", "gpt"])


@pytest.mark.parametrize("name", ["Human", "people", " Person "])
def test_a_tables_arm_of_people_is_the_reference_however_it_is_written(name: str) -> None:
    assert reference_arm(None, ["AI", name]) == ReferenceArm(name, assumed=False)
