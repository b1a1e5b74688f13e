"""Figures of raters, mixed models and power: they show the numbers of the analysis."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

from empathylab.analysis import ratings as rated_replies
from empathylab.analysis.overview.levels import rating_levels
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.power import PowerSetting, power_setting
from empathylab.report.blocks import Figure
from empathylab.report.ratings.charts import emotions_chart, levels_chart, shares_chart
from empathylab.report.ratings.figures import MOST_ARMS, rater_figures, rating_figures
from empathylab.report.ratings.model_charts import (
    forest_chart,
    group_name,
    model_means_chart,
    power_chart,
    term_name,
)
from empathylab.report.ratings.rater_charts import (
    inconsistency_chart,
    numbers_chart,
    variable_title,
)
from empathylab.report.ratings.rater_charts import levels_chart as properties_chart
from empathylab.report.ratings.section import raters_section, ratings_section
from empathylab.situations.sources.released import Dimension
from empathylab.situations.sources.welivita import read_release
from empathylab.stats.power.analytic import two_shares_power
from empathylab.stats.questionnaires.inconsistency import Inconsistencies
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.ratings import Study
from empathylab.tables import read_table
from tests.helpers.welivita import write_people, write_release

ARMS = ("human", "gpt")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> RatingsResult:
    folder: Path = tmp_path_factory.mktemp("study")
    write_release(folder / "r.csv", arms=ARMS, raters=12, per_rater=6, good={"gpt": 0.8})
    for arm in ARMS:
        write_people(folder / f"{arm}.csv", arm, 12)
    people = [(f"{arm}.csv", read_table(folder / f"{arm}.csv")) for arm in ARMS]
    release = read_release(read_table(folder / "r.csv"), where="r.csv", people=people)
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
        return rated_replies.from_lab(lab)


def values(spec: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The rows of the largest data in the specification."""
    assert spec is not None
    found = [part["values"] for part in _data(spec)]
    found += list(spec.get("datasets", {}).values())
    rows: list[dict[str, Any]] = max(found, key=len)
    return rows


def _data(spec: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [spec, *spec.get("layer", [])]
    return [part["data"] for part in parts if "values" in part.get("data", {})]


def test_a_property_is_shown_with_its_counts(analysis: RatingsResult) -> None:
    assert analysis.rater_comparison is not None
    [found] = [item for item in analysis.rater_comparison.categorical if "country" in item.variable]
    rows = values(properties_chart(found))
    assert sum(row["raters"] for row in rows if row["arm"] == "gpt") == 12
    assert {row["level"] for row in rows} == {"Ghana", "Chile", "Nepal"}
    assert all(row["share"] == pytest.approx(row["raters"] / 12) for row in rows)


def test_times_are_shown_in_minutes(analysis: RatingsResult) -> None:
    assert analysis.rater_comparison is not None
    [found] = [item for item in analysis.rater_comparison.numeric if item.variable == "seconds"]
    rows = values(numbers_chart(found))
    assert sum(row["raters"] for row in rows) == 24
    # 300 to 520 seconds.
    assert min(row["from"] for row in rows) == pytest.approx(5)
    assert variable_title("seconds") == "minutes taken"


def test_an_arm_whose_raters_did_not_say_has_no_empty_panel(analysis: RatingsResult) -> None:
    assert analysis.rater_comparison is not None
    [found] = [item for item in analysis.rater_comparison.numeric if item.variable == "seconds"]
    people, *others = found.arms
    unknown = dataclasses.replace(people, n=0, histogram=(0,) * len(people.histogram))
    partly = dataclasses.replace(found, arms=(unknown, *others))
    assert {row["arm"] for row in values(numbers_chart(partly))} == {arm.arm for arm in others}
    compared = dataclasses.replace(analysis.rater_comparison, numeric=(partly,))
    [figure, *_] = rater_figures(dataclasses.replace(analysis, rater_comparison=compared))
    assert figure.note.endswith("Not known: people.")


def test_contradictions_count_those_who_answered() -> None:
    found = Inconsistencies(np.array([0, 0, 3, -1]), 8, 3, 1, 2 / 3, 0.0)
    rows = values(inconsistency_chart(found))
    assert [row["raters"] for row in rows] == [2, 0, 0, 1]


def test_no_answers_give_no_figure_of_contradictions() -> None:
    nobody = Inconsistencies(np.array([-1]), 8, 0, 1, math.nan, math.nan)
    assert inconsistency_chart(nobody) is None


def test_the_forest_shows_the_models_coefficients(analysis: RatingsResult) -> None:
    rows = values(forest_chart(analysis.models))
    model = analysis.models[0].model
    assert model is not None
    effect = model.coefficients["armgpt"]
    assert rows[0]["term"].startswith("gpt")
    assert rows[0]["estimate"] == pytest.approx(effect.estimate)
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((effect.low, effect.high))
    assert rows[0]["odds ratio"] == pytest.approx(math.exp(effect.estimate))


@pytest.mark.parametrize(
    ("coefficient", "shown"),
    [
        ("Intercept", "Intercept"),
        ("armllama3:8b", "llama3:8b"),
        ("armgpt:valencepositive", "gpt × positive"),
        ("armarm", "arm"),
    ],
)
def test_a_coefficient_is_named_by_its_levels(coefficient: str, shown: str) -> None:
    assert term_name(coefficient) == shown


def test_tables_of_models_name_the_arms(analysis: RatingsResult) -> None:
    tables = ratings_section([analysis], [], []).tables()
    terms = [row["term"] for table in tables if "coefficients" in table.title for row in table.rows]
    assert set(analysis.arms[1:]) <= set(terms)
    assert not any(term.startswith("arm") for term in terms)


def test_the_table_of_raters_keeps_the_datas_unit(analysis: RatingsResult) -> None:
    [table] = raters_section([analysis]).tables()
    assert analysis.rater_comparison is not None
    [seconds] = [item for item in analysis.rater_comparison.numeric if item.variable == "seconds"]
    [row] = [row for row in table.rows if row["variable"] == "seconds taken"]
    assert row[f"of {analysis.reference}"].startswith(f"{seconds.arms[0].mean:.1f} ")


def test_without_a_model_there_is_no_forest() -> None:
    assert forest_chart(()) is None


def test_the_models_means_are_in_the_arms_order(analysis: RatingsResult) -> None:
    rows = values(model_means_chart(analysis.models[0]))
    assert [row["arm"] for row in rows] == ["human", "gpt"]
    assert all(row["low"] < row["mean"] < row["high"] for row in rows)
    assert rows[1]["mean"] > rows[0]["mean"]


def test_power_is_that_of_the_test_of_two_shares() -> None:
    given = PowerSetting("human", 0.5, ratings_per_rater=10, icc=0.0, raters=200)
    rows = values(power_chart(given))
    [row] = [row for row in rows if row["raters"] == 100 and row["difference"] == "5 points"]
    assert row["power"] == pytest.approx(two_shares_power(0.55, 0.5, 1000).power)


def test_the_setting_comes_from_the_study(analysis: RatingsResult) -> None:
    given = power_setting(analysis.comparison, "empathy")
    assert given is not None
    assert (given.reference, given.ratings_per_rater, given.raters) == ("human", 6, 12)
    assert 0 <= given.icc <= 1


def domains(spec: dict[str, Any] | None, channel: str = "x") -> list[Any]:
    """The ends of the axis in each layer that sets them."""
    assert spec is not None
    inner = spec.get("spec", spec)
    layers = [item["encoding"].get(channel, {}) for item in inner.get("layer", [inner])]
    return [layer["scale"]["domain"] for layer in layers if "domain" in layer.get("scale", {})]


def test_bars_of_proportions_fill_an_axis_from_0_to_1(analysis: RatingsResult) -> None:
    spec = shares_chart(analysis.comparison, "empathy")
    assert domains(spec) == [[0, 1]]
    subsets = {row["situations"] for row in values(spec)}
    assert subsets == {"all situations", "positive situations", "negative situations"}
    for arm, subset in itertools.product(ARMS, subsets):
        rows = [row for row in values(spec) if (row["arm"], row["situations"]) == (arm, subset)]
        assert rows[0]["from"] == 0
        assert rows[-1]["to"] == pytest.approx(1)
        assert [row["rating"] for row in rows] == ["Bad", "Okay", "Good"]


def test_proportions_by_emotion_have_an_axis_from_0_to_1(analysis: RatingsResult) -> None:
    spec = emotions_chart(analysis.comparison, "empathy")
    assert domains(spec)[:2] == [[0, 1], [0, 1]]
    known = {
        (count.arm, count.subset.removeprefix("emotion:")): count.good / count.n
        for count in analysis.comparison.counts
        if count.kind == "emotion"
    }
    rows = values(spec)
    assert len(rows) == len(known) == 12
    assert all(row["share"] == pytest.approx(known[row["arm"], row["emotion"]]) for row in rows)


def test_power_has_an_axis_from_0_to_1() -> None:
    given = PowerSetting("human", 0.5, ratings_per_rater=10, icc=0.0, raters=200)
    chart = power_chart(given)
    assert {tuple(domain) for domain in domains(chart, "y")} == {(0, 1)}
    # Each curve is named where it is apart from the others, not in a legend.
    names = chart["layer"][-1]
    assert names["encoding"]["text"]["field"] == "difference"
    named = chart["datasets"][names["data"]["name"]]
    assert [row["difference"] for row in named] == ["5 points", "10 points", "15 points"]
    assert names["encoding"]["color"]["legend"] is None


def test_each_arm_has_its_proportion_with_an_interval_over_raters(
    analysis: RatingsResult,
) -> None:
    """With as many ratings by each rater, the interval is the t interval of the raters' means."""
    rows = values(levels_chart(rating_levels(analysis)))
    assert [row["arm"] for row in rows] == ["human", "gpt"]
    for row in rows:
        mine = analysis.ratings.filter(arm=row["arm"]).with_columns(good=pl.col("rating") == 3)
        means = mine.group_by("rater").agg(pl.col("good").mean())["good"].to_numpy()
        low, high = scipy.stats.t.interval(
            0.95, len(means) - 1, means.mean(), scipy.stats.sem(means)
        )
        assert row["estimate"] == pytest.approx(means.mean())
        assert (row["low"], row["high"]) == pytest.approx((max(low, 0), min(high, 1)), abs=1e-6)


def test_a_scale_of_five_points_is_shown_by_its_means() -> None:
    frame = pl.DataFrame(
        [
            {"rater": f"{arm}{r}", "arm": arm, "situation": f"s{s}", "rating": 1 + (r + s) % 5}
            for arm in ARMS
            for r in range(4)
            for s in range(5)
        ]
    )
    found = rated_replies.from_table(
        frame, study=Study("s", "S", "between", (Dimension("warmth", (1, 2, 3, 4, 5)),), "closed")
    )
    spec = levels_chart(rating_levels(found))
    assert domains(spec)[0] == [1, 5]
    assert [row["estimate"] for row in values(spec)] == pytest.approx([3, 3])


def test_unlabelled_points_have_bars_of_their_own_that_fill_the_axis() -> None:
    """0.1 drew one blank category for all of them, and the bars stopped short of the end."""
    frame = pl.DataFrame(
        [
            {"rater": f"{arm}{r}", "arm": arm, "situation": f"s{s}", "rating": 1 + (r + s) % 5}
            for arm in ARMS
            for r in range(4)
            for s in range(5)
        ]
    )
    ends = Dimension("warmth", (1.0, 2.0, 3.0, 4.0, 5.0), ("cold", "", "", "", "warm"))
    study = Study("s", "S", "between", (ends,), "closed")
    found = rated_replies.from_table(frame, study=study)
    rows = [row for row in values(shares_chart(found.comparison, "warmth")) if row["arm"] == "gpt"]
    assert [row["rating"] for row in rows] == ["cold", "2", "3", "4", "warm"]
    assert [row["to"] for row in rows] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


def test_a_scale_of_degrees_has_its_means_by_emotion() -> None:
    found = degrees(arms=2)
    figures = {figure.name: figure for figure in rating_figures(found)}
    figure = figures["emotions"]
    assert figure.title == "Mean rating by emotion"
    assert domains(figure.spec)[0] == [1, 5]
    mean = next(
        mean
        for mean in found.means[0].means
        if (mean.arm, mean.subset) == (found.arms[1], "emotion:sad")
    )
    [row] = [
        row
        for row in values(figure.spec)
        if (row.get("arm"), row.get("emotion")) == (mean.arm, "sad")
    ]
    assert (row["mean"], row["n"]) == (mean.mean.estimate, mean.n)
    assert (row["low"], row["high"]) == (mean.mean.low, mean.mean.high)


def test_very_many_arms_are_folded_below_those_rated_highest_and_lowest() -> None:
    found = degrees(arms=MOST_ARMS + 1)
    section = ratings_section([found], [], [])
    shown = [block for block in section.blocks if isinstance(block, Figure)]
    assert [figure.name for figure in shown] == ["ratings"]
    arms = list(dict.fromkeys(row["arm"] for row in values(shown[0].spec)))
    means = {level.arm: level.estimate for level in rating_levels(found)}
    assert len(arms) in (MOST_ARMS // 2, MOST_ARMS // 2 + 1)
    assert {max(means, key=means.__getitem__), found.reference} <= set(arms)
    assert f"{len(found.arms) - len(arms)} arms in between are not shown." in shown[0].note
    [fold] = [block for block in section.blocks if getattr(block, "id", "") == "ratings-1-arms"]
    everyone = fold.blocks[0]
    assert isinstance(everyone, Figure)
    assert {row["arm"] for row in values(everyone.spec)} == set(found.arms)


def degrees(arms: int) -> RatingsResult:
    """Arms rated from 1 to 5 after sad and glad situations, each a little higher."""
    frame = pl.DataFrame(
        [
            {
                "rater": f"{arm}-{rater}",
                "arm": f"arm-{arm}",
                "situation": f"s{situation}",
                "emotion": "sad" if situation % 2 else "glad",
                "rating": 1.0 + min(4, (rater + situation + arm * rater % 3 + arm // 9) % 5),
            }
            for arm in range(arms)
            for rater in range(4)
            for situation in range(4)
        ]
    )
    study = Study("s", "S", "between", (Dimension("warmth", (1, 2, 3, 4, 5)),), "closed")
    return rated_replies.from_table(frame, study=study)


@pytest.mark.parametrize(
    ("effect", "shown"),
    [
        ("rater", "rater"),
        ("armopenai/gpt|rater", "openai/gpt|rater"),
        ("arm:situation", "arm:situation"),
        ("rater: (Intercept) with armgpt", "rater: intercept with gpt"),
    ],
)
def test_a_random_effect_is_named_by_its_arm(effect: str, shown: str) -> None:
    assert group_name(effect) == shown


def test_thresholds_are_named_by_the_answers_on_either_side(analysis: RatingsResult) -> None:
    tables = ratings_section([analysis], [], []).tables()
    terms = [row["term"] for table in tables if "coefficients" in table.title for row in table.rows]
    assert "Bad | Okay" in terms
    assert "Okay | Good" in terms
    assert "1|2" not in terms
