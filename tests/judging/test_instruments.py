"""What a judge is asked: the study's own words, or the lab's."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.judging.instruments import (
    DIMENSIONS,
    INSTRUCTION,
    default_instrument,
    study_instrument,
)
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.judged_responses import JudgedStudy, judged_study
from empathylab.study import Study
from empathylab.study.blocks.dimensions import Dimension
from empathylab.study.blocks.texts import Text
from empathylab.study.design.protocol import to_dict
from tests.helpers.welivita import write_release
from tests.study.examples import altered, appraisal, between


def of(study: Study) -> JudgedStudy:
    return JudgedStudy(1, study.name, 1, to_dict(study))


def test_a_study_is_judged_by_its_own_words() -> None:
    instrument = study_instrument(of(between()))
    assert instrument.shows == ("emotion", "situation", "utterance")
    [dimension] = instrument.dimensions
    assert (dimension.name, dimension.question) == ("empathy", "How empathetic?")
    assert dict(zip(dimension.labels, dimension.values, strict=True)) == {
        "Bad": 1.0,
        "Okay": 2.0,
        "Good": 3.0,
    }
    for words in ("First page", "Second page", "It rained", "Too short", "Rating: Bad"):
        assert words in instrument.instruction


def test_what_only_people_need_is_not_read_to_a_judge() -> None:
    instruction = study_instrument(of(between())).instruction
    for words in ("Take part?", "Your age", "Thank you", "Is it clear", "Choose the second"):
        assert words not in instruction


def test_a_study_in_two_languages_is_judged_in_its_first() -> None:
    question = Text((("de", "Wie einfühlsam?"), ("en", "How empathetic?")))
    labels = (
        Text((("de", "Schlecht"), ("en", "Bad"))),
        None,
        Text((("de", "Gut"), ("en", "Good"))),
    )
    changed = altered(
        between(),
        languages=("de", "en"),
        dimensions=(Dimension(name="empathy", question=question, values=(1, 2, 3), labels=labels),),
    )
    [dimension] = study_instrument(of(changed)).dimensions
    assert dimension.question == "Wie einfühlsam?"
    assert dimension.labels == ("Schlecht", "2", "Gut")


def test_a_study_in_which_nothing_is_rated_cannot_be_judged() -> None:
    with pytest.raises(InputError, match="nobody rates responses in this study"):
        study_instrument(of(appraisal()))


def test_an_unknown_dimension_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'empathy'"):
        study_instrument(of(between()), ["empthy"])


def test_a_released_study_keeps_its_points_under_the_labs_instruction(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    write_release(tmp_path / "release.csv")
    release = read_release(pl.read_csv(tmp_path / "release.csv", infer_schema=False), where="x")
    import_release(sqlite_lab, release, kind="welivita", source="x", fingerprint="y")
    instrument = study_instrument(judged_study(sqlite_lab, "welivita-2024"))
    assert instrument.instruction == INSTRUCTION
    [dimension] = instrument.dimensions
    assert dimension.labels == ("Bad", "Okay", "Good")
    assert dimension.question.startswith("How empathetic is the reply")


def released(*points: float, labels: tuple[str, ...] = ()) -> JudgedStudy:
    dimension = {"name": "warmth_shown", "values": list(points), "labels": list(labels)}
    return JudgedStudy(1, "theirs", 1, {"design": "between", "dimensions": [dimension]})


def test_points_without_words_bear_their_numbers() -> None:
    [dimension] = study_instrument(released(1, 1.5, 2)).dimensions
    assert dimension.labels == ("1", "1.5", "2")
    assert dimension.question == "How do you rate the reply on this: warmth shown?"


def test_a_scale_that_is_not_made_of_points_is_refused() -> None:
    with pytest.raises(InputError, match="dimension warmth_shown: the scale is not made of points"):
        study_instrument(released())


def test_two_points_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two points have the same name"):
        study_instrument(released(1, 2, labels=("Good", "good")))


def test_the_labs_instrument_asks_for_empathy_unless_told_otherwise() -> None:
    assert [dimension.name for dimension in default_instrument().dimensions] == ["empathy"]
    assert [
        dimension.name for dimension in default_instrument(["caring", "feeling"]).dimensions
    ] == [
        "feeling",
        "caring",
    ]
    with pytest.raises(UnknownName, match="there is no dimension 'warmth'"):
        default_instrument(["warmth"])


def test_the_labs_dimensions_have_five_points_each() -> None:
    for dimension in DIMENSIONS.values():
        assert dimension.values == (1.0, 2.0, 3.0, 4.0, 5.0)
        assert len(set(dimension.labels)) == 5
