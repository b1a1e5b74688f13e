"""How hard texts are to read: Flesch–Kincaid grades by the lab's own measure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from empathylab.style import features

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "src" / "empathylab" / "study"
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
# Keys whose values are names or settings, which no participant reads.
NAMES = {"block", "name", "id", "kind", "input", "phase", "scale", "set", "design", "model", "rule",
         "platform", "value", "person", "claims", "written_by", "prompt", "show_if", "mode",
         "screen_out_if", "otherwise", "correct", "answer", "preference"}  # fmt: skip


def grade(text: str) -> float:
    frame = pl.DataFrame({"respondent": ["docs"], "situation": ["page"], "text": [text]})
    return float(features(frame)["flesch_kincaid_grade"][0])


def prose(page: str) -> str:
    """The sentences of a Markdown page: no code, tables or addresses."""
    page = re.sub(
        r"^ *```.*?^ *```|<!--.*?-->|^\|.*?$|^#.*?$", "", page, flags=re.DOTALL | re.MULTILINE
    )
    page = re.sub(r"`[^`]*`", "this", page)
    page = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", page)
    items = re.split(r"\n\s*\n|^ *(?:-|\d+\.) ", page.replace("*", ""), flags=re.MULTILINE)
    whole = [" ".join(item.split()).rstrip(":;,") for item in items if item.strip()]
    return "\n".join(item if item[-1] in ".!?" else f"{item}." for item in whole if item)


def texts(value: Any, key: str = "") -> Iterator[str]:
    """Every text of a file that participants read."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, key)
    elif isinstance(value, str) and key not in NAMES and " " in value:
        yield re.sub(r"\{+[^}]*\}+|\[\[.*?\]\]", "five", value)


def sentences(path: Path) -> str:
    found = texts(yaml.safe_load(path.read_text(encoding="utf-8")))
    return prose("\n\n".join(found))


def test_the_measure_tells_easy_from_hard() -> None:
    easy = (
        "The cat sat on the mat. It was a warm day. The sun was in the sky. We all went out. " * 3
    )
    hard = "Institutional considerations necessitate comprehensive organisational documentation. "
    assert grade(easy) < 3
    assert grade(hard * 8) > 16


@pytest.mark.parametrize(
    "path", [STUDY / "web" / "interface" / "en.yaml", *sorted((STUDY / "presets").glob("*.yaml"))],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_participants_read_at_grade_8(path: Path) -> None:
    assert grade(sentences(path)) <= 8


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to_pages_read_at_grade_11(page: Path) -> None:
    text = prose(page.read_text(encoding="utf-8"))
    assert grade(text) <= 11


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to_sentences_have_at_most_40_words(page: Path) -> None:
    text = prose(page.read_text(encoding="utf-8"))
    long = [part for part in re.split(r"(?<=[.!?])\s", text) if len(part.split()) > 40]
    assert long == []


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to_pages_have_at_most_1000_words(page: Path) -> None:
    assert len(prose(page.read_text(encoding="utf-8")).split()) <= 1000
