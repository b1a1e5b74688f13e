"""`empathylab report`, with what it writes for a paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from empathylab.cli.report import report
from empathylab.errors import InputError, UserError
from empathylab.store import Lab
from tests.helpers.labs import filled


def ran(*arguments: object) -> Result:
    """The command's result; its errors are raised."""
    app = Typer()
    app.command()(report)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, UserError):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("report") / "lab"
    with Lab.open(made) as lab:
        filled(lab, name="scripted/a b/../c", situations=1)
    return made


def test_json_names_the_report_and_every_file_beside_it(folder: Path, tmp_path: Path) -> None:
    figures, tables = tmp_path / "figures", tmp_path / "tables"
    words = ("--lab", folder, "--json", "--figures", figures, "--format", "png", "--width", "84")
    found = json.loads(ran(*words, "--tables", tables).stdout)
    assert Path(found["report"]).is_file()
    assert {Path(figure) for figure in found["figures"]} == set(figures.iterdir())
    assert {Path(table) for table in found["tables"]} == set(tables.iterdir())
    listed = json.loads((figures / "figures.json").read_text("utf-8"))
    assert listed
    assert all((figures / item["file"]).read_bytes().startswith(b"\x89PNG") for item in listed)


def test_without_folders_only_the_report_is_written(folder: Path) -> None:
    result = ran("--lab", folder)
    assert result.stdout.strip() == str(folder / "reports" / "report.html")


def test_a_width_that_no_page_has_is_refused_before_anything_is_written(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="between 40 and 600 mm"):
        ran("--lab", folder, "--figures", tmp_path / "figures", "--width", "4000")
    assert not (tmp_path / "figures").exists()
