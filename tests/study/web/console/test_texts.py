"""The console's words in every language: none is missing, and pages are shown in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import empathylab.study
from empathylab.store import Lab
from empathylab.store.studies.researchers import ROLES
from empathylab.study.admin.embargo import RUNNING
from empathylab.study.blocks.interface import Outcome
from empathylab.study.blocks.registry import block_types
from empathylab.study.web.console.participants import STATUSES, WORLDS
from empathylab.study.web.console.rendering import status_label
from empathylab.study.web.console.texts import LANGUAGES, translated, translated_html, translations
from tests.study.web.console.researchers import at_console, busy

STUDY = Path(empathylab.study.__file__).parent
CONSOLE = STUDY / "web" / "console"
IN_TEMPLATES = re.compile(r'\b_(?:html)?\("((?:[^"\\]|\\.)*)"')
ACTIONS = re.compile(r'(?:\.note|add_audit)\([^"()]*(?:\([^()]*\))?[^"()]*"([a-zA-Z ]+)"')
OTHER = [name for name in LANGUAGES if name != "en"]


def texts() -> Iterator[str]:
    """Every text of the templates and modules, and every value that is shown as a word."""
    for file in CONSOLE.glob("templates/*.j2"):
        yield from IN_TEMPLATES.findall(file.read_text(encoding="utf-8"))
    for file in CONSOLE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "text":
                yield ast.literal_eval(node.args[0])
    for file in STUDY.rglob("*.py"):
        yield from ACTIONS.findall(file.read_text(encoding="utf-8"))
    yield from (
        *map(status_label, STATUSES),
        *WORLDS,
        *get_args(Outcome),
        *block_types(),
        *ROLES,
        *RUNNING,
    )
    yield from ("closed", "late", "passed", "failed", "paste", "even typing", "hidden field")


@pytest.mark.parametrize("language", OTHER)
def test_no_text_is_missing_and_none_is_left_over(language: str) -> None:
    known, needed = translations(language), set(texts())
    assert len(needed) > 300
    assert sorted(needed - known.keys()) == []
    assert sorted(known.keys() - needed) == []


@pytest.mark.parametrize("language", OTHER)
def test_translations_keep_values_and_markup(language: str) -> None:
    for english, other in translations(language).items():
        for pattern in (r"\{\w+\}", r"</?\w+>"):
            assert sorted(re.findall(pattern, english)) == sorted(re.findall(pattern, other))


def test_values_are_escaped_in_texts_with_markup() -> None:
    shown = translated_html("zh", "Type <strong>{name}</strong> to confirm", name="<script>")
    assert "<strong>&lt;script&gt;</strong>" in shown


def test_the_language_is_the_browsers_until_another_is_chosen(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab, people=1)
    with at_console(service) as visitor:
        chinese = visitor.ask("GET", "/console", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
        assert '<html lang="zh-Hans">' in chinese.text
        for words in ("Overview", "Participants", "Manage", "Median time"):
            assert translated("zh", words) in chinese.text
            assert f">{words}<" not in chinese.text
        assert "Overview" in visitor.get("/console").text
        assert visitor.post("/console/language", language="xx").status_code == 400
        visitor.post("/console/language", language="zh")
        assert translated("zh", "Overview") in visitor.get("/console").text
        refused = visitor.refused("/console/close", name="wrong").text
        assert translated("zh", "this is not the name of the study") in refused
        assert translated("zh", "Page not found") in visitor.ask("GET", "/console/nowhere").text
        visitor.post("/console/language", language="en")
        assert "Overview" in visitor.get("/console").text
