"""No word of the project's old dialect in anything that a person reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "empathylab"
BANNED = re.compile(
    r"\b(mend(s|ed|ing)?|foretell(s|ing)?|foretold|whoever|whomever|somebody|anew|held against"
    r"|told as|comes? again|commonest|likeness|bare shares|for good|at rest|of whom|trial link"
    r"|lies? apart|read with care|what came out|can the writer be told|the same command goes on"
    r"|nothing is ruled out|in order to|prior to|utili[sz]e)\b",
    re.IGNORECASE,
)
# What people say in situations and replies, and word lists, may use any word.
SPOKEN = ("situations/builtin", "judging/rubric", "personas", "study/demo", "style/lists")
KEYS = {"commonest", "foretold"}
"""Keys of JSON output that other programs read."""
STORED = {"protocols/reply_templates.py"}
"""Prompts that runs name by version: their words cannot change."""


def texts() -> Iterator[tuple[str, str]]:
    """Every text with where it stands: docs, templates, interface files and strings in the code."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    files += [
        path for ending in ("j2", "yaml", "js", "toml") for path in SOURCE.rglob(f"*.{ending}")
    ]
    for path in files:
        if not any(part in path.as_posix() for part in SPOKEN):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).as_posix() in STORED:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and value not in KEYS:
                yield f"{path.relative_to(ROOT)} line {node.lineno}", value


def test_no_text_uses_a_banned_word() -> None:
    found = [(where, match[0]) for where, text in texts() if (match := BANNED.search(text))]
    assert found == []
