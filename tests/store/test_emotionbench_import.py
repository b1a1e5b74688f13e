"""Published files in the lab, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import func, select

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.store.administrations import read_appraisals
from empathylab.store.imports.emotionbench import import_emotionbench
from empathylab.store.queries import situation_sets_frame
from empathylab.store.situations import lab_situation_set
from tests.helpers.emotionbench import (
    ITEMS,
    told,
    write_people,
    write_results,
    write_situations,
)

REST = "General_test-0_order-0"
AFTER = "Anger-0_scenario-1_test-0_order-0"
FILE = "gpt-9-PANAS-testing.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Situations, one model's results and two people."""
    root = tmp_path / "published"
    write_results(
        root / "results" / FILE,
        {REST: [3] * ITEMS, AFTER: [2] * ITEMS},
        prompts={AFTER: told("The till closes.")},
    )
    write_situations(root / "situations.json")
    write_people(
        root / "results" / "crowd.xlsx",
        [("Angry_F1S2", [1] * 20, [2] * 20), ("Guilt_F1S1", [1] * 20, [3] * 20)],
    )
    return root


def changes(lab: Lab, path: Path) -> dict[str, str]:
    return {item.file: item.change for item in import_emotionbench(lab, path)}


def counts(lab: Lab) -> dict[str, Any]:
    with lab.reading() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar()
            for table in schema.metadata.sorted_tables
        }


def texts(lab: Lab) -> dict[str, str]:
    """What the situations that were answered say, by their keys."""
    table = schema.situations.c
    used = schema.administrations.c.situation_id
    query = select(table.key, table.text).where(table.id.in_(select(used)))
    return dict(lab.frame(query).iter_rows())


def test_all_kinds_of_files_are_imported(lab: Lab, folder: Path) -> None:
    assert changes(lab, folder) == {
        "situations.json": "added",
        "crowd.xlsx": "added",
        FILE: "added",
    }
    found = read_appraisals(lab).administrations
    assert found.height == 6
    assert set(found["respondent"]) == {"gpt-9", "human"}
    assert read_appraisals(lab).answers.height == 6 * ITEMS


def test_importing_again_changes_nothing(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder)
    before = counts(lab)
    assert set(changes(lab, folder).values()) == {"unchanged"}
    assert counts(lab) == before


def answers_of(lab: Lab, respondent: str) -> pl.DataFrame:
    read = read_appraisals(lab)
    return read.answers.join(
        read.administrations.filter(respondent=respondent), on="administration", how="semi"
    )


def test_a_changed_file_takes_the_place_of_the_old_one(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder)
    before = counts(lab)
    write_results(folder / "results" / FILE, {REST: [5] * ITEMS, AFTER: [2] * ITEMS})
    assert changes(lab, folder)[FILE] == "replaced"
    assert counts(lab) == before
    assert sorted(answers_of(lab, "gpt-9")["value"].unique()) == [2, 5]


def test_a_person_is_found_again_in_both_administrations(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder)
    found = read_appraisals(lab).administrations.filter(respondent="human")
    pairs = found.group_by("subject", maintain_order=True).agg("phase", "emotion").rows()
    assert pairs == [
        ("person-0001", ["default", "evoked"], [None, "anger"]),
        ("person-0002", ["default", "evoked"], [None, "guilt"]),
    ]


def test_models_and_people_share_situations(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder)
    found = read_appraisals(lab).administrations.filter(phase="evoked", emotion="anger")
    assert found["situation"].to_list() == ["anger-0-1"] * 2
    assert texts(lab)["anger-0-1"] == "The till closes."
    assert set(found["factor"]) == {"Queues"}


def test_the_published_set_can_be_read_back(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder)
    found = lab_situation_set(lab, "emotionbench")
    assert [item.id for item in found] == ["anger-0-0", "anger-0-1", "anger-1-0", "guilt-0-0"]
    assert {"emotionbench", "emotionbench-tested"} == set(situation_sets_frame(lab)["set"])


def test_a_situation_known_by_its_number_gets_its_text_later(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder / "results" / "crowd.xlsx")
    assert "by its number only" in texts(lab)["anger-0-1"]
    import_emotionbench(lab, folder)
    assert texts(lab)["anger-0-1"] == "The till closes."


def test_another_text_under_a_known_number_is_another_situation(lab: Lab, folder: Path) -> None:
    write_results(
        folder / "z-PANAS-testing.csv", {AFTER: [2] * ITEMS}, prompts={AFTER: told("It hails.")}
    )
    import_emotionbench(lab, folder)
    found = read_appraisals(lab).administrations.filter(respondent="z")
    [situation] = found["situation"]
    assert situation.startswith("anger-0-1-")
    assert texts(lab)[situation] == "It hails."


def test_an_invalid_administration_is_kept_with_its_reason(lab: Lab, folder: Path) -> None:
    write_results(
        folder / "results" / FILE,
        {REST: [3] * ITEMS, AFTER: [*[2] * 19, "two"], "Anger-0_scenario-0_test-0_order-10": [1]},
    )
    (done,) = [item for item in import_emotionbench(lab, folder) if item.file == FILE]
    assert done.invalid == {
        "an answer is not a whole number": 1,
        "the file has no column order-10": 1,
    }
    found = read_appraisals(lab).administrations.filter(respondent="gpt-9")
    assert found["outcome"].to_list() == ["valid", "unparseable", "unparseable"]
    assert answers_of(lab, "gpt-9").height == ITEMS


def test_a_file_of_an_unknown_scale_is_skipped_with_a_reason(lab: Lab, folder: Path) -> None:
    write_results(folder / "gpt-9-NOSUCH-testing.csv", {REST: [3] * ITEMS})
    (done,) = [item for item in import_emotionbench(lab, folder) if item.holds == "unknown"]
    assert done.change == "skipped"
    assert "<model>-<SCALE>-testing.csv" in str(done.note)


def test_a_scale_that_the_release_brings_is_taken(sqlite_lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "questionnaires.json").write_text(
        json.dumps(
            [
                {
                    "name": "Calm",
                    "questions": {"1": "I am calm.", "2": "I am not calm."},
                    "compute_mode": "SUM",
                    "scale": 6,
                    "reverse": [2],
                    "categories": [{"cat_name": "Overall", "cat_questions": [1, 2]}],
                    "prompt": "Give numbers from 1 to 5.",
                }
            ]
        ),
        encoding="utf-8",
    )
    write_results(tmp_path / "gpt-9-Calm-testing.csv", {REST: [3, 4]}, orders={0: [1, 2]})
    assert changes(sqlite_lab, tmp_path) == {
        "questionnaires.json": "added",
        "gpt-9-Calm-testing.csv": "added",
    }
    assert read_appraisals(sqlite_lab).administrations["scale"].to_list() == ["calm"]


def test_hidden_folders_are_left_out(sqlite_lab: Lab, folder: Path) -> None:
    write_results(folder / ".git" / "gpt-8-PANAS-testing.csv", {REST: [3] * ITEMS})
    assert "gpt-8-PANAS-testing.csv" not in changes(sqlite_lab, folder)


@pytest.mark.parametrize("what", ["nothing", "missing", "twice"])
def test_a_folder_that_cannot_be_meant_is_one_sentence(
    sqlite_lab: Lab, folder: Path, tmp_path: Path, what: str
) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "twice" / "a").mkdir(parents=True)
    for part in ("twice", "twice/a"):
        write_situations(tmp_path / part / "situations.json")
    sentences = {
        "nothing": "data fetch emotionbench",
        "missing": "no such file or folder",
        "twice": "two files are called situations.json",
    }
    with pytest.raises(InputError, match=sentences[what]):
        import_emotionbench(sqlite_lab, tmp_path / what)


def test_answers_come_back_exactly(lab: Lab, folder: Path) -> None:
    import_emotionbench(lab, folder)
    third = 1 + 1 / 3
    with lab.writing() as connection:
        connection.execute(schema.item_answers.update().values(value=third))
    assert set(read_appraisals(lab).answers["value"]) == {third}


@pytest.mark.shared_data
def test_the_published_folder_is_imported_whole(sqlite_lab: Lab, shared_data: Path) -> None:
    done = import_emotionbench(sqlite_lab, shared_data / "emotionbench")
    assert sum(item.count for item in done if item.respondent == "human") == 2 * 1266
    assert not any(item.invalid or item.ignored for item in done)


def test_a_result_file_without_any_answer_is_skipped_and_adds_nobody(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    (tmp_path / "gpt-4-PANAS-testing.csv").write_text("a,b\n1,2\n")
    [done] = import_emotionbench(sqlite_lab, tmp_path)
    assert done.change == "skipped"
    assert "contains no administrations (2 columns" in str(done.note)
    assert read_appraisals(sqlite_lab).administrations.is_empty()
