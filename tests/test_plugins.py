"""Plugins: the example package and a broken one, installed by pip and used."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from empathylab import plugins
from empathylab.errors import UserError
from empathylab.judging import Judging, default_instrument, plan_judging
from empathylab.judging.function_judges import open_judges
from empathylab.plugins import PluginWarning
from empathylab.runs import Plan
from empathylab.scales import definition, known_scales
from empathylab.study import parse_study
from empathylab.study.blocks import registry
from tests.helpers.command_line import empathylab, process
from tests.study.blocks.test_new_block_type import STUDY as WITH_THERMOMETER

EXAMPLE = Path(__file__).parent.parent / "examples" / "plugin"
BROKEN = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "fragile"
version = "0.3"
[project.entry-points."empathylab.scales"]
gone = "fragile:not_there"
[project.entry-points."empathylab.blocks"]
odd = "fragile:NUMBER"
[project.entry-points."empathylab.models"]
openai = "fragile:open_model"
lost = "no_such_module:open_model"
[tool.hatch.build.targets.wheel]
packages = ["fragile"]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed both packages."""
    folder = tmp_path_factory.mktemp("plugins")
    source = folder / "source"
    (source / "fragile").mkdir(parents=True)
    (source / "pyproject.toml").write_text(BROKEN)
    (source / "fragile" / "__init__.py").write_text("NUMBER = 1\ndef open_model(name): ...\n")
    target = folder / "target"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([*pip, *offline, str(EXAMPLE), str(source)], check=True)
    return target


def forget() -> None:
    """What was found before is looked for again."""
    importlib.invalidate_caches()
    for cached in (plugins._entries, definition._of_plugins, registry._of_plugins):
        cached.cache_clear()
    registry._adapter.cache_clear()


@pytest.fixture
def _plugins(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(installed))
    forget()
    yield
    monkeypatch.undo()
    forget()


def test_the_command_lists_them_and_names_the_broken_ones(installed: Path) -> None:
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    done = process("plugins", "--json", PYTHONPATH=path)
    assert done.exit_code == 0, done.stderr
    rows = {(row["kind"], row["name"]): row for row in json.loads(done.stdout)["plugins"]}
    working = {key for key, row in rows.items() if row["problem"] is None}
    assert working == {
        ("models", "canned"),
        ("scales", "example"),
        ("protocols", "one-sentence"),
        ("blocks", "thermometer"),
        ("judges", "questions"),
        ("exports", "counts"),
    }
    assert rows["models", "canned"]["package"] == "empathylab-example"
    assert rows["models", "canned"]["version"] == "1.0.0"
    assert "No module named 'no_such_module'" in rows["models", "lost"]["problem"]
    assert "EmpathyLab itself has a 'openai'" in rows["models", "openai"]["problem"]
    assert "subclass of empathylab.study.Block" in rows["blocks", "odd"]["problem"]
    listed = process("scales", "list", PYTHONPATH=path)
    assert "feeling-heard-example" in listed.stdout
    assert listed.stderr.startswith("Skipped: the plugin 'gone' (scales) of the package fragile is")
    assert "pip uninstall fragile" in listed.stderr
    assert listed.stderr.count("\n") == 1


@pytest.mark.usefixtures("_plugins")
def test_a_broken_plugin_that_is_asked_for_stops_the_command(tmp_path: Path) -> None:
    done = empathylab("respond", "lost/model", "--lab", tmp_path / "lab")
    assert done.exit_code == 2
    assert "the plugin 'lost' (models) of the package fragile is broken" in done.stderr
    unknown = empathylab("ask", "one-sentense", "canned/kind", "--lab", tmp_path / "lab")
    assert unknown.exit_code == 2
    assert "Did you mean 'one-sentence'?" in unknown.stderr


@pytest.mark.usefixtures("_plugins")
def test_the_example_is_asked_judged_and_exported(tmp_path: Path) -> None:
    lab = ["--lab", str(tmp_path / "lab")]
    asked = ["ask", "one-sentence", "canned/kind", "--setting", "situations=1", "--json"]
    done = empathylab(*asked, *lab)
    assert done.exit_code == 0, done.stderr
    [session] = json.loads(done.stdout)["sessions"]
    count = session["done"]
    assert count == 32

    judged = empathylab("judge", "questions", "--set", "dialogues", *lab, "--json")
    assert judged.exit_code == 0, judged.stderr
    [judge] = json.loads(judged.stdout)["judges"]
    # One question in the reply: the second of the five points.
    assert (judge["judge"], judge["valid"], judge["mean"]) == ("questions", count, 2.0)
    plan = plan_judging(Judging(default_instrument(), (), "set dialogues"))
    [opened] = open_judges(["questions"], plan, lambda names: [])
    assert opened.identity == "questions (empathylab-example 1.0.0)"
    with pytest.raises(UserError, match="Leave out --pairs"):
        open_judges(["questions"], Plan("compare", {}, (), None), lambda names: [])  # type: ignore[arg-type]

    written = empathylab("export", "--format", "counts", "--to", tmp_path / "out", *lab)
    assert written.exit_code == 0, written.stderr
    lines = (tmp_path / "out" / "counts.txt").read_text().splitlines()
    assert f"responses {count}" in lines
    assert (tmp_path / "out" / "SHA256SUMS").exists()


@pytest.mark.usefixtures("_plugins")
def test_a_plugins_scale_is_administered_and_scored(tmp_path: Path) -> None:
    with pytest.warns(PluginWarning, match="the plugin 'gone'"):
        assert "feeling-heard-example" in known_scales()
    lab = ["--lab", str(tmp_path / "lab")]
    scale = ["--scale", "feeling-heard-example", "--situations", "1"]
    done = empathylab("appraise", "canned/threes", *scale, *lab)
    assert done.exit_code == 0, done.stderr
    empathylab("export", "--to", tmp_path / "out", *lab)
    scores = pl.read_csv(tmp_path / "out" / "scores.csv")
    assert scores["score"].unique().to_list() == [3.0]


@pytest.mark.usefixtures("_plugins")
@pytest.mark.filterwarnings("ignore:Skipped")
def test_a_study_file_uses_a_plugins_block() -> None:
    assert "thermometer" in [block.id for block in parse_study(WITH_THERMOMETER).blocks]
