"""No word of the project's old dialect in anything that a person reads."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from empathylab.cli.app import app

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "empathylab"
BANNED = re.compile(
    r"\b(mend(s|ed|ing)?|foretell(s|ing)?|foretold|whoever|whomever|somebody|anew|held against"
    r"|told as|comes? again|commonest|likeness|bare shares|for good|at rest|of whom|trial link"
    r"|lies? apart|read with care|what came out|can the writer be told|the same command goes on"
    r"|nothing is ruled out|the lab holds|goes on to|thereof|whereby|thus|in order to"
    r"|prior to|utili[sz]e|upon|hitherto|told (apart|otherwise))\b",
    re.IGNORECASE,
)
# Sentence fragments and turns of phrase that no help text, message or participant page uses.
QUAINT = re.compile(
    r"\bif (not given|left out|wanted)\b|, say[.,]|\bthere twice\b|\banybody\b|\bpeople like you\b"
    r"|\btakes? (people|nobody)\b|\bholds? (no|numbers)\b|\blies? (between|above|outside)\b"
    r"|\bTake it out\b|\bMake room\b|\bhad it gone\b|\bon end\b|\bone and the same\b"
    r"|\bin this place\b|\bpass (it|them) on\b|^Of the [a-z]+\.|^Decides "
    r"|\bwent away\b|\bown wish\b|\bin all finds\b|\bcomes? back as\b|\bwhat it holds\b"
    r"|\bis written (provider|KEY|key)\b|\bof the (first|last) of them\b"
    r"|\bwords above (it|them|each)\b"
    r"|\btakes? [\w ]{1,30} as (independent|clusters|the units)\b|\bturned back\b|\bcount in no\b",
    re.MULTILINE,
)
# What people say in situations and replies, and word lists, may use any word.
SPOKEN = ("situations/builtin", "planted_replies", "personas", "study/demo", "style/lists")
KEYS = {"commonest", "foretold"}
"""Keys of JSON output that other programs read."""
STORED = ("protocols/prompt_texts/en.toml",)
"""Prompts that runs name by version: their words cannot change."""


def messages() -> Iterator[tuple[str, str]]:
    """Every sentence of the pages and of the code, without docstrings, and where it is."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in documentation:
                continue
            if isinstance(node.value, str) and " " in node.value:
                yield f"{path.relative_to(ROOT)} line {node.lineno}", node.value
    for path in (*SOURCE.rglob("*.j2"), *SOURCE.glob("study/**/*.yaml")):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def texts() -> Iterator[tuple[str, str]]:
    """Every text and its location: docs, templates, interface files, strings, comments."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    files += [
        path for ending in ("j2", "yaml", "js", "toml") for path in SOURCE.rglob(f"*.{ending}")
    ]
    for path in files:
        if not any(part in path.as_posix() for part in (*SPOKEN, *STORED)):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in (*SOURCE.rglob("*.py"), *(ROOT / "scripts").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Constant) or node.value in KEYS:
                continue
            if isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)} line {node.lineno}", node.value
        with tokenize.open(path) as file:
            for token in tokenize.generate_tokens(file.readline):
                if token.type == tokenize.COMMENT:
                    yield f"{path.relative_to(ROOT)} line {token.start[0]}", token.string


def test_no_text_uses_a_banned_word() -> None:
    matches = [(where, match[0]) for where, text in texts() if (match := BANNED.search(text))]
    assert matches == []


def test_no_message_uses_a_quaint_turn_of_phrase() -> None:
    matches = [(where, match[0]) for where, text in messages() if (match := QUAINT.search(text))]
    assert matches == []


def test_help_texts_have_short_sentences() -> None:
    long: list[str] = []

    def read(command: Any) -> None:
        helps = [command.help, *(getattr(option, "help", None) for option in command.params)]
        sentences = re.split(r"(?<=[.!?:;])\s", " ".join(" ".join(filter(None, helps)).split()))
        long.extend(sentence for sentence in sentences if len(sentence.split()) > 35)
        for inner in getattr(command, "commands", {}).values():
            read(inner)

    read(typer.main.get_command(app))
    assert long == []
