"""`stats anova` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.helpers.command_line import as_json, empathylab, printed
from tests.stats.anova.test_model import R, made_up


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "scores.csv"
    made_up().write_csv(file)
    return file


def test_json_has_the_promised_keys(table: Path) -> None:
    found = as_json("stats", "anova", table, "--formula", "y ~ a * b")
    keys = {"term", "type", "F", "df", "df_residual", "p", "partial_eta2"}
    assert keys <= set(found["terms"][0])
    assert found["terms"][0]["F"] == pytest.approx(R["factorial"][0]["F"])
    assert set(found["cells"][0]) == {"a", "b", "n", "mean", "sd", "low", "high"}


def test_one_type_alone_is_printed_as_a_table(table: Path) -> None:
    arguments = ["stats", "anova", table, "--formula", "y ~ a * b", "--type", "III"]
    shown = printed(*arguments)
    assert "III" in shown
    assert "a:b" in shown
    csv = printed(*arguments, "--table", "csv")
    assert len(csv.strip().splitlines()) == 4


@pytest.mark.parametrize(
    ("command", "formula", "note"),
    [
        ("anova", "y ~ a + same", "same was left out, because it is constant"),
        ("lmm", "y ~ a + same + (1|rater)", "same was left out, because it is constant"),
        ("clmm", "best ~ arm + (1|rater)", "Perfect separation: armq predicts some ratings"),
    ],
)
def test_what_cannot_be_estimated_is_said_with_its_remedy(
    tmp_path: Path, command: str, formula: str, note: str
) -> None:
    rows = made_up().with_row_index("row").with_columns(same=pl.lit(5), rater=pl.col("row") % 7)
    second = pl.col("row") % 2 == 1
    arms = rows.with_columns(
        arm=pl.when(second).then(pl.lit("q")).otherwise(pl.lit("p")),
        best=pl.when(second).then(3).otherwise(pl.col("row") // 2 % 2 + 1),
    )
    arms.write_csv(tmp_path / "scores.csv")
    arguments = ("stats", command, tmp_path / "scores.csv", "--formula", formula)
    found = as_json(*arguments)
    [sentence] = [value for value in (*found["notes"], *found.get("problems", ())) if note in value]
    assert "formula." in sentence
    done = empathylab(*arguments)
    assert (done.exit_code, sentence in done.stderr) == (0, True)
