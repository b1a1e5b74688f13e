"""Two occasions side by side, on real labs."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from empathylab.analysis.drift import ratings
from empathylab.analysis.drift.analysis import DriftResult, compare
from empathylab.analysis.drift.occasions import Window, read_occasion
from empathylab.analysis.drift.shifts import Shift, corrected
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.protocols import Appraisal, Responding, plan_appraisal, plan_responding
from empathylab.report.drift.page import changes_page
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.situations.sources.welivita import read_release
from empathylab.stats.arms import ClusteredDifference, clustered_difference
from empathylab.store import Lab, schema
from empathylab.store.imports.releases import import_release
from empathylab.store.inserts import now
from empathylab.tables import read_table
from tests.helpers.labs import person_like
from tests.helpers.welivita import write_release

PERSON = "scripted/person"
EVOKED = {"subscale": "negative", "measure": "evoked", "emotion": None}


def _calmer(messages: tuple[Message, ...], parameters: Parameters) -> str:
    """As a person, but one point less on everything, and wordier."""
    given = person_like(messages, parameters)
    if not given.startswith("{"):
        return given + " Please tell me more, I am here for you!"
    return json.dumps({key: max(1, value - 1) for key, value in json.loads(given).items()})


def _measure(
    lab: Lab, answer: object = person_like, name: str = PERSON, *, fresh: bool = False
) -> None:
    appraisal, dialogues = builtin_set("appraisal"), builtin_set("dialogues")
    chosen = appraisal.first_per_group(1)
    replying = Responding(dialogues, dialogues.situations[:12])
    plans = [
        plan_appraisal(lab, name, Appraisal(builtin_scale("panas"), appraisal, chosen)),
        plan_responding(lab, name, replying),
    ]
    run(lab, [Job(ScriptedModel(answer, name=name), plans, fresh=fresh)])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def two_labs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("labs")
    with Lab.open(folder / "old") as lab:
        _measure(lab)
        _measure(lab, name="scripted/gone")
    with Lab.open(folder / "new") as lab:
        _measure(lab, _calmer)
        _measure(lab, name="scripted/fresh")
    return folder / "old", folder / "new"


def _compared(one: Path, other: Path) -> DriftResult:
    with Lab.open(one, create=False) as lab:
        before = read_occasion(lab, "old")
    with Lab.open(other, create=False) as lab:
        return compare(before, read_occasion(lab, "new"))


@pytest.fixture(scope="module")
def found(two_labs: tuple[Path, Path]) -> DriftResult:
    return _compared(*two_labs)


def test_it_says_who_was_measured_on_both_occasions(found: DriftResult) -> None:
    assert found.both == (PERSON,)
    assert found.only_before == ("scripted/gone",)
    assert found.only_after == ("scripted/fresh",)


def test_a_point_less_on_every_item_shows_in_the_scores(found: DriftResult) -> None:
    [evoked] = [score for score in found.scores if {**score.about, **EVOKED} == score.about]
    assert evoked.difference == pytest.approx(-10.0, abs=1.0)
    assert evoked.details["paired"]


def test_a_wordier_reply_shows_in_the_style(found: DriftResult) -> None:
    words = {item.about["feature"]: item for item in found.style}["words"]
    assert words.difference == pytest.approx(9.0)
    assert words.details["paired"]
    assert words.p_holm < 0.05


def test_verdicts_stand_side_by_side(found: DriftResult) -> None:
    [verdict] = found.verdicts
    assert verdict.about == {"respondent": PERSON, "scale": "panas"}
    assert verdict.changed == (verdict.before != verdict.after)


def test_equal_settings_are_not_listed(found: DriftResult) -> None:
    assert found.settings == ()


def test_a_setting_that_differs_is_named(tmp_path: Path, two_labs: tuple[Path, Path]) -> None:
    appraisal = builtin_set("appraisal")
    with Lab.open(tmp_path / "warm") as lab:
        warm = Appraisal(
            builtin_scale("panas"), appraisal, appraisal.first_per_group(1), temperature=0.9
        )
        model = ScriptedModel(person_like, name=PERSON)
        run(lab, [Job(model, [plan_appraisal(lab, PERSON, warm)])])
    changes = _compared(two_labs[0], tmp_path / "warm")
    told = {(setting.setting, setting.before, setting.after) for setting in changes.settings}
    assert ("temperature", "0.0", "0.9") in told


def test_a_lab_and_its_copy_hold_the_same_answers_once(
    tmp_path: Path, two_labs: tuple[Path, Path]
) -> None:
    shutil.copytree(two_labs[0], tmp_path / "copy")
    changes = _compared(two_labs[0], tmp_path / "copy")
    assert changes.both == ()
    assert changes.scores == ()
    assert {item.what for item in changes.incomparable} == {
        f"{PERSON}, answers",
        "scripted/gone, answers",
    }
    assert "count once" in changes.incomparable[0].why


def test_a_scale_that_differs_is_not_compared(tmp_path: Path, two_labs: tuple[Path, Path]) -> None:

    appraisal = builtin_set("appraisal")
    scale = builtin_scale("panas")
    other = scale.model_copy(update={"version": scale.version + 1})
    with Lab.open(tmp_path / "lab") as lab:
        asked = Appraisal(other, appraisal, appraisal.first_per_group(1))
        plan = plan_appraisal(lab, PERSON, asked)
        run(lab, [Job(ScriptedModel(person_like, name=PERSON), [plan])])
    changes = _compared(two_labs[0], tmp_path / "lab")
    assert changes.scores == ()
    assert any("the scale is not the same" in item.why for item in changes.incomparable)


def test_two_dates_of_one_lab_are_told_apart(lab: Lab) -> None:
    _measure(lab)
    day = now()
    _measure(lab, _calmer, fresh=True)
    before = read_occasion(lab, "before", Window(until=day))
    after = read_occasion(lab, "after", Window(since=day))
    changes = compare(before, after)
    [evoked] = [score for score in changes.scores if {**score.about, **EVOKED} == score.about]
    assert changes.both == (PERSON,)
    assert evoked.difference == pytest.approx(-10.0, abs=1.0)
    assert changes.incomparable == ()


def test_answers_taken_over_are_no_measurement_after_the_day(sqlite_lab: Lab) -> None:
    _measure(sqlite_lab)
    day = now()
    appraisal = builtin_set("appraisal")
    more = Appraisal(builtin_scale("panas"), appraisal, appraisal.first_per_group(2))
    plan = plan_appraisal(sqlite_lab, PERSON, more)
    run(sqlite_lab, [Job(ScriptedModel(person_like, name=PERSON), [plan])])
    after = read_occasion(sqlite_lab, "after", Window(since=day))
    assert after.reused == (PERSON,)
    assert after.administrations.filter(after.administrations["measured_at"] < day).is_empty()


def test_nothing_after_the_day_compares_nothing(sqlite_lab: Lab) -> None:
    _measure(sqlite_lab)
    day = now() + timedelta(days=1)
    before = read_occasion(sqlite_lab, "before", Window(until=day))
    changes = compare(before, read_occasion(sqlite_lab, "after", Window(since=day)))
    assert changes.both == ()
    assert changes.only_before == (PERSON,)


def test_two_empty_labs_compare_nothing(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Lab.open(tmp_path / name).close()
    document = _compared(tmp_path / "one", tmp_path / "two").to_dict()
    assert document["respondents"] == {"both": [], "before_only": [], "after_only": []}
    assert document["scores"] == document["ratings"] == document["not_compared"] == []


def _rated(folder: Path, seed: int, good: float) -> None:
    folder.mkdir()
    write_release(folder / "r.csv", raters=20, good={"gpt": good}, seed=seed)
    release = read_release(read_table(folder / "r.csv"), where="r.csv")
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint=str(seed))


def test_ratings_of_the_same_arm_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    situations = []

    def by_rater_and_situation(*given: Any, **named: Any) -> ClusteredDifference:
        situations.append(named["situations"].n_unique())
        return clustered_difference(*given, **named)

    monkeypatch.setattr(ratings, "clustered_difference", by_rater_and_situation)
    _rated(tmp_path / "a", 1, 0.2)
    _rated(tmp_path / "b", 2, 0.9)
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    gpt = next(rating for rating in changes.ratings if rating.about["arm"] == "gpt")
    assert gpt.about["measure"] == "good"
    assert gpt.after - gpt.before > 0.4
    assert gpt.p_holm < 0.001
    assert gpt.low < gpt.after - gpt.before < gpt.high
    assert gpt.details["new_replies"] == 0
    assert not any("two samples" in conclusion.sentence for conclusion in changes.conclusions)

    with Lab.open(tmp_path / "b" / "lab") as lab, lab.writing() as connection:
        text = schema.responses.c.text
        connection.execute(update(schema.responses).values(text=text + " Once more."))
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    gpt = next(rating for rating in changes.ratings if rating.about["arm"] == "gpt")
    said = (
        f"Replies to {gpt.details['new_replies']} situations are new, so this compares two samples"
    )
    assert gpt.details["new_replies"] > 40
    assert min(situations) > 40
    assert any(said in conclusion.sentence for conclusion in changes.conclusions)


def _of_studies(changes: DriftResult) -> dict[str, str]:
    return {item.what: item.why for item in changes.incomparable if item.what.startswith("study ")}


def test_only_ratings_of_the_same_situations_with_the_same_template_are_compared(
    tmp_path: Path,
) -> None:
    replies, situations = schema.responses, schema.situations
    numbers = select(situations.c.id).order_by(situations.c.id)
    respondent = select(schema.respondents.c.id).filter_by(name="gpt").scalar_subquery()
    gpt = replies.c.respondent_id == respondent
    for seed, name in enumerate("ab", start=1):
        _rated(tmp_path / name, seed, 0.5)
        with Lab.open(tmp_path / name / "lab") as lab, lab.writing() as connection:
            connection.execute(update(replies).where(gpt).values(prompt="friend@1"))
            when = datetime(2026, 1, seed, tzinfo=UTC)
            connection.execute(update(schema.ratings).values(rated_at=when))
            if name == "b":
                first, second, *_ = connection.execute(numbers).scalars()
                newer = update(replies).where(gpt, replies.c.situation_id == first)
                connection.execute(newer.values(prompt="friend@2"))
                reworded = update(situations).where(situations.c.id == second)
                connection.execute(reworded.values(text="Something else happened."))
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    assert {
        rating.about["arm"]: (rating.n_before, rating.n_after) for rating in changes.ratings
    } == {
        "human": (79, 79),
        "gpt": (78, 78),
    }
    # A situation in two wordings counts as two.
    once = "2 situations were rated on one occasion only"
    assert _of_studies(changes) == {
        "study welivita-2024, arm human": once,
        "study welivita-2024, arm gpt": f"{once}; replies to 1 situation were asked for with "
        "another template",
    }

    with Lab.open(tmp_path / "b" / "lab") as lab, lab.writing() as connection:
        connection.execute(update(replies).where(gpt).values(prompt="friend@2"))
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    assert [rating.about["arm"] for rating in changes.ratings] == ["human"]
    why = _of_studies(changes)["study welivita-2024, arm gpt"]
    assert why == f"{once}; replies were asked for with another template"


def test_the_same_file_in_both_labs_is_no_second_measurement(tmp_path: Path) -> None:
    _rated(tmp_path / "a", 1, 0.5)
    _rated(tmp_path / "b", 1, 0.5)
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    assert changes.ratings == ()
    assert any(item.what.startswith("study ") for item in changes.incomparable)


def test_a_file_that_also_tells_when_people_rated_is_no_second_measurement(tmp_path: Path) -> None:
    _rated(tmp_path / "a", 1, 0.5)
    _rated(tmp_path / "b", 1, 0.5)
    with Lab.open(tmp_path / "b" / "lab") as lab, lab.writing() as connection:
        connection.execute(update(schema.ratings).values(rated_at=now()))
    assert _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab").ratings == ()


def test_the_same_ratings_at_another_time_are_a_second_measurement(tmp_path: Path) -> None:
    for name, day in (("a", 1), ("b", 2)):
        _rated(tmp_path / name, 1, 0.5)
        with Lab.open(tmp_path / name / "lab") as lab, lab.writing() as connection:
            when = datetime(2026, 1, day, tzinfo=UTC)
            connection.execute(update(schema.ratings).values(rated_at=when))
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    assert [rating.after - rating.before for rating in changes.ratings] == [0.0, 0.0]


def test_a_study_that_still_takes_people_is_not_looked_at(tmp_path: Path) -> None:
    _rated(tmp_path / "a", 1, 0.2)
    _rated(tmp_path / "b", 2, 0.9)
    with Lab.open(tmp_path / "b" / "lab") as lab, lab.writing() as connection:
        connection.execute(update(schema.studies).values(status="open"))
    changes = _compared(tmp_path / "a" / "lab", tmp_path / "b" / "lab")
    assert changes.ratings == ()
    assert any("is still running" in item.why for item in changes.incomparable)


def test_json_holds_no_figure_that_is_not_a_number(found: DriftResult) -> None:
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["respondents"]["both"] == [PERSON]


def test_the_page_shows_names_as_text(found: DriftResult) -> None:
    import dataclasses

    odd = dataclasses.replace(found, both=("<script>alert(1)</script>",))
    page = changes_page(odd)
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_figures_of_one_kind_are_corrected_together() -> None:
    # By hand: Holm 3 × .01, 2 × .02 and at least that; Benjamini and Hochberg 3 × .03 / 3.
    shifts = [
        Shift(
            about={"measure": str(p)},
            **dict.fromkeys(("before", "after", "difference", "low", "high"), 0.0),
            p=p,
            n_before=9,
            n_after=9,
            details={},
        )
        for p in (0.01, 0.02, 0.03)
    ]
    found = corrected(shifts)
    assert [shift.p_holm for shift in found] == pytest.approx([0.03, 0.04, 0.04])
    assert [shift.p_bh for shift in found] == pytest.approx([0.03, 0.03, 0.03])
