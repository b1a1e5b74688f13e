"""The public interface: its names and signatures, its speed of import, its examples."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import empathylab as el
from empathylab.api.analyses import LabAnalyses
from empathylab.api.run_options import RunKeywords, RunOptions
from empathylab.cli.analyze import app as analyze
from tests.api.interface import interface

HERE = Path(__file__).parent


def test_names_and_signatures_are_pinned() -> None:
    expected = (HERE / "interface.txt").read_text(encoding="utf-8")
    assert interface() == expected, (
        "the public interface changed; if that is meant, say so in CHANGELOG.md and run: "
        "python -m tests.api.interface > tests/api/interface.txt"
    )


def test_the_keywords_of_a_call_are_the_run_options() -> None:
    assert list(RunKeywords.__annotations__) == [option.name for option in fields(RunOptions)]


def test_every_topic_of_the_command_analyze_is_a_method() -> None:
    commands = {command.name for command in analyze.registered_commands}
    assert commands <= set(vars(LabAnalyses))


def test_importing_the_package_loads_none_of_its_dependencies() -> None:
    code = (
        "import sys, empathylab; assert 'open_lab' in dir(empathylab);"
        "print([m for m in ('polars','numpy','scipy','pydantic','sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'open_labs'"):
        el.open_labs  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", ["", ".api.lab", ".api.studies", ".api.tables", ".frames"])
def test_the_examples_of_the_documentation_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"empathylab{name}"))
    assert found.attempted
    assert not found.failed
