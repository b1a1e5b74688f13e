"""The R script that goes with exported ratings: the same comparison of arms, in R."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterable, Mapping

from empathylab.situations.sources.released import Dimension

R_SCRIPT = "analysis.R"
TABLES_READ = ("ratings", "raters", "arms")


def r_script(
    studies: Mapping[str, Iterable[Dimension]], files: Mapping[str, str] | None = None
) -> bytes:
    """The script for the studies by name; `files` are the paths of ratings, raters and arms."""
    template = importlib.resources.files(__package__).joinpath(R_SCRIPT).read_text("utf-8")
    paths = {name: f"{name}.csv" for name in TABLES_READ} | dict(files or {})
    listed = ",\n".join(
        f"  {_name(name)} = {_points(dimensions)}" for name, dimensions in studies.items()
    )
    written = ", ".join(f"{name} = {_text(path)}" for name, path in paths.items())
    return template.replace("@STUDIES@", listed).replace("@FILES@", written).encode()


def _points(dimensions: Iterable[Dimension]) -> str:
    points = (
        f"{_name(dimension.name)} = c({', '.join(f'{value:g}' for value in dimension.values)})"
        for dimension in dimensions
    )
    return f"list({', '.join(points)})"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _name(text: str) -> str:
    return "`" + text.replace("\\", "\\\\").replace("`", "\\`") + "`"
