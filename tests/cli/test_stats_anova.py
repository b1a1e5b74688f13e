"""`stats anova` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command_line import as_json, printed
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
