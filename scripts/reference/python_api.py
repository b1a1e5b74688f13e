"""The page of the Python interface, from its signatures and docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import empathylab as el
from empathylab.api.analyses import LabAnalyses, TableAnalyses, Topic
from empathylab.api.evaluation.result import AgainstStudy, Evaluation
from empathylab.api.imports import LabImports
from empathylab.api.run_results import ConversationsResult, JudgingResult, RunResult
from empathylab.api.sessions import Sessions
from empathylab.api.studies import LabStudies

HEAD = """# Python reference

<!-- Written from the code by scripts/write_reference.py; do not edit by hand. -->

Everything on this page is available after `import empathylab as el`. [Use
Python](../how-to/python.md) shows how the parts work together. Names that are not on this page may
change without notice.
"""
RESULTS = (Evaluation, RunResult, ConversationsResult, JudgingResult, AgainstStudy, Sessions)
# What every result has, so that it need not be said of each.
SHARED = ("conclusions", "caveats", "tables", "to_frame", "to_pandas", "to_dict", "summary", "plot")
INTERNAL = ("analysed", "explained", "store", "evaluate_ways", "parts", "summary_parts")


class Undescribed(Exception):
    """A public name without a docstring."""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_functions(), *_classes(), *_results(), *_packages()])


def _functions() -> Iterator[str]:
    yield "## Functions\n"
    for name in el.__all__:
        value = getattr(el, name)
        if inspect.isfunction(value):
            yield _callable(f"el.{name}", value)


def _classes() -> Iterator[str]:
    yield "## Lab\n"
    yield _said(el.Lab)
    yield from _methods("lab", el.Lab)
    yield "## Options of calls that ask models\n"
    yield "Keywords of `evaluate` and of the other calls that ask models:\n"
    yield "| keyword | default | meaning |\n| --- | --- | --- |"
    meanings = field_meanings(el.RunOptions)
    for option in fields(el.RunOptions):
        default = getattr(el.RunOptions(), option.name)
        meaning = _cell(meanings[option.name])
        yield f"| `{option.name}` | `{default!r}` | {meaning} |"
    yield "\n## Analyses of a lab\n"
    yield "`lab.analyze` has one method for each topic, with the options of its command.\n"
    yield from _topics("lab.analyze", LabAnalyses)
    yield "## Analyses of a table\n"
    yield _said(el.Table)
    yield from _topics("table.analyze", TableAnalyses)
    yield "## Studies\n"
    yield _said(LabStudies)
    yield from _methods("lab.studies", LabStudies)
    yield "## Published files\n"
    yield _said(LabImports)
    yield from _methods("lab.imports", LabImports)


def _results() -> Iterator[str]:
    yield "## Results\n"
    yield (
        "Every result, of a call or of an analysis, has `conclusions` (sentences with their "
        "numbers), `caveats`, `tables` (Polars frames by name), `summary()`, `to_frame()`, "
        "`to_pandas()`, `to_dict()` (what `--json` prints) and `plot(name)` (an Altair chart; "
        "without a name the first, and an unknown name lists them). A notebook shows it as HTML.\n"
    )
    for kind in RESULTS:
        yield f"### {kind.__name__}\n"
        yield _said(kind)
        meanings = field_meanings(kind) if is_dataclass(kind) else {}
        for name, meaning in meanings.items():
            if meaning and not name.startswith("_") and name not in SHARED:
                yield f"- `{name}`: {meaning}"
        for name, value in vars(kind).items():
            if name.startswith("_") or name in (*SHARED, *INTERNAL) or name in meanings:
                continue
            if isinstance(value, property):
                yield f"- `{name}`: {_first_line(value)}"
            elif inspect.isfunction(value):
                yield f"- `{name}()`: {_first_line(value)}"
        yield ""


def _packages() -> Iterator[str]:
    for name in ("stats", "style"):
        package = importlib.import_module(f"empathylab.{name}")
        yield f"## el.{name}\n"
        yield f"{inspect.getdoc(package)} Frames may be Polars' or pandas'.\n"
        yield "| name | |\n| --- | --- |"
        for public in package.__all__:
            value = inspect.unwrap(getattr(package, public))
            described = inspect.isclass(value) or inspect.isfunction(value)
            meaning = _first_line(value) if described else _constant_meaning(package, public)
            yield f"| `{public}` | {_cell(meaning)} |"
        yield ""
    yield "## el.errors\n"
    yield f"```\n{inspect.getdoc(el.errors)}\n```\n"


def _methods(label: str, kind: type) -> Iterator[str]:
    for name, value in vars(kind).items():
        if name.startswith("_") or name in INTERNAL:
            continue
        if isinstance(value, property):
            yield f"### {label}.{name}\n\n{_said(value)}"
        elif inspect.isfunction(value) and not inspect.iscoroutinefunction(value):
            yield _callable(f"{label}.{name}", value)


def _topics(label: str, kind: type) -> Iterator[str]:
    holder = kind(None)
    for name, value in vars(kind).items():
        if isinstance(value, Topic):
            yield _callable(f"{label}.{name}", getattr(holder, name))


def _callable(label: str, function: Any) -> str:
    signature = inspect.signature(function)
    kept = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    written = str(signature.replace(parameters=kept)).replace("'", "").replace('"', "'")
    written = re.sub(r"\*\*options: Unpack\[RunKeywords\]", "**options", written)
    if len(label) + len(written) > 90:
        inner, returned = written[1:].rsplit(")", 1)
        parts = re.split(r", (?=[*a-z_]+(?:[:,]|$))", inner)
        written = "(\n" + "".join(f"    {part},\n" for part in parts) + ")" + returned
    return f"### {label}\n\n```python\n{label}{written}\n```\n\n{_said(function)}"


def _said(value: Any) -> str:
    text = inspect.getdoc(value)
    if not text:
        raise Undescribed(f"{value} needs a docstring")
    parts = re.split(r"(?m)^(?=>>> )", text, maxsplit=1)
    example = f"\n```python\n{parts[1].strip()}\n```\n" if len(parts) > 1 else ""
    return f"{parts[0].strip()}\n{example}"


def _first_line(value: Any) -> str:
    text = inspect.getdoc(value)
    if inspect.isclass(value) or inspect.isfunction(value) or isinstance(value, property):
        if not text:
            raise Undescribed(f"{value} needs a docstring")
        return " ".join(text.split("\n\n")[0].split())
    raise Undescribed(f"{value} needs a docstring")


def _constant_meaning(package: Any, name: str) -> str:
    """The docstring below a constant, in the module that the package imports it from."""
    for node in ast.parse(inspect.getsource(package)).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            body = ast.parse(inspect.getsource(importlib.import_module(str(node.module)))).body
            for constant, below in itertools.pairwise(body):
                targets = getattr(constant, "targets", [getattr(constant, "target", None)])
                named = any(getattr(target, "id", "") == name for target in targets)
                if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                    return " ".join(str(below.value.value).split())
    raise Undescribed(f"{package.__name__}.{name} needs a docstring")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def field_meanings(kind: type) -> dict[str, str]:
    """By field, the docstring below it; empty where there is none."""
    [found] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    meanings: dict[str, str] = {}
    last = ""
    for node in getattr(found, "body", ()):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.target.id
            meanings[last] = ""
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            meanings[last] = inspect.cleandoc(str(node.value.value))
        else:
            last = ""
    return meanings
