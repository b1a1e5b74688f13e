"""Rooms import one way: errors ← leaf rooms ← store ← runs ← protocols … ← report ← cli."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import empathylab

ROOT = Path(empathylab.__file__).parent

LAYERS = [
    {"errors", "__init__"},
    {"files"},
    {"tables"},
    {"situations", "scales", "models", "stats"},
    {"style"},
    {"store"},
    {"runs"},
    {"protocols", "study", "judging"},
    {"report"},
    {"cli"},
    {"__main__"},
]
# Usable on anybody's CSV: they know no database, no model and no web.
PURE = {"stats", "style"}
ALLOWED_IN_PURE = {"errors", "stats", "style"}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "empathylab":
                yield from (f"empathylab.{alias.name}" for alias in node.names)
            elif node.module.startswith("empathylab."):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "empathylab")


def layer_of(room: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room in rooms)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module in imports(path):
        other = room_of(module)
        if other.startswith("__") or other == own:
            continue
        assert layer_of(other) < layer_of(own), (
            f"{path.relative_to(ROOT)} imports {module}, which lies beside or above it"
        )
        if own in PURE:
            assert other in ALLOWED_IN_PURE, f"{own} must not know {other}"


def test_every_room_has_its_place() -> None:
    known = set().union(*LAYERS)
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("__")}
    assert rooms <= known, f"give {rooms - known} a layer"
