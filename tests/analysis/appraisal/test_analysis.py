"""The lab's appraisals analysed, on small files and against the published tables."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from empathylab.analysis import appraisal
from empathylab.analysis.appraisal import AppraisalResult
from empathylab.analysis.appraisal.caveats import doubts
from empathylab.analysis.appraisal.result import (
    alignment_rows,
    change_rows,
    place_label,
)
from empathylab.analysis.appraisal.self_reports import last_used_runs
from empathylab.store import Lab
from empathylab.store.imports.emotionbench import import_emotionbench
from tests.helpers.emotionbench import ITEMS, write_people, write_results

CONTRACT = {
    *("respondent", "scale", "subscale", "level", "label", "n", "invalid", "mean", "sd"),
    *("default_mean", "default_sd", "default_n", "delta", "test", "statistic", "df", "p"),
    *("p_holm", "p_bh", "direction", "effect_size"),
}
SUBSCALES = {
    "Positive Affect": "positive",
    "Negative Affect": "negative",
    "Overall": "total",
    "Anger Scale": "anger",
    "Hostility Scale": "hostility",
    "Physical Aggression Scale": "physical-aggression",
    "Verbal Aggression Scale": "verbal-aggression",
}
Rows = dict[tuple[str, str, str, str], dict[str, Any]]


@pytest.fixture
def small(sqlite_lab: Lab, tmp_path: Path) -> Lab:
    """A model with one answer that cannot be read, and three people."""
    columns: dict[str, list[object]] = {
        "General_test-0_order-0": [3] * ITEMS,
        "General_test-1_order-0": [*[4] * 10, *[3] * 10],
        "General_test-2_order-0": ["?"] * ITEMS,
        "Anger-0_scenario-0_test-0_order-0": [2] * ITEMS,
        "Anger-0_scenario-1_test-0_order-0": [1] * ITEMS,
        "Guilt-1_scenario-0_test-0_order-0": [*[1] * 19, 9],
    }
    write_results(tmp_path / "in" / "gpt-9-PANAS-testing.csv", columns)
    people = [(f"Angry_F1S{number}", [2] * 20, [number] * 20) for number in (1, 2, 3)]
    write_people(tmp_path / "in" / "crowd.xlsx", people)
    import_emotionbench(sqlite_lab, tmp_path / "in")
    return sqlite_lab


def test_rows_keep_the_contract(small: Lab) -> None:
    for row in change_rows(appraisal.from_lab(small)):
        assert row.keys() >= CONTRACT


def test_rows_are_json_without_nan(small: Lab) -> None:
    found = appraisal.from_lab(small)
    for rows in (change_rows(found), alignment_rows(found), found.to_dict()):
        json.dumps(rows, allow_nan=False)


def test_invalid_administrations_are_counted_where_they_belong(small: Lab) -> None:
    rows = change_rows(appraisal.from_lab(small, respondent="gpt-9"))
    counted = {row["label"]: (row["n"], row["invalid"], row["default_invalid"]) for row in rows}
    assert counted["Overall"] == (2, 1, 1)
    assert counted["Anger"] == (2, 0, 1)
    assert "Guilt" not in counted


def test_invalid_administrations_are_counted_by_reason(small: Lab) -> None:
    found = [
        (row["phase"], row["reason"], row["count"])
        for row in appraisal.from_lab(small).invalid.to_dicts()
    ]
    assert found == [
        ("default", "an answer is not a whole number", 1),
        ("evoked", "an answer is not from 1 to 5", 1),
    ]


def test_people_appear_as_human_and_are_paired(small: Lab) -> None:
    rows = [row for row in change_rows(appraisal.from_lab(small)) if row["respondent"] == "human"]
    assert {row["test"] for row in rows if row["label"] == "Overall"} == {"paired"}


def test_labels_are_those_of_the_published_tables() -> None:
    assert place_label("overall", None, None) == "Overall"
    assert place_label("emotion", "anger", None) == "Anger"
    assert place_label("factor", "jealousy", "Experiential") == "Jealousy-3"
    assert place_label("factor", "anger", "Slow lifts") == "Slow lifts"


def test_alignment_has_a_row_for_each_respondent_and_scale(small: Lab) -> None:
    rows = alignment_rows(appraisal.from_lab(small))
    assert [(row["respondent"], row["scale"]) for row in rows] == [
        ("human", "panas"),
        ("gpt-9", "panas"),
    ]
    assert rows[0]["distance"] is None
    assert {distance["label"] for distance in rows[1]["distances"]} == {
        "Overall",
        "Anger",
        "Anger-0",
    }


def test_of_a_respondents_runs_of_a_scale_only_the_one_used_last_counts() -> None:
    asked = pl.DataFrame(
        {
            "respondent": ["a", "a", "a", "a", "b"],
            "scale": ["panas", "panas", "bdi", "panas", "panas"],
            "run": [1, 3, 2, None, 1],
            "run_used_at": [20, 10, 5, None, 1],
            "run_pinned_at": [None] * 5,
            "run_mode": ["structured"] * 5,
            "situation": ["one"] * 5,
        }
    )
    assert last_used_runs(asked)["run"].to_list() == [1, 2, None, 1]


@pytest.fixture(scope="module")
def published(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Lab, AppraisalResult]]:
    """A lab with the published files, analysed."""
    with Lab.open(tmp_path_factory.mktemp("published")) as lab:
        import_emotionbench(lab, shared_data / "emotionbench")
        yield lab, appraisal.from_lab(lab)


@pytest.fixture(scope="module")
def rows(published: tuple[Lab, AppraisalResult]) -> Rows:
    return {
        (row["respondent"], row["scale"], row["subscale"], row["label"]): row
        for row in change_rows(published[1])
    }


@pytest.fixture(scope="module")
def reference(shared_data: Path) -> dict[str, Any]:
    path = shared_data / "reference" / "emotionbench.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.shared_data
def test_every_published_row_of_the_models_is_reproduced(
    rows: Rows, reference: dict[str, Any]
) -> None:
    checked = 0
    for model, scales in reference.items():
        for scale, table in scales.items() if model != "humans" else ():
            for row in table["rows"]:
                found = rows[model, scale.lower(), SUBSCALES[row["sub"]], row["label"]]
                exact = ("n", "default_n", "test")
                assert [found[name] for name in exact] == [row[name] for name in exact]
                assert found["direction"] == row["direction"].replace("-", "none")
                for name in ("mean", "sd", "default_mean", "default_sd", "delta"):
                    assert found[name] == pytest.approx(row[name], abs=0.001)
                assert found["statistic"] == pytest.approx(row["t"], abs=0.01)
                assert found["p"] == pytest.approx(row["p"], rel=1e-5)
                checked += 1
    assert checked == 403


@pytest.mark.shared_data
def test_every_published_row_of_the_people_is_reproduced(
    rows: Rows, reference: dict[str, Any]
) -> None:
    words = {"Angry": "Anger", "Jealous": "Jealousy"}
    checked = 0
    for row in reference["humans"]["PANAS"]:
        emotion, _, factor = row["label"].partition("_F")
        label = words.get(emotion, emotion) + (f"-{int(factor) - 1}" if factor else "")
        for letter, subscale in (("P", "positive"), ("N", "negative")):
            found = rows["human", "panas", subscale, label]
            assert (found["n"], found["test"]) == (row["n"], "paired")
            assert found["default_mean"] == pytest.approx(row[f"default_{letter}"], abs=0.001)
            assert found["default_sd"] == pytest.approx(row[f"default_{letter}_sd"], abs=0.001)
            assert found["delta"] == pytest.approx(row[f"delta_{letter}"], abs=0.001)
            assert found["statistic"] == pytest.approx(row[f"t_{letter}"], abs=0.01)
            checked += 1
    assert checked == 90


@pytest.mark.shared_data
def test_there_is_no_row_that_the_published_tables_lack(
    rows: Rows, reference: dict[str, Any]
) -> None:
    assert len(rows) == 403 + 90


@pytest.mark.shared_data
def test_models_are_aligned_over_all_36_factors(published: tuple[Lab, AppraisalResult]) -> None:
    found = {summary.respondent: summary for summary in published[1].summaries}
    assert all(
        value.factors == 36 and value.low < value.distance < value.high for value in found.values()
    )
    assert found["llama2-13b"].distance < found["davinci-003"].distance


@pytest.mark.parametrize(
    ("verdict", "named"), [("usable", False), ("doubtful", True), ("meaningless", True)]
)
def test_self_reports_that_are_not_usable_are_caveats(
    small: Lab, verdict: Any, named: bool
) -> None:
    [report] = appraisal.from_lab(small).self_reports
    judged = dataclasses.replace(report.validity, verdict=verdict)
    assert bool(doubts([dataclasses.replace(report, validity=judged)])) == named
