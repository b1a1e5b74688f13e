"""Anybody's ratings from a long table."""

from __future__ import annotations

import pytest

from empathylab.errors import UserError
from empathylab.situations.sources.rating_tables import ratings_from
from empathylab.situations.sources.released import Dimension, RatedStudy
from empathylab.tables import parse_csv

HEAD = "situation,respondent,rater,rating\n"


def read(content: str, people: str | None = None, **options: object) -> RatedStudy:
    table = parse_csv(content.encode(), where="r.csv")
    told = None if people is None else parse_csv(people.encode(), where="p.csv")
    return ratings_from(
        table,
        where="r.csv",
        name="mine",
        title="Mine",
        people=told,
        people_where="p.csv",
        **options,  # type: ignore[arg-type]
    )


def test_known_labels_become_points() -> None:
    study = read(HEAD + "a,x,r1,Good\nb,x,r1,Bad\n")
    assert study.dimensions == (Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good")),)
    assert [(rating.value, rating.label) for rating in study.ratings] == [
        (3.0, "Good"),
        (1.0, "Bad"),
    ]


def test_labels_of_ones_own_are_ordered_by_the_option() -> None:
    study = read(HEAD + "a,x,r1,warm\n", labels=["cold", "tepid", "warm"])
    assert study.ratings[0].value == 3.0


def test_whole_numbers_give_every_point_between_them() -> None:
    study = read(HEAD + "a,x,r1,1\nb,x,r1,4\n")
    assert study.dimensions[0].values == (1.0, 2.0, 3.0, 4.0)


def test_a_scale_of_degrees_has_no_points() -> None:
    study = read(HEAD + "a,x,r1,3\nb,x,r1,87\n")
    assert study.dimensions[0].values == ()


def test_each_dimension_has_its_own_points() -> None:
    study = read(
        "situation,respondent,rater,rating,dimension\na,x,r1,1,warmth\na,x,r1,5,fluency\n"
        "b,x,r1,2,warmth\n"
    )
    assert {dimension.name: dimension.values for dimension in study.dimensions} == {
        "warmth": (1.0, 2.0),
        "fluency": (5.0,),
    }


def test_a_rater_of_two_respondents_makes_it_within_subjects() -> None:
    assert read(HEAD + "a,x,r1,1\nb,x,r2,1\n").design == "between"
    assert read(HEAD + "a,x,r1,1\na,y,r1,1\n").design == "within"


def test_what_is_known_about_raters_goes_to_them() -> None:
    study = read(HEAD + "a,x,r1,1\n", people="rater,age,country,seconds\nr1,31,Peru,400\nr9,1,,\n")
    (rater,) = study.raters
    assert (rater.name, dict(rater.details), rater.seconds) == (
        "r1",
        {"age": 31.0, "country": "Peru"},
        400.0,
    )


def test_models_among_the_raters_are_no_people() -> None:
    study = read(
        "situation,respondent,rater,rater_kind,rating\n"
        "a,x,ann,person,3\nb,y,bob,,2\na,x,the/judge,model,1\nb,y,the/judge,model,1\n"
    )
    assert {rater.name: rater.kind for rater in study.raters} == {
        "ann": "person",
        "bob": "person",
        "the/judge": "model",
    }
    assert study.design == "between"  # each person saw one respondent


@pytest.mark.parametrize(
    ("rows", "people", "said"),
    [
        ("a,x,r1,robot,1\n", None, "r.csv row 2: 'rater_kind' must be person or model"),
        (
            "a,x,r1,person,1\nb,x,r1,model,1\n",
            None,
            "row 3: rater 'r1' is a person in an earlier row",
        ),
        ("a,x,r1,model,1\n", "rater,kind\nr1,person\n", "p.csv: rater 'r1' is a model"),
    ],
)
def test_a_rater_is_of_one_known_kind(rows: str, people: str | None, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read("situation,respondent,rater,rater_kind,rating\n" + rows, people)


def test_zero_is_kept_and_dates_are_texts() -> None:
    import datetime

    import polars as pl

    told = pl.DataFrame({"rater": ["r1"], "failed": [0], "born": [datetime.date(1990, 5, 1)]})
    table = parse_csv((HEAD + "a,x,r1,1\n").encode(), where="r.csv")
    study = ratings_from(table, where="r", name="m", title="M", people=told, people_where="p")
    assert dict(study.raters[0].details) == {"failed": 0, "born": "1990-05-01"}


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("situation,rater,rating\na,b,1\n", {}, "the column 'respondent' is missing"),
        (HEAD + "a,x,r1,godo\n", {}, "'rating' contains words, and their order is unknown"),
        (
            HEAD + "a,x,r1,Good\nb,x,r1,godo\n",
            {"labels": ["Bad", "Okay", "Good"]},
            "r.csv row 3: 'rating' must be one of Bad, Okay, Good; got 'godo'",
        ),
        (HEAD + "a,x,r1,7\n", {"points": [1, 2, 3]}, "'rating' must be one of 1, 2, 3; got '7'"),
        (HEAD + "a,x,r1,1\nb,x,r1,high\n", {}, "row 3: 'rating' must be a number; got 'high'"),
        (HEAD + "a,x,r1,\n", {}, "r.csv row 2: 'rating' is empty"),
        (HEAD + "a,x,r1,1\na,x,r1,2\n", {}, "row 3: the same rater rated the same reply in row 2"),
        (HEAD, {}, "the file contains no ratings"),
        (HEAD + "a,x,r1,Bad\n", {"labels": ["Bad", "Bad"]}, "a label is named twice"),
        (HEAD + "a,x,r1,\n", {"first_row": 1}, "r.csv row 1: 'rating' is empty"),
        (HEAD + "a,x,r1,1\n", {"labels": ["a"], "points": [1, 2]}, "1 labels but 2 points"),
        (
            HEAD + "a,x,r1,1\n",
            {"people": "rater,age\nr1,1\nr1,2\n"},
            "p.csv row 3: a rater appears",
        ),
    ],
)
def test_a_fault_is_one_sentence(content: str, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        read(content, **options)  # type: ignore[arg-type]
    assert sentence in str(caught.value)
