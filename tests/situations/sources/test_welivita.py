"""The released file of the rating study, with any number of arms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from empathylab.errors import InputError, UserError
from empathylab.situations.sources.released import Release
from empathylab.situations.sources.welivita import read_release
from empathylab.tables import read_table
from tests.helpers.welivita import write_people, write_release, write_rows


def release(folder: Path, arms: tuple[str, ...] = ("human", "gpt"), **options: Any) -> Release:
    write_release(folder / "r.csv", arms=arms)
    return read_release(read_table(folder / "r.csv"), where="r.csv", **options)


@pytest.mark.parametrize("arms", [("human",), ("human", "a", "b"), ("human", "a", "b", "c_d", "e")])
def test_any_number_of_arms_is_read(tmp_path: Path, arms: tuple[str, ...]) -> None:
    found = release(tmp_path, arms)
    assert len(found.situation_set) == 24
    assert len(found.replies) == 24 * len(arms)
    assert found.study is not None
    assert len(found.study.ratings) == 24 * len(arms)
    assert len(found.study.raters) == 6 * len(arms)
    assert dict(found.respondents) == {arm: "human" if arm == "human" else "model" for arm in arms}


def test_questionnaires_are_shifted_to_the_scales_own_range(tmp_path: Path) -> None:
    found = release(tmp_path)
    assert found.study is not None
    rater = found.study.raters[0]
    assert len(rater.answers["teq"]) == 16
    assert set(rater.answers["teq"]) <= {0, 1, 2, 3, 4}


def test_ratings_have_their_labels_and_replies_their_miti_labels(tmp_path: Path) -> None:
    found = release(tmp_path)
    assert found.study is not None
    assert {(rating.value, rating.label) for rating in found.study.ratings} == {
        (1.0, "Bad"),
        (2.0, "Okay"),
        (3.0, "Good"),
    }
    assert found.replies[0].details == {"miti": ["Affirm", "Open Question"]}


def test_the_valence_is_the_files_own(tmp_path: Path) -> None:
    rows = write_release(tmp_path / "r.csv")
    rows[0]["sentiment"] = "positive" if rows[0]["sentiment"] == "negative" else "negative"
    write_rows(tmp_path / "r.csv", rows)
    found = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
    assert found.situation_set.situations[0].valence == rows[0]["sentiment"]


def test_demographics_go_to_their_raters(tmp_path: Path) -> None:
    write_people(tmp_path / "people.csv", "human", 8)
    people = [("people.csv", read_table(tmp_path / "people.csv"))]
    found = release(tmp_path, people=people)
    assert found.study is not None
    first, second = found.study.raters[:2]
    assert (second.details["age"], second.details["sex"], second.seconds) == (21, "Male", 320.0)
    assert second.details["ethnicity_simplified"] == "Black"
    assert "ethnicity_simplified" not in first.details  # the platform no longer tells it
    assert not {"submission_id", "participant_id"} & set(first.details)
    assert found.notes == (
        "In the demographics files but without a rating (left out): 2.",
        "Raters who are in no demographics file: 6.",
    )


def test_an_unknown_emotion_is_kept_and_can_be_mapped(tmp_path: Path) -> None:
    rows = write_release(tmp_path / "r.csv")
    rows[0]["emotion"] = "Trustin"
    write_rows(tmp_path / "r.csv", rows)
    table = read_table(tmp_path / "r.csv")
    kept = read_release(table, where="r.csv")
    assert kept.situation_set.situations[0].emotion == "trustin"
    assert "--map trustin=trusting" in kept.notes[0]
    mapped = read_release(table, where="r.csv", emotions={"trustin": "trusting"})
    assert mapped.situation_set.situations[0].emotion == "trusting"


def test_an_arm_can_have_its_respondents_name(tmp_path: Path) -> None:
    found = release(tmp_path, respondents={"gpt": "openai/gpt-4"})
    assert set(found.respondents) == {"human", "openai/gpt-4"}
    with pytest.raises(UserError, match="no arm 'gtp'. Did you mean 'gpt'"):
        release(tmp_path, respondents={"gtp": "x"})


def test_two_arms_cannot_have_one_respondent(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="two arms cannot have the same respondent"):
        release(tmp_path, respondents={"gpt": "human"})


def test_rows_without_a_rating_or_a_rater_are_counted(tmp_path: Path) -> None:
    rows = write_release(tmp_path / "r.csv")
    rows[0]["rating_gpt"] = ""
    rows[1]["annotator_gpt"] = ""
    write_rows(tmp_path / "r.csv", rows)
    found = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
    assert found.notes == (
        "Arm gpt: rows without a rating, left out: 1.",
        "Arm gpt: rows without a rater, left out: 1.",
    )
    assert found.study is not None
    assert len(found.study.ratings) == 46


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("rating_gpt", "4", "r.csv row 2: 'rating_gpt' must be 1, 2 or 3; got 4.0"),
        ("rating_gpt", "Good", "r.csv row 2: 'rating_gpt' must be a number; got 'Good'"),
        ("empathy_arr_gpt", "[1, 2]", "a rater's questionnaire differs between rows"),
        ("miti_gpt", "Affirm", "'miti_gpt' must be a list in brackets; got 'Affirm'"),
        ("dialog_id", "hit:1_conv:2", "r.csv row 3: the same 'dialog_id' appears twice"),
        ("annotator_gpt", "human-rater-0", "a rater is in two arms"),
        ("situation", "", None),
    ],
)
def test_a_fault_is_one_sentence(
    tmp_path: Path, column: str, value: str, sentence: str | None
) -> None:
    rows = write_release(tmp_path / "r.csv")
    rows[0][column] = value
    write_rows(tmp_path / "r.csv", rows)
    if sentence is None:  # the utterance stands in for a situation that is not told
        found = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
        assert found.situation_set.situations[0].text == rows[0]["speaker_uttr"]
        return
    with pytest.raises(UserError) as caught:
        read_release(read_table(tmp_path / "r.csv"), where="r.csv")
    assert sentence in str(caught.value)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "r.csv", [{"dialog_id": "1", "emotion": "sad", "situation": "x"}])
    with pytest.raises(UserError, match="the column 'speaker_uttr' is missing"):
        read_release(read_table(tmp_path / "r.csv"), where="r.csv")
    rows = [{"dialog_id": "1", "emotion": "sad", "situation": "x", "speaker_uttr": "y"}]
    write_rows(tmp_path / "r.csv", rows)
    with pytest.raises(UserError, match="the file contains no arms.*response_<arm>"):
        read_release(read_table(tmp_path / "r.csv"), where="r.csv")


@pytest.mark.shared_data
def test_the_released_file_holds_what_the_paper_says(shared_data: Path) -> None:
    folder = shared_data / "welivita"
    people = [(file.name, read_table(file)) for file in sorted(folder.glob("demographics_*.csv"))]
    found = read_release(
        read_table(folder / "dataset_and_ratings.csv"), where="released", people=people
    )
    situations = found.situation_set
    assert len(situations) == 2000
    assert len(situations.emotions) == 32
    assert sum(situation.valence == "positive" for situation in situations) == 881
    assert sum(situation.valence == "negative" for situation in situations) == 1119
    assert len(found.replies) == 4000
    assert found.study is not None
    assert (len(found.study.raters), len(found.study.ratings)) == (400, 4000)
    assert found.study.design == "between"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("dialog_id", value) for value in (["a"], {"a": 1}, True, float("nan"))),
        *((name, ["a"]) for name in ("situation", "emotion", "speaker_uttr", "sentiment")),
        *((name, ["a"]) for name in ("response_human", "annotator_human", "rating_human")),
    ],
)
def test_cells_that_are_no_text_are_refused_with_a_sentence(column: str, value: object) -> None:
    table = pl.DataFrame([{**JSON_ROW, column: value}])
    with pytest.raises(InputError):
        read_release(table, where="x.jsonl")


@pytest.mark.parametrize("value", [5, 10**30, 5.0])
def test_numbers_as_ids_are_read_as_text(value: float) -> None:
    table = pl.DataFrame([{**JSON_ROW, "dialog_id": value, "annotator_human": value}])
    release = read_release(table, where="x.jsonl")
    assert [situation.id for situation in release.situation_set.situations] == [str(int(value))]
    assert [reply.situation for reply in release.replies] == [str(int(value))]


JSON_ROW = {
    "dialog_id": "d1",
    "emotion": "sad",
    "situation": "I lost it",
    "speaker_uttr": "I lost my ring",
    "sentiment": "negative",
    "response_human": "Oh no",
    "rating_human": 3,
    "annotator_human": "a",
}
