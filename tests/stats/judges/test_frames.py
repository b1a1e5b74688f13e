"""People's ratings with the judge's beside them."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.judges.frames import beside_judge
from empathylab.stats.judges.prediction_powered import prediction_powered_mean


def ratings() -> pl.DataFrame:
    rows = [
        ("s1", "ann", 3, 20),
        ("s1", "bob", 4, 20),
        ("s2", "ann", 2, 30),
        ("s4", "bob", 5, 40),
        ("s1", "judge", 4, 20),
        ("s2", "judge", 1, 30),
        ("s2", "judge", 2, 30),
        ("s3", "judge", 5, 50),
    ]
    return pl.DataFrame(rows, schema=["situation", "rater", "rating", "words"], orient="row")


def test_each_person_has_the_judges_mean_beside_it_and_the_rest_follows() -> None:
    found = beside_judge(ratings(), "judge")
    assert found.select("situation", "rater", "rating", "prediction").rows() == [
        ("s1", "ann", 3, 4.0),
        ("s1", "bob", 4, 4.0),
        ("s2", "ann", 2, 1.5),
        ("s4", "bob", 5, None),
        ("s3", None, None, 5.0),
    ]
    assert found["words"].to_list() == [20, 20, 30, 40, 50]


def test_only_the_people_named_are_people() -> None:
    found = beside_judge(ratings(), "judge", people=["ann"])
    assert found["rater"].to_list() == ["ann", "ann", None]


def test_several_columns_together_say_what_was_rated() -> None:
    frame = pl.DataFrame(
        {
            "situation": ["s", "s", "s", "s"],
            "respondent": ["a", "b", "a", "b"],
            "rater": ["ann", "ann", "judge", "judge"],
            "rating": [1, 2, 3, 4],
        }
    )
    found = beside_judge(frame, "judge", situation=["situation", "respondent"])
    assert found["prediction"].to_list() == [3, 4]


def test_the_frame_is_what_prediction_powered_means_want() -> None:
    found = prediction_powered_mean(beside_judge(ratings(), "judge"))
    assert (found.n, found.n_judged, found.dropped) == (3, 1, 1)


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'judge'"):
        beside_judge(ratings(), "jugde")
    with pytest.raises(UnknownName, match="Did you mean 'rating'"):
        beside_judge(ratings(), "judge", rating="ratings")


def test_a_column_is_not_overwritten() -> None:
    with pytest.raises(InputError, match="'words' is there already"):
        beside_judge(ratings(), "judge", prediction="words")
