"""Imports point one way, between packages and between modules."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import empathylab

ROOT = Path(empathylab.__file__).parent

LAYERS = [
    {"errors", "words", "__init__"},
    {"frames", "yaml_documents"},
    {
        "compute",
        "croissant",
        "files",
        "file_models",
        "html_templates",
        "output_folders",
        "plugins",
        "table_specs",
        "tracking",
    },
    {"csv_tables"},
    {"tables"},
    {"columns"},
    {"situations", "scales", "models", "stats"},
    {"style"},
    {"store"},
    {"runs"},
    {"protocols", "study", "judging"},
    {"analysis"},
    {"report", "view"},
    {"export"},
    {"api"},
    {"cli"},
    {"inspect_tasks"},
    {"__main__"},
]
# Usable on any table: they know no database, no model and no web.
PURE = {"stats", "style"}
ALLOWED_IN_PURE = {"compute", "errors", "frames", "words", "stats", "style"}
# Presentation renders results; it never reads the database.
FORBIDDEN = {("report", "store")}
MOST_MODULES = 22
MOST_LINES = 400


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def modules() -> dict[str, Path]:
    return {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Every module of ours that a module imports, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                found = submodule if submodule in known else node.module
                if found in known:
                    yield found
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def package_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def layer_of(package: str) -> int:
    return next(number for number, packages in enumerate(LAYERS) if package in packages)


@functools.cache
def graph() -> dict[str, set[str]]:
    known = modules()
    found = {name: set(imports(path, known)) - {name} for name, path in known.items()}
    # The root shows the names of `api`, but loads them only when they are used.
    return found | {"empathylab": set()}


def test_packages_import_only_what_lies_below_them() -> None:
    wrong = []
    for module, targets in graph().items():
        own = package_of(module)
        for target in targets:
            other = package_of(target)
            if other in (own, "__init__"):
                continue
            if layer_of(other) >= layer_of(own) or (own, other) in FORBIDDEN:
                wrong.append(f"{module} imports {target}")
            elif own in PURE and other not in ALLOWED_IN_PURE:
                wrong.append(f"{module} imports {target}: {own} must stay usable on any table")
    assert not wrong, "\n".join(sorted(wrong))


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError("import cycle: " + " -> ".join(error.args[1])) from None


def test_every_package_has_a_layer() -> None:
    known = set().union(*LAYERS)
    packages = {p.parent.name for p in ROOT.glob("*/__init__.py")}
    assert packages <= known, f"give {packages - known} a layer"


def test_no_folder_is_crowded() -> None:
    folders = [ROOT, *(path for path in ROOT.rglob("*") if path.is_dir())]
    counts = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    crowded = {str(f.relative_to(ROOT)): n for f, n in counts.items() if n > MOST_MODULES}
    assert not crowded, f"split these by topic: {crowded}"


def test_no_module_is_too_long_to_hold_one_idea() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    long = {name: length for name, length in lengths.items() if length > MOST_LINES}
    assert not long, f"split these by topic: {long}"
