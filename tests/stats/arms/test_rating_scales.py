from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.arms import BAD_OKAY_GOOD, RatingScale


def test_the_highest_value_is_good_by_default() -> None:
    assert (BAD_OKAY_GOOD.threshold, BAD_OKAY_GOOD.good_label) == (3, "Good")
    assert RatingScale.between(1, 5).good_label == "5"


def test_a_threshold_names_what_is_good() -> None:
    scale = RatingScale.between(1, 5, good_from=4)
    assert scale.good_label == "4 or more"
    assert [category.label for category in scale.categories] == ["1", "2", "3", "4", "5"]


def test_many_values_are_counted_below_and_above_the_threshold() -> None:
    scale = RatingScale.between(1, 100, good_from=60)
    assert [category.label for category in scale.categories] == ["below 60", "60 or more"]
    frame = pl.DataFrame({"rating": [59.0, 60.0, 100.0]})
    assert frame.select(scale.category("rating")).to_series().to_list() == [0, 1, 1]


def test_a_continuous_scale_takes_every_number_between_its_ends() -> None:
    scale = RatingScale("warmth", (0, 100), good_from=50, continuous=True)
    frame = pl.DataFrame({"rating": [0.0, 33.3, 100.0, 100.1]})
    assert frame.select(scale.valid("rating")).to_series().to_list() == [True, True, True, False]


def test_a_scale_of_many_values_needs_a_threshold() -> None:
    with pytest.raises(InputError, match="good_from"):
        RatingScale.between(1, 100)


@pytest.mark.parametrize("threshold", [1, 6])
def test_a_threshold_outside_the_scale_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match="must be above 1"):
        RatingScale.between(1, 5, good_from=threshold)


@pytest.mark.parametrize("values", [(1.0,), (2.0, 1.0), (1.0, 1.0)])
def test_values_must_ascend(values: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="ascending"):
        RatingScale("odd", values)


def test_labels_must_be_as_many_as_values() -> None:
    with pytest.raises(InputError, match="as many labels"):
        RatingScale("odd", (1.0, 2.0), ("low",))
