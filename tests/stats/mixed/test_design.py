"""Frames turned into the arrays of a mixed model."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.mixed.design import MixedDesign, read_design
from empathylab.stats.notes import note

FRAME = pl.DataFrame(
    {
        "rating": [1, 2, 3, 3, 2, 1, 2, 3, 1, 2, 3, 1],
        "source": ["human", "gpt", "llama"] * 4,
        "valence": ["negative"] * 6 + ["positive"] * 6,
        "length": [float(number) for number in range(12)],
        "rater": [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3],
        "week": [1, 2] * 6,
    }
)


def design(formula: str, *, frame: pl.DataFrame = FRAME, ordinal: bool = True) -> MixedDesign:
    return read_design(frame, formula, ordinal=ordinal)


def test_columns_are_named_as_r_names_them_the_first_factor_fastest() -> None:
    assert design("rating ~ source * valence").names == (
        "sourcegpt",
        "sourcellama",
        "valencepositive",
        "sourcegpt:valencepositive",
        "sourcellama:valencepositive",
    )


def test_terms_know_their_columns() -> None:
    assert design("rating ~ source * length").terms == {
        "source": (0, 1),
        "length": (2,),
        "source:length": (3, 4),
    }


def test_only_a_linear_model_has_an_intercept_column() -> None:
    assert design("rating ~ length", ordinal=False).names == ("(Intercept)", "length")
    assert design("rating ~ length").names == ("length",)


def test_without_an_intercept_the_first_factor_has_all_its_levels() -> None:
    found = design("rating ~ 0 + source + valence", ordinal=False)
    assert found.names == ("sourcehuman", "sourcegpt", "sourcellama", "valencepositive")


def test_an_interaction_without_its_margin_is_coded_in_full() -> None:
    # R: colnames(model.matrix(~ valence + source:valence))
    assert design("rating ~ valence + source:valence").names == (
        "valencepositive",
        "valencenegative:sourcegpt",
        "valencepositive:sourcegpt",
        "valencenegative:sourcellama",
        "valencepositive:sourcellama",
    )


def test_an_interaction_is_the_product_of_its_columns() -> None:
    found = design("rating ~ source * length")
    assert found.x[:, 3] == pytest.approx(found.x[:, 0] * found.x[:, 2])


def test_the_first_level_in_the_data_is_the_reference() -> None:
    assert design("rating ~ source").factors == {"source": ("human", "gpt", "llama")}


def test_another_reference_can_be_named() -> None:
    found = read_design(FRAME, "rating ~ source", reference={"source": "llama"}, ordinal=True)
    assert found.names == ("sourcehuman", "sourcegpt")


def test_an_enum_keeps_its_own_order() -> None:
    kind = pl.Enum(["llama", "human", "gpt"])
    found = design("rating ~ source", frame=FRAME.with_columns(pl.col("source").cast(kind)))
    assert found.factors["source"] == ("llama", "human", "gpt")


def test_a_number_is_a_factor_inside_c_only() -> None:
    assert design("rating ~ week").names == ("week",)
    assert design("rating ~ C(week)").names == ("C(week)2",)


def test_groups_number_their_levels_as_they_appear() -> None:
    (group,) = design("rating ~ 1 + (1|rater)").groups
    assert group.levels == ("1", "2", "3")
    assert group.codes.tolist() == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]


def test_a_nested_group_joins_both_names() -> None:
    found = design("rating ~ 1 + (1|rater/valence)")
    assert [group.name for group in found.groups] == ["rater", "rater:valence"]
    assert found.groups[1].levels[0] == "1:negative"
    assert len(found.groups[1].levels) == 6


def test_numeric_ratings_are_ordered_by_size() -> None:
    found = design("rating ~ length", frame=FRAME.with_columns(rating=pl.col("rating") * 5.0))
    assert found.levels == ("5", "10", "15")


def test_words_take_the_order_given() -> None:
    words = FRAME.with_columns(
        rating=pl.col("rating").replace_strict({1: "Bad", 2: "Okay", 3: "Good"})
    )
    found = read_design(words, "rating ~ length", levels=["Bad", "Okay", "Good"], ordinal=True)
    assert found.y.tolist() == [rating - 1 for rating in FRAME["rating"]]


def test_words_without_an_order_are_refused() -> None:
    with pytest.raises(InputError, match="order of the labels in 'source'"):
        design("source ~ length")


def test_a_rating_outside_the_levels_is_refused() -> None:
    with pytest.raises(InputError, match="not among the levels given; got '3'"):
        read_design(FRAME, "rating ~ length", levels=[1, 2], ordinal=True)


def test_categories_never_used_are_said() -> None:
    found = read_design(FRAME, "rating ~ length", levels=[1, 2, 3, 4], ordinal=True)
    assert found.levels == ("1", "2", "3")
    assert found.notes == (note("unused_categories", column="rating", categories=("4",)),)


def test_rows_with_missing_values_are_counted_by_column() -> None:
    holes = FRAME.with_columns(
        length=pl.when(pl.col("length") < 2).then(None).otherwise(pl.col("length")),
        rating=pl.when(pl.col("length") == 5).then(None).otherwise(pl.col("rating")),
    )
    found = design("rating ~ length", frame=holes)
    assert found.n == 9
    assert found.dropped == {"rating": 1, "length": 2}


def test_columns_outside_the_formula_may_be_missing() -> None:
    holes = FRAME.with_columns(length=pl.lit(None, dtype=pl.Float64))
    assert design("rating ~ source", frame=holes).n == 12


def test_a_level_that_lost_all_rows_is_said() -> None:
    holes = FRAME.with_columns(
        rating=pl.when(pl.col("source") == "gpt").then(None).otherwise(pl.col("rating"))
    )
    assert design("rating ~ source", frame=holes).notes == (
        note("lost_levels", column="source", levels=("gpt",)),
    )


def test_columns_that_repeat_others_are_left_out_and_said() -> None:
    found = design("rating ~ length + twice", frame=FRAME.with_columns(twice=FRAME["length"] * 2))
    assert found.names == ("length",)
    assert found.aliased == ("twice",)
    assert found.notes[0].code == "aliased_columns"


def test_other_values_are_coded_like_the_data() -> None:
    found = design("rating ~ source * length")
    values = {"source": np.array([2, 0]), "length": np.array([10.0, 4.0])}
    assert found.coding.matrix(values, 2).tolist() == [[0, 1, 10, 0, 10], [0, 0, 4, 0, 0]]


def test_an_unknown_column_brings_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'source'"):
        design("rating ~ sorce")


def test_an_unknown_reference_brings_the_levels() -> None:
    with pytest.raises(UnknownName, match="Known: gpt, human, llama"):
        read_design(FRAME, "rating ~ source", reference={"source": "claude"}, ordinal=True)


@pytest.mark.parametrize(
    ("formula", "frame", "said"),
    [
        ("rating ~ length", FRAME.head(0), "has no rows"),
        ("rating ~ length", FRAME.with_columns(length=pl.lit(None, pl.Float64)), "no complete"),
        ("rating ~ source", FRAME.filter(pl.col("source") == "gpt"), "has one level only"),
        ("rating ~ 1 + (1|rater)", FRAME.with_columns(rater=pl.lit(1)), "has one level only"),
        ("rating ~ length", FRAME.with_columns(rating=pl.lit(2)), "is the same"),
        ("rating ~ source * valence + length", FRAME.gather([0, 1, 2, 6, 7, 8]), "parameters"),
        ("rating ~ length", FRAME.with_columns(length=pl.lit(float("inf"))), "infinite"),
    ],
)
def test_what_leaves_nothing_to_estimate_is_refused(
    formula: str, frame: pl.DataFrame, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        design(formula, frame=frame)


def test_a_linear_model_needs_numbers() -> None:
    with pytest.raises(InputError, match="must contain numbers"):
        design("source ~ length", ordinal=False)
