"""The list of decisions, from the files themselves."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"


def page() -> str:
    """A line for each decision, in the order of their numbers."""
    files = sorted(path for path in FOLDER.glob("*.md") if path.name[0].isdigit())
    rows = [f"- [{_title(path)}]({path.name})\n" for path in files]
    return "# Decisions\n\nEach file explains one decision and its reasons.\n\n" + "".join(rows)


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("#").strip()
