"""Tables of people and judges, read."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.analysis.judges.frames import judged_from_table
from empathylab.errors import InputError, UnknownName


def frame(**columns: list[object]) -> pl.DataFrame:
    given: dict[str, list[object]] = {
        "situation": ["a", "a", "b", "b"],
        "rater": ["p", "m", "p", "m"],
        "rater_kind": ["person", "model", "person", "model"],
        "rating": ["1", "2", "3", "3"],
    }
    return pl.DataFrame(given | columns, strict=False)


def test_people_and_judges_are_told_apart() -> None:
    judged = judged_from_table(frame(), where="t.csv")
    assert judged.people["rating"].to_list() == [1, 3]
    assert judged.judges["rating"].to_list() == [2, 3]
    assert judged.judge_names == ["m"]
    assert judged.dimensions == ["rating"]


def test_a_response_is_a_situation_and_a_respondent() -> None:
    judged = judged_from_table(frame(respondent=["x", "x", "y", "y"]), where="t.csv")
    assert judged.responses["respondent"].to_list() == ["x", "y"]
    both = judged_from_table(
        frame(situation=["a"] * 4, respondent=["x", "x", "y", "y"]), where="t.csv"
    )
    assert len(both.responses) == 2


def test_words_are_counted_where_only_the_text_is_there() -> None:
    judged = judged_from_table(
        frame(text=["one two", None, "three four five", None]), where="t.csv"
    )
    assert judged.responses["words"].to_list() == [2, 3]


def test_rows_without_a_rating_are_left_out_and_counted() -> None:
    judged = judged_from_table(frame(rating=["1", "NA", None, "3"]), where="t.csv")
    assert judged.dropped == 2


def test_ratings_in_words_need_their_points() -> None:
    words = frame(rating=["Bad", "Okay", "Good", "Good"])
    judged = judged_from_table(words, where="t.csv", levels=["Bad", "Okay", "Good"])
    assert judged.people["rating"].to_list() == [1, 3]
    assert judged.scales == {"rating": (1, 2, 3)}
    with pytest.raises(
        InputError,
        match=r"t.csv row 2: 'rating' must be a number; 4 rows have other values: .*; got 'Bad'",
    ):
        judged_from_table(words, where="t.csv")
    with pytest.raises(InputError, match=r"t.csv row 3: .* got 'Okay'"):
        judged_from_table(words, where="t.csv", levels=["Bad", "Good"])


def test_an_unknown_kind_of_rater_is_refused_by_row() -> None:
    with pytest.raises(InputError, match=r"t.csv row 3: 'rater_kind' must be person or model"):
        judged_from_table(frame(rater_kind=["person", "robot", "person", "model"]), where="t.csv")


def test_without_people_no_calibration_is_possible() -> None:
    with pytest.raises(InputError, match="no calibration is possible"):
        judged_from_table(frame(rater_kind=["model"] * 4), where="t.csv")


def test_without_a_judge_there_is_nothing_to_calibrate() -> None:
    with pytest.raises(InputError, match="no ratings by a judge"):
        judged_from_table(frame(rater_kind=["person"] * 4), where="t.csv")


@pytest.mark.parametrize("column", ["situation", "rater", "rater_kind", "rating"])
def test_a_missing_column_is_named(column: str) -> None:
    with pytest.raises(UnknownName, match=column):
        judged_from_table(frame().drop(column), where="t.csv")


def test_comparisons_stand_among_the_ratings() -> None:
    pairs = pl.DataFrame(
        {
            "situation": ["a"],
            "rater": ["m"],
            "rater_kind": ["model"],
            "first": ["x"],
            "second": ["y"],
            "outcome": ["tie"],
        }
    )
    judged = judged_from_table(pl.concat([frame(), pairs], how="diagonal"), where="t.csv")
    assert judged.comparisons.rows() == [("m", "rating", "a", "x", "y", "tie", None, None)]
    assert len(judged.judges) == 2
    assert judged.dropped == 0


def test_a_table_says_whether_onlookers_or_recipients_rated() -> None:
    kinds = ["person", "model", "person", "model"]

    def compared(*perspectives: str | None) -> str:
        columns: dict[str, list[object]] = {
            "rater_kind": list(kinds),
            "perspective": list(perspectives),
        }
        return judged_from_table(frame(**columns), where="t.csv").compared_with

    assert judged_from_table(frame(), where="t.csv").compared_with == "onlookers"
    assert compared("recipient", None, "recipient", None) == "recipients"
    assert compared("recipient", None, "onlooker", None) == "onlookers and recipients"
    with pytest.raises(InputError, match="onlooker or recipient"):
        compared("helper", None, "onlooker", None)


def test_a_judges_own_file_is_told_what_the_table_needs() -> None:
    frame = pl.DataFrame({"post": ["p1"], "system": ["gpt"], "warmth": [5]})
    needed = r"into one table with the columns situation, rater, rater_kind \(person or model\)"
    with pytest.raises(UnknownName, match=needed):
        judged_from_table(frame, where="judge.csv")
