"""Judges on two occasions, on real labs: does a judge still agree with people?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select, update

from empathylab.analysis.drift.analysis import DriftResult, compare
from empathylab.analysis.drift.judges import _error
from empathylab.analysis.drift.occasions import Window, read_occasion
from empathylab.analysis.drift.rows import tested_rows as rows_tested
from empathylab.judging.instruments import study_instrument
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.report.drift.page import changes_page
from empathylab.runs import Job, run
from empathylab.situations.sources.welivita import read_release
from empathylab.stats.agreement import Coefficient
from empathylab.store import Lab, schema
from empathylab.store.imports.releases import import_release
from empathylab.store.inserts import now
from empathylab.store.judged_responses import judged_study, study_responses
from empathylab.tables import read_table
from tests.helpers.welivita import write_release

STUDY = "welivita-2024"
JUDGE = "acme/judge"
WORDS = {1: "Bad", 2: "Okay", 3: "Good"}
Answer = Callable[[tuple[Message, ...], Parameters], str]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("released") / "released.csv"
    write_release(path, raters=8, per_rater=6)
    return path


def echo(release: Path, *, agrees: bool) -> Answer:
    """A judge that says what people said, but Okay of every seventh; or the contrary."""
    known = {}
    for row in read_table(release).iter_rows(named=True):
        for arm in ("human", "gpt"):
            known[row[f"response_{arm}"]] = int(row[f"rating_{arm}"])

    def answer(messages: tuple[Message, ...], _parameters: Parameters) -> str:
        said = re.search(
            r"The (?:human|gpt) reply number (\d+), which is kind\.", messages[-1].content
        )
        assert said is not None
        value = 2 if int(said[1]) % 7 == 0 else known[said[0]]
        return json.dumps({"empathy": WORDS[value if agrees else 4 - value]})

    return answer


def judged(lab: Lab, release: Path, answer: Answer, *, name: str = JUDGE) -> None:
    if not lab.frame(select(schema.studies.c.id)).height:
        rows = read_release(read_table(release), where="r.csv")
        import_release(lab, rows, kind="welivita", source="r.csv", fingerprint="1")
    study = judged_study(lab, STUDY)
    rating = Judging(
        study_instrument(study), study_responses(lab, study.row), f"study {STUDY}", study.row
    )
    run(lab, [Job(ScriptedModel(answer, name=name), [plan_judging(rating)], fresh=True)])


@pytest.fixture(scope="module")
def found(release: Path, tmp_path_factory: pytest.TempPathFactory) -> DriftResult:
    folder = tmp_path_factory.mktemp("labs")
    with Lab.open(folder / "old") as lab:
        judged(lab, release, echo(release, agrees=True))
        judged(lab, release, echo(release, agrees=True), name="acme/gone")
        before = read_occasion(lab, "old")
    with Lab.open(folder / "new") as lab:
        judged(lab, release, echo(release, agrees=False))
        return compare(before, read_occasion(lab, "new"))


def test_a_judge_that_turned_against_people_is_found(found: DriftResult) -> None:
    rows = {row["measure"]: row for row in found.to_dict()["judges"]}
    agreement, distance = rows["agreement"], rows["distance"]
    assert (agreement["judge"], agreement["study"], agreement["n_before"]) == (JUDGE, STUDY, 96)
    assert agreement["before"] > 0.7
    assert agreement["after"] < 0
    assert agreement["high"] < 0
    assert (distance["n_before"], distance["n_after"]) == (96, 96)
    assert distance["before"] < 0.2
    assert distance["after"] > 1
    assert distance["low"] > 0
    assert distance["p_holm"] < 0.05


def test_verdicts_stand_side_by_side(found: DriftResult) -> None:
    [verdict] = found.to_dict()["judge_verdicts"]
    assert (verdict["judge"], verdict["before"]) == (JUDGE, "cannot tell")
    assert verdict["changed"] == (verdict["before"] != verdict["after"])


def test_a_judge_that_judged_once_is_named(found: DriftResult) -> None:
    said = [f"{item.what}: {item.why}" for item in found.incomparable]
    assert f"judge acme/gone of {STUDY}, empathy: it judged before only" in said


def test_judges_count_among_the_figures_and_stand_on_the_page(found: DriftResult) -> None:
    document = found.to_dict()
    assert [row for row in rows_tested(document) if row.get("judge") == JUDGE]
    page = changes_page(found)
    assert "Judges compared with people" in page
    assert "Can a judge replace human raters?" in page


def test_a_judge_that_said_the_same_in_both_labs_counts_once(release: Path, tmp_path: Path) -> None:
    sides = []
    for name in ("one", "other"):
        with Lab.open(tmp_path / name) as lab:
            judged(lab, release, echo(release, agrees=True))
            sides.append(read_occasion(lab, name))
    found = compare(*sides)
    assert found.judges == ()
    assert found.judge_verdicts == ()
    said = [f"{item.what}: {item.why}" for item in found.incomparable]
    assert (
        f"judge {JUDGE} of {STUDY}, empathy: all its ratings are identical on both occasions, and "
        "count once"
    ) in said


def test_a_judge_that_said_otherwise_once_is_tested(release: Path, tmp_path: Path) -> None:
    sides = []
    for name in ("one", "other"):
        with Lab.open(tmp_path / name) as lab:
            judged(lab, release, echo(release, agrees=True))
            sides.append(read_occasion(lab, name))
    told = sides[1].judged[STUDY]
    flipped = told.judges.with_columns(
        rating=pl.when(pl.int_range(pl.len()) == 0)
        .then(4 - pl.col("rating").replace(2.0, 1.0))
        .otherwise("rating")
    )
    sides[1].judged[STUDY] = replace(told, judges=flipped)
    assert {judge.about["measure"] for judge in compare(*sides).judges} == {"agreement", "distance"}


def test_an_interval_that_ends_at_the_ends_of_kappa_is_no_narrower() -> None:
    z = 1.96
    whole = Coefficient(0.9, 0.7, 1.1, 10, 0, 0.95)
    for cut in (replace(whole, high=1.0), whole):
        assert _error(cut, z) == pytest.approx(0.2 / z)
    assert _error(Coefficient(-0.9, -1.0, -0.7, 10, 0, 0.95), z) == pytest.approx(0.2 / z)


def test_two_dates_of_one_lab_are_told_apart(lab: Lab, release: Path) -> None:
    judged(lab, release, echo(release, agrees=True))
    with lab.writing() as connection:
        connection.execute(update(schema.answers).values(answered_at=now() - timedelta(days=9)))
    judged(lab, release, echo(release, agrees=False))
    day = now() - timedelta(days=3)
    sides = (
        read_occasion(lab, "then", Window(until=day)),
        read_occasion(lab, "now", Window(since=day)),
    )
    rows = {row["measure"]: row for row in compare(*sides).to_dict()["judges"]}
    assert rows["distance"]["before"] < 0.2
    assert rows["distance"]["after"] > 1


def test_an_open_studys_judges_and_ratings_are_not_looked_at(
    sqlite_lab: Lab, release: Path
) -> None:
    judged(sqlite_lab, release, echo(release, agrees=True))
    with sqlite_lab.writing() as connection:
        connection.execute(update(schema.studies).values(status="open"))
    occasion = read_occasion(sqlite_lab, "open")
    assert occasion.judged == {}
    assert occasion.studies[STUDY].ratings.is_empty()
