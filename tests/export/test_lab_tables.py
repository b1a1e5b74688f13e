"""What is in the tables of an exported lab, and what must not be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import update

from empathylab.analysis.appraisal.analysis import estimate_appraisals
from empathylab.analysis.style.analysis import lab_responses
from empathylab.export import LabTables, export_lab, lab_tables, read_exported
from empathylab.export.dictionary import dictionary
from empathylab.export.tables import TABLES
from empathylab.export.tables.runs import without_secrets
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.administrations import read_appraisals
from empathylab.store.imports.releases import import_release
from empathylab.store.judgements import lab_judgements, lab_preferences
from empathylab.store.ratings import ratings_frame
from empathylab.store.schema import raters, studies
from empathylab.store.studies.embargo import responses_in_open_studies
from empathylab.study.session.service import StudyService
from empathylab.style import FEATURES, features
from empathylab.tables import read_table
from tests.report.exports.full_lab import fill, judge_study_and_set, open_study
from tests.study.archived import released


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, LabTables]]:
    folder = tmp_path_factory.mktemp("full")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        yield lab, lab_tables(lab)


def test_every_table_has_rows_in_the_full_lab(full: tuple[Lab, LabTables]) -> None:
    heights = {name: frame.height for name, frame in full[1].tables.items()}
    assert [name for name, rows in heights.items() if not rows] == [
        "live_turns",
        "comments",
        "partial_answers",
    ]
    assert list(heights) == list(TABLES)


def test_every_column_of_every_table_is_documented(full: tuple[Lab, LabTables]) -> None:
    entries = dictionary(full[1], full[1].tables)
    assert [(entry.table, entry.column) for entry in entries if not entry.meaning] == []
    columns = [(name, one) for name, frame in full[1].tables.items() for one in frame.columns]
    assert [(entry.table, entry.column) for entry in entries] == columns


def test_no_column_is_documented_that_is_not_there(full: tuple[Lab, LabTables]) -> None:
    for name, spec in TABLES.items():
        assert set(spec.names) <= set(full[1].tables[name].columns), name


def test_the_dictionary_says_what_was_rated_on_which_points(full: tuple[Lab, LabTables]) -> None:
    entries = {(item.table, item.column): item for item in dictionary(full[1], full[1].tables)}
    assert entries["ratings", "rating"].values == "empathy: 1 = Bad, 2 = Okay, 3 = Good"
    assert entries["raters", "teq"].values == "0 to 64"
    assert entries["raters", "rater"].values is None
    assert entries["style", "words"].meaning == "How many in the response: words"
    assert entries["responses", "counted"].type == "true or false"


def test_exported_ratings_and_responses_are_those_of_the_analyses(
    full: tuple[Lab, LabTables],
) -> None:
    lab, found = full
    shared = ["arm", "respondent", "response", "situation", "dimension", "rating", "label"]
    for study in ("small", "welivita-2024"):
        own = found.tables["ratings"].filter(study=study).select(shared)
        assert own.equals(ratings_frame(lab, study).select(shared))
    counted = found.tables["responses"].filter("counted")
    assert sorted(counted["text"]) == sorted(lab_responses(lab)["text"])


def test_exported_scores_are_those_of_the_analysis(full: tuple[Lab, LabTables]) -> None:
    lab, found = full
    shared = ["administration", "respondent", "scale", "subscale", "phase", "situation", "score"]
    counted = found.tables["scores"].filter(pl.col("counted") & ~pl.col("counterpart"))
    assert counted.select(shared).equals(
        estimate_appraisals(read_appraisals(lab)).scores.select(shared)
    )


def test_style_has_a_row_for_each_usable_response(full: tuple[Lab, LabTables]) -> None:
    responses, style = full[1].tables["responses"], full[1].tables["style"]
    usable = responses.filter(outcome="valid")
    assert style["response"].to_list() == usable["response"].to_list()
    assert style.select("words", "commas").equals(features(usable).select("words", "commas"))
    assert set(style.columns[5:]) <= set(FEATURES)


def test_item_answers_stand_in_the_place_in_which_they_were_shown(
    full: tuple[Lab, LabTables],
) -> None:
    items = full[1].tables["item_answers"]
    for _, page in items.group_by("administration"):
        assert sorted(page["position"]) == list(range(1, 21))
    assert items.filter(pl.col("position") != pl.col("item")).height


def test_no_wording_of_a_scale_and_no_identity_leaves(full: tuple[Lab, LabTables]) -> None:
    everything = "".join(frame.write_json() for frame in full[1].tables.values())
    assert "human-rater-1" not in everything  # the name in the imported file
    assert "person 1" not in everything
    assert "robot" not in everything
    assert "words" not in full[1].tables["scales"].columns


@pytest.mark.parametrize("status", ["open", "paused"])
def test_an_open_study_tells_neither_its_arms_nor_how_responses_were_rated(
    lab: Lab, status: str
) -> None:
    people = open_study(lab)
    with lab.writing() as connection:
        connection.execute(update(studies).values(status=status))
    found = lab_tables(lab)
    assert found.blind == ("small",)
    ratings, people_table = found.tables["ratings"], found.tables["raters"]
    assert ratings.height == 4
    assert set(people_table["rater"]) == set(people)
    for frame, columns in (
        (ratings, ("arm", "respondent", "response", "rating", "label")),
        (people_table, ("arm",)),
    ):
        for column in columns:
            assert frame[column].null_count() == frame.height
    assert found.tables["studies"]["results_hidden"].to_list() == [True]


def test_what_judges_said_of_an_open_studys_responses_stays_in_the_lab(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    open_study(sqlite_lab)
    judge_study_and_set(sqlite_lab, "small", "dialogues")
    shown = set(responses_in_open_studies(sqlite_lab))
    whole = lab_judgements(sqlite_lab, embargoed=True)
    assert 0 < len(shown) < whole["response"].n_unique()
    found = lab_tables(sqlite_lab)
    judged, preferred = found.tables["judgements"], found.tables["preferences"]
    # Of the set's replies those are told which no study shows.
    assert judged.height > 0
    assert judged["study"].null_count() == judged.height
    assert shown.isdisjoint(judged["response"])
    assert preferred.height > 0
    assert shown.isdisjoint([*preferred["first_response"], *preferred["second_response"]])
    export_lab(sqlite_lab, tmp_path / "package", format="replication")
    means = (tmp_path / "package" / "tables" / "judges-means.csv").read_text(encoding="utf-8")
    assert "small" not in means
    page = (tmp_path / "package" / "README.md").read_text(encoding="utf-8")
    assert "people's ratings, and judges' ratings of the same responses, are left out" in page


def test_once_the_study_is_closed_all_judgements_are_exported(sqlite_lab: Lab) -> None:
    open_study(sqlite_lab)
    judge_study_and_set(sqlite_lab, "small", "dialogues")
    StudyService(sqlite_lab, "small").actions.close()
    found = lab_tables(sqlite_lab).tables
    assert found["judgements"].height == lab_judgements(sqlite_lab).height
    assert found["preferences"].height == lab_preferences(sqlite_lab).height
    assert "small" in found["judgements"]["study"]


def test_an_endpoints_password_is_in_no_table(full: tuple[Lab, LabTables]) -> None:
    runs = full[1].tables["runs"].head(1)
    told = json.dumps({"model": "a/b at https://me:secret@host/v1"})
    cleaned = without_secrets(runs.with_columns(settings=pl.lit(told)))
    assert json.loads(cleaned["settings"][0]) == {"model": "a/b at https://host/v1"}


def test_details_of_raters_are_kept_under_any_name(sqlite_lab: Lab, tmp_path: Path) -> None:
    released(sqlite_lab, tmp_path)
    again = read_release(read_table(tmp_path / "release.csv"), where="two", name="another")
    import_release(sqlite_lab, again, kind="welivita", source="two", fingerprint="2")
    told = ({"study": "biology", "=age": 30}, {"study": "law", "=age": "thirty", "a, b": True})
    with sqlite_lab.writing() as connection:
        for study, details in enumerate(told, start=1):
            mine = update(raters).where(raters.c.study_id == study)
            connection.execute(mine.values(details=details))
    found = lab_tables(sqlite_lab).tables["raters"]
    first, second = (found.filter(study=name) for name in ("welivita-2024", "another"))
    assert first["study_told"].unique().to_list() == ["biology"]
    assert first["=age"].unique().to_list() == ["30.0"]
    assert second["=age"].unique().to_list() == ["thirty"]
    assert second["a, b"].unique().to_list() == ["true"]
    export_lab(sqlite_lab, tmp_path / "out")
    assert read_exported(tmp_path / "out", "raters").rows() == found.rows()
    export_lab(sqlite_lab, tmp_path / "set", format="psych-ds")
    platform_details = json.loads((tmp_path / "set" / "dataset_description.json").read_text())
    assert "'=age" in [item["name"] for item in platform_details["variableMeasured"]]
