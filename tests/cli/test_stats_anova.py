"""`stats anova` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from empathylab.cli.stats import app
from tests.stats.anova.test_model import R, made_up


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "scores.csv"
    made_up().write_csv(file)
    return file


def test_json_has_the_promised_keys(table: Path) -> None:
    done = CliRunner().invoke(app, ["anova", str(table), "--formula", "y ~ a * b", "--json"])
    found = json.loads(done.stdout)
    keys = {"term", "type", "F", "df", "df_residual", "p", "partial_eta2"}
    assert keys <= set(found["terms"][0])
    assert found["terms"][0]["F"] == pytest.approx(R["factorial"][0]["F"])
    assert set(found["cells"][0]) == {"a", "b", "n", "mean", "sd", "low", "high"}


def test_one_type_alone_is_printed_as_a_table(table: Path) -> None:
    arguments = ["anova", str(table), "--formula", "y ~ a * b", "--type", "III"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "III" in done.stdout
    assert "a:b" in done.stdout
    csv = CliRunner().invoke(app, [*arguments, "--table", "csv"])
    assert len(csv.stdout.strip().splitlines()) == 4
