"""EmotionBench's tables, respondents side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.analysis.appraisal.analysis import estimate_appraisals
from empathylab.report.appraisal.tables import side_by_side_tables
from empathylab.store import Lab
from empathylab.store.administrations import read_appraisals
from empathylab.store.imports.emotionbench import import_emotionbench
from tests.helpers.labs import filled


def test_respondents_stand_beside_each_other(tmp_path: Path) -> None:
    with Lab.open(tmp_path) as lab:
        filled(lab, situations=1)
        filled(lab, name="scripted/other", situations=1)
        analysis = estimate_appraisals(read_appraisals(lab))
    [table] = side_by_side_tables(analysis)
    assert [row["situations"] for row in table.rows[:3]] == ["Baseline", "Overall", "Anger"]
    assert list(table.rows[0])[1:] == [
        "scripted/person, positive",
        "scripted/person, negative",
        "scripted/other, positive",
        "scripted/other, negative",
    ]
    assert "±" in table.rows[0]["scripted/other, negative"]


def test_a_lab_without_answers_has_no_table(tmp_path: Path) -> None:
    with Lab.open(tmp_path) as lab:
        assert side_by_side_tables(estimate_appraisals(read_appraisals(lab))) == []


@pytest.mark.shared_data
@pytest.mark.slow
def test_the_published_table_comes_out(shared_data: Path, tmp_path: Path) -> None:
    with Lab.open(tmp_path) as lab:
        import_emotionbench(lab, shared_data / "emotionbench")
        analysis = estimate_appraisals(read_appraisals(lab)).only(scale="panas")
    [table] = side_by_side_tables(analysis)
    rest, overall = table.rows[0], table.rows[1]
    assert list(rest)[-1] == "people, negative"
    assert rest["gpt-3.5-turbo, positive"].startswith("39.2")
    assert overall["gpt-3.5-turbo, positive"] == "−15.4 ↓"
    assert overall["gpt-3.5-turbo, negative"] == "+0.2 –"
    assert overall["people, positive"] == "−5.1 ↓"
    # Eight emotions with their 36 factors.
    assert len(table.rows) == 2 + 8 + 36
