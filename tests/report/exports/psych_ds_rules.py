"""The rules of Psych-DS that can be checked on a folder's files, as far as its pages state them.

The standard's own validator comes from none of the package registries that the tests can reach.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

KEYWORDS = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus"} | {
    "description"
}
"""Those that the standard names; others are allowed with a warning."""
FOLDERS = {"data", "analysis", "results", "materials", "products", "documentation"}
FILES = {"dataset_description.json", "README.md", "README.txt", "CHANGES.md", "LICENSE"}
_NAME = re.compile(r"data/(?:.+/)?((?:[a-z]+-[A-Za-z0-9]+_)+)data\.csv")


def broken_rules(files: Mapping[str, bytes]) -> list[str]:
    """What is wrong with the data set, a sentence each; the files by their path."""
    if "dataset_description.json" not in files:
        return ["dataset_description.json is missing"]
    try:
        described = json.loads(files["dataset_description.json"])
    except ValueError:
        return ["dataset_description.json is no JSON"]
    data = {name: one for name, one in files.items() if re.match(r"data/.*\.csv$", name)}
    found = [*_described(described), *_placed(files)]
    if not data:
        found.append("there is no data file")
    known = [_named(one) for one in described.get("variableMeasured", ())]
    seen: set[str] = set()
    for name, content in data.items():
        found += _file(name, content, set(known))
        seen |= set(_header(content))
    found += [f"variable {name} is in no file" for name in known if name not in seen]
    return found


def _described(told: Mapping[str, Any]) -> Iterator[str]:
    if not str(told.get("@context", "")).rstrip("/").endswith("//schema.org"):
        yield "@context must be schema.org"
    if told.get("@type") != "Dataset":
        yield "@type must be Dataset"
    for name in ("name", "description", "variableMeasured"):
        if not told.get(name):
            yield f"{name} is missing"
    names = [_named(one) for one in told.get("variableMeasured", ())]
    for one in told.get("variableMeasured", ()):
        if not isinstance(one, str) and (one.get("@type") != "PropertyValue" or not _named(one)):
            yield f"no PropertyValue with a name: {one}"
    yield from (f"variable {name} is described twice" for name in names if names.count(name) > 1)


def _placed(files: Mapping[str, bytes]) -> Iterator[str]:
    for name, content in files.items():
        top, _, rest = name.partition("/")
        if (rest and top not in FOLDERS) or (not rest and top not in FILES):
            yield f"{name} is in no place that the standard has"
        if not content:
            yield f"{name} is empty"


def _file(name: str, content: bytes, known: set[str]) -> Iterator[str]:
    found = _NAME.fullmatch(name)
    if found is None:
        yield f"{name} is not named by keywords"
    else:
        used = [part.partition("-")[0] for part in found[1].rstrip("_").split("_")]
        yield from (f"{name}: {one} is no keyword" for one in used if one not in KEYWORDS)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        yield f"{name} is not UTF-8"
        return
    if text.startswith("\ufeff"):
        yield f"{name} begins with a byte order mark"
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if len(set(header)) < len(header) or "" in header:
        yield f"{name}: columns must have different names"
    yield from (f"{name}: {one} is not described" for one in header if one not in known)
    if any(len(row) != len(header) for row in rows):
        yield f"{name}: rows of different lengths"
    if "row_id" in header:
        place = header.index("row_id")
        if len({row[place] for row in rows}) < len(rows):
            yield f"{name}: row_id must be different in every row"


def _header(content: bytes) -> list[str]:
    return next(csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline="")), [])


def _named(one: Any) -> str:
    return one if isinstance(one, str) else str(one.get("name", ""))
