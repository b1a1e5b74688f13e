"""The public interface as text: every name with its signature. `python -m tests.api.interface`
prints it, to be written to `interface.txt` when the interface changes on purpose."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import empathylab as el
from empathylab.api.analyses import LabAnalyses, TableAnalyses
from empathylab.api.imports import LabImports
from empathylab.api.run_options import RunKeywords
from empathylab.api.studies import LabStudies


def interface() -> str:
    """One line per name."""
    return "\n".join([*_functions(), *_classes(), *_packages()]) + "\n"


def _functions() -> Iterator[str]:
    for name in el.__all__:
        value = getattr(el, name)
        if inspect.isfunction(value):
            yield f"{name}{inspect.signature(value)}"


def _classes() -> Iterator[str]:
    for name in RunKeywords.__annotations__:
        yield f"RunOptions.{name}"
    shown: list[tuple[str, type, Any]] = [
        ("Lab", el.Lab, None),
        ("Lab.analyze", LabAnalyses, LabAnalyses(lambda: None)),  # type: ignore[arg-type, return-value]
        ("Lab.studies", LabStudies, None),
        ("Lab.imports", LabImports, None),
        ("Table", el.Table, None),
        ("Table.analyze", TableAnalyses, TableAnalyses(None)),  # type: ignore[arg-type]
    ]
    for label, kind, holder in shown:
        for name in sorted(vars(kind)):
            if name.startswith("_") or name in ("analysed", "explained"):
                continue
            value = getattr(holder or kind, name)
            if callable(value):
                yield f"{label}.{name}{inspect.signature(value)}"


def _packages() -> Iterator[str]:
    for package in ("stats", "style", "errors"):
        for name in getattr(el, package).__all__:
            yield f"{package}.{name}"


if __name__ == "__main__":
    print(interface(), end="")  # noqa: T201
