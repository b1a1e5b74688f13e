"""What is published: builds that repeat, a wheel that works, completion, a citation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from scripts.check_release import EPOCH, SMOKE, build

from empathylab import __version__
from tests.helpers.command_line import process

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build(tmp_path_factory.mktemp("build") / "first")


def test_two_builds_have_the_same_bytes(built: list[Path], tmp_path: Path) -> None:
    assert [path.suffix for path in built] == [".whl", ".gz"]
    os.utime(ROOT / "README.md")  # a checkout at another time
    again = build(tmp_path / "second")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in built]
    with zipfile.ZipFile(built[0]) as wheel:
        assert {entry.date_time for entry in wheel.infolist()} == {(2020, 1, 1, 0, 0, 0)}
    assert EPOCH == "1577836800"


def test_the_wheel_works_by_itself(built: list[Path], tmp_path: Path) -> None:
    """Installed without the sources: every file that the program reads is in the wheel."""
    target = tmp_path / "target"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--target", target, built[0]], check=True)
    (tmp_path / "answers.json").write_text('["That sounds hard. I am glad you told me."]')
    code = (
        "import runpy, sys, empathylab; assert empathylab.__file__.startswith(sys.argv.pop(1)); "
        "runpy.run_module('empathylab', run_name='__main__')"
    )
    for words in (
        ["respond", f"scripted/{tmp_path / 'answers.json'}", "--situations", "1", "--report"],
        ["export", "--to", tmp_path / "out"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, target, *words, "--lab", tmp_path / "lab"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(target)},
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "lab" / "reports" / "report.html").exists()
    packed = {path.relative_to(target).as_posix() for path in target.rglob("*")}
    for folder in ("src/empathylab",):
        sources = subprocess.run(
            ["git", "ls-files", folder], capture_output=True, text=True, cwd=ROOT, check=True
        ).stdout.split()
        assert {name.removeprefix("src/") for name in sources} <= packed


def test_the_release_check_knows_every_extra() -> None:
    assert set(SMOKE) == {"", *PROJECT["optional-dependencies"], "local,study"}


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        ("bash", {"COMP_WORDS": "empathylab ana", "COMP_CWORD": "1"}, "analyze"),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "empathylab study ser"}, "serve"),
        ("fish", {"_TYPER_COMPLETE_ARGS": "empathylab evaluate --situ"}, "--situations"),
    ],
)
def test_shells_complete_commands_and_options(
    shell: str, words: dict[str, str], expected: str
) -> None:
    more = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"} if shell == "fish" else {}
    done = process(**words, **more, _EMPATHYLAB_COMPLETE=f"complete_{shell}")
    assert expected in done.stdout, done.stderr


def test_the_citation_names_version_and_papers() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == PROJECT["version"] == __version__
    assert cited["license"] == PROJECT["license"]
    papers = cited["references"]
    assert len(papers) >= 4
    for paper in papers:
        assert {"type", "title", "authors", "year", "url"} <= set(paper)
        assert all({"family-names", "given-names"} <= set(author) for author in paper["authors"])


def test_versions_are_written_once() -> None:
    """The changelog, the citation and the package speak of the same releases."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in changes
    assert json.dumps(PROJECT["version"]) == json.dumps(__version__)
