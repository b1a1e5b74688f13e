"""Two respondents compared on the same situations."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scipy.stats import ttest_rel

import empathylab as el
from empathylab.analysis import AnalysisResult, pairs
from empathylab.errors import UserError
from empathylab.store import Lab
from tests.golden import invented
from tests.helpers.command_line import as_json

SCORES = {"item": ["a", "b", "c", "d"] * 2, "model": ["x"] * 4 + ["y"] * 4}


def scores(*values: float) -> pl.DataFrame:
    return pl.DataFrame(SCORES | {"score": values})


def test_the_paired_t_test_is_that_of_the_differences() -> None:
    found = pairs.from_table(
        scores(3, 5, 4, 6, 2, 3, 3, 2), "x", "y", unit="item", group="model", value="score"
    )
    assert isinstance(found, AnalysisResult)
    # Differences 1, 2, 1, 4: mean 2, standard deviation sqrt(2), t(3) = 2.828, p = .066.
    document = found.to_dict()
    assert document["difference"] == pytest.approx(2)
    assert document["t"] == pytest.approx(2.8284271, rel=1e-6)
    assert (document["p"], document["df"]) == pytest.approx((0.0662762, 3), rel=1e-5)
    assert document["n_pairs"] == 4
    assert found.conclusions[0].kind == "inconclusive"
    assert "p = .066 (4 pairs by item, clustered by item)." in str(found.conclusions[0])
    assert found.conclusions[0].caveats == ("The comparison rests on 4 items only.",)


def test_averaged_values_of_several_raters_are_pointed_out() -> None:
    """scipy.stats.ttest_rel of raters' means says how little three raters show."""
    rows = [
        (item, model, rater, place + (2 * likes if model == "x" else -2 * likes))
        for place, item in enumerate("abcdefgh")
        for rater, likes in (("r1", 1.0 + place % 2), ("r2", 0.5), ("r3", -0.5))
        for model in "xy"
    ]
    frame = pl.DataFrame(rows, ["item", "model", "rater", "score"], orient="row")
    found = pairs.from_table(frame, unit="item", group="model", value="score").conclusions[0]
    means = frame.group_by("rater", "model").agg(pl.col("score").mean()).sort("rater")
    x, y = (means.filter(model=name)["score"].to_numpy() for name in "xy")
    assert (found.kind, found.p < 0.01, ttest_rel(x, y).pvalue > 0.2) == ("better", True, True)
    assert found.caveats[-1] == (
        "In 8 pairs several values were averaged. If different raters gave them, the interval does "
        "not allow for raters who prefer one of the two; `empathylab analyze ratings` does."
    )


@pytest.mark.shared_data
def test_the_published_comparison_of_two_models_is_reproduced(shared_data: Path) -> None:
    """Difference 5.86 points, paired [0.4, 11.3], p = .036; unpaired [−2.1, 13.8]."""
    frame = pl.read_csv(shared_data / "paired" / "gpqa_scores.csv")
    found = pairs.from_table(frame, unit="item_id", group="model_id", value="score").to_dict()
    rounded = {name: round(found[name], 1) for name in ("low", "high")}
    assert (round(found["difference"], 2), round(found["p"], 3)) == (5.86, 0.036)
    assert rounded == {"low": 0.4, "high": 11.3}
    assert [round(found["unpaired"][end], 1) for end in ("low", "high")] == [-2.1, 13.8]
    assert (found["n_pairs"], found["unit"]) == (198, "percentage points")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "thing"}, "no column 'thing'"),
        ({"value": "model"}, "table row 2: 'model' must be a number"),
        ({"group": "item"}, "two groups"),
    ],
)
def test_a_table_that_cannot_be_compared_says_why(options: dict[str, str], message: str) -> None:
    named = {"unit": "item", "group": "model", "value": "score"} | options
    with pytest.raises(UserError, match=message):
        pairs.from_table(scores(3, 5, 4, 6, 2, 3, 3, 2), **named)


def test_a_csv_file_is_compared_in_python_as_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    frame = scores(3, 5, 4, 6, 2, 3, 3, 2).with_columns(
        model=pl.col("model").replace({"x": "1", "y": "2"})
    )
    frame.write_csv(file)
    columns = {"unit": "item", "group": "model", "value": "score"}
    found = el.from_table(file).analyze.compare("1", "2", **columns).to_dict()
    options = [f"--{name}={column}" for name, column in columns.items()]
    printed = as_json("analyze", "compare", file, "1", "2", *options)
    assert (found["difference"], found["first"]) == (printed["difference"], printed["first"])


def test_groups_without_shared_units_are_refused() -> None:
    frame = scores(1, 2, 3, 4, 5, 6, 7, 8).with_columns(item=pl.int_range(8).cast(pl.String))
    with pytest.raises(UserError, match="share 0 unit"):
        pairs.from_table(frame, "x", "y", unit="item", group="model", value="score")


def test_equal_values_give_no_test_and_say_so() -> None:
    found = pairs.from_table(
        scores(*[1.0] * 8), "x", "y", unit="item", group="model", value="score"
    )
    assert found.to_dict()["p"] is None
    assert "no test" in found.conclusions[0].caveats[-1]
    assert "no interval (4 pairs by item, clustered by item)." in str(found.conclusions[0])


def test_ratings_of_a_lab_are_clustered_by_situation_and_rater(tmp_path: Path) -> None:
    people = invented.write_ratings(tmp_path / "people.csv", judges=False)
    lab = tmp_path / "lab"
    as_json("data", "import", "ratings", people, "--study", "s", "--lab", lab)
    with Lab.open(lab, create=False) as opened:
        arms = pl.read_csv(people)["respondent"].unique(maintain_order=True).to_list()
        found = pairs.from_lab(opened, arms[0], arms[1])
        with pytest.raises(UserError, match="no arm 'nobody'"):
            pairs.from_lab(opened, arms[0], "nobody")
        with pytest.raises(UserError, match="no scores by a judge to compare"):
            pairs.from_lab(opened, arms[0], arms[1], on="judge")
    assert (found.source, found.clusters) == ("ratings", "situation and rater")
    assert found.test.se > 0
    printed = as_json("analyze", "compare", arms[0], arms[1], "--lab", lab)
    assert printed["difference"] == pytest.approx(found.test.estimate)


def test_raters_who_prefer_different_arms_widen_the_interval(tmp_path: Path) -> None:
    # Every situation has the same mean difference, so only the raters show how uncertain it is.
    rows = [
        {
            "rater": f"r{rater}",
            "situation": f"s{situation}",
            "situation_text": f"It is day {situation}.",
            "respondent": arm,
            "text": f"A reply by {arm} on day {situation}.",
            "rating": 5 + (arm == "x") * (1 if rater < 4 else -1),
        }
        for rater in range(6)
        for situation in range(20)
        for arm in ("x", "y")
    ]
    people, lab = tmp_path / "people.csv", tmp_path / "lab"
    pl.DataFrame(rows).write_csv(people)
    as_json("data", "import", "ratings", people, "--study", "s", "--lab", lab)
    with Lab.open(lab, create=False) as opened:
        found = pairs.from_lab(opened, "x", "y")
    assert found.test.estimate == pytest.approx(1 / 3)
    assert found.test.se > 0.3
    assert found.conclusions[0].kind == "inconclusive"


def test_two_runs_of_one_model_are_compared_by_another_command(tmp_path: Path) -> None:
    with (
        Lab.open(tmp_path / "lab") as lab,
        pytest.raises(UserError, match=r"'a/b' is compared with itself.* runs compare RUN RUN"),
    ):
        pairs.from_lab(lab, "a/b", "a/b", on="judge")
