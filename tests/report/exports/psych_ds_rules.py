"""The rules of Psych-DS's published schema, each under the code that its validator reports.

From `schema.json` of github.com/psych-ds/psychds-validator: what is an error there is one here, and
so are the warnings that an export can avoid by itself. Not held against it are recommended things
that only the researchers can add (authors, licence, funder …) and the optional folders. The
validator itself is an npm package that the registries in reach of the tests do not have.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

Found = tuple[str, str]
"""The schema's code, and what it is about."""

DESCRIPTION = "dataset_description.json"
KEYWORDS = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus"} | {
    "description"
}
FOLDERS = {"data", "analysis", "results", "materials", "products", "documentation"}
FILES = {DESCRIPTION, "README.md", "README.txt", "CHANGES.md", "CHANGES.txt", ".psychdsignore"}
DATA_FILE = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
REQUIRED = ("name", "description", "variableMeasured")
PROPERTIES = {  # those of schema.org that may be here, by type
    "Dataset": {*REQUIRED, "author", "citation", "license", "funder", "url", "identifier"}
    | {"keywords", "usageInfo", "schemaVersion"},
    "PropertyValue": {"name", "description", "value", "unitText", "minValue", "maxValue"},
}


def broken_rules(files: Mapping[str, bytes]) -> list[Found]:
    """What is wrong with the data set; the files by their path."""
    found = list(_places(files))
    metadata: dict[str, dict[str, Any]] = {}
    for name in files:
        if name == DESCRIPTION or (name.startswith("data/") and name.endswith(".json")):
            try:
                metadata[name] = json.loads(files[name].decode("utf-8"))
            except UnicodeDecodeError:
                found.append(("JSON_ENCODING_ERROR", name))
            except ValueError:
                found.append(("INVALID_JSON_FORMATTING", name))
    if DESCRIPTION not in files:
        return [*found, ("MISSING_DATASET_DESCRIPTION", DESCRIPTION)]
    data = [name for name in files if name.startswith("data/") and name.endswith(".csv")]
    if not data:
        found.append(("MISSING_DATAFILE", "data"))
    for name in data:
        found += _file_name(name)
        compiled = _compiled(name, metadata)
        found += _described(name, compiled)
        found += _table(name, files[name], compiled)
    return found


def _places(files: Mapping[str, bytes]) -> Iterator[Found]:
    for name, content in files.items():
        top, _, rest = name.partition("/")
        if top not in (FOLDERS if rest else FILES):
            yield "FILE_NOT_CHECKED", name
        if rest and PurePosixPath(name).name == DESCRIPTION:
            yield "WRONG_METADATA_LOCATION", name
        if not content:
            yield "FILE_EMPTY", name
        described = name.removesuffix("json") + "csv"
        if name.startswith("data/") and name.endswith("_data.json") and described not in files:
            yield "FILE_NOT_CHECKED", name


def _file_name(name: str) -> Iterator[Found]:
    own = PurePosixPath(name).name
    if not DATA_FILE.fullmatch(own):
        yield "FILENAME_KEYWORD_FORMATTING_ERROR", name
        return
    for pair in own.removesuffix("_data.csv").split("_"):
        if pair.partition("-")[0] not in KEYWORDS:
            yield "FILENAME_UNOFFICIAL_KEYWORD_WARNING", f"{name}: {pair}"


def _compiled(name: str, metadata: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """What holds for one data file: lower files replace keys of higher ones, whole."""
    folders = list(PurePosixPath(name).parents)[-2::-1]
    levels = [DESCRIPTION, *(f"{folder}/file_metadata.json" for folder in folders)]
    compiled: dict[str, Any] = {}
    for level in [*levels, name.removesuffix("csv") + "json"]:
        compiled |= metadata.get(level, {})
    return compiled


def _described(name: str, compiled: Mapping[str, Any]) -> Iterator[Found]:
    for key in REQUIRED:
        if not compiled.get(key):
            yield "JSON_KEY_REQUIRED", f"{name}: {key}"
    context = compiled.get("@context")
    if not isinstance(context, str) or not re.fullmatch("https?://schema.org/?", context):
        yield "UNKNOWN_NAMESPACE", f"{name}: {context}"
    if not compiled.get("@type"):
        yield "MISSING_DATASET_TYPE", name
    elif compiled["@type"] != "Dataset":
        yield "INCORRECT_DATASET_TYPE", f"{name}: {compiled['@type']}"
    yield from _properties(name, compiled, "Dataset")
    variables = compiled.get("variableMeasured") or []
    for variable in variables:
        if isinstance(variable, str):
            continue
        if "@type" not in variable:
            yield "OBJECT_TYPE_MISSING", f"{name}: {variable}"
        elif variable["@type"] != "PropertyValue":
            yield "INVALID_OBJECT_TYPE", f"{name}: {variable}"
        yield from _properties(name, variable, "PropertyValue")


def _properties(name: str, node: Mapping[str, Any], kind: str) -> Iterator[Found]:
    for key in node:
        if key.startswith("@"):
            if key not in ("@context", "@type", "@id"):
                yield "INVALID_JSONLD_FORMATTING", f"{name}: {key}"
        elif key not in PROPERTIES[kind]:
            yield "INVALID_SCHEMAORG_PROPERTY", f"{name}: {key}"


def _table(name: str, content: bytes, compiled: Mapping[str, Any]) -> Iterator[Found]:
    try:
        text = content.decode("utf-8")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        yield "CSV_FORMATTING_ERROR", f"{name}: {error}"
        return
    if not rows or not any(rows[0]) or text.startswith("\ufeff"):
        yield "CSV_HEADER_MISSING", name
        return
    header = rows.pop(0)
    if len(set(header)) < len(header):
        yield "CSV_HEADER_REPEATED", name
    if any(len(row) != len(header) for row in rows):
        yield "CSV_HEADER_LENGTH_MISMATCH", name
    elif "row_id" in header:
        values = [row[header.index("row_id")] for row in rows]
        if len(set(values)) < len(values):
            yield "ROWID_VALUES_NOT_UNIQUE", name
    known = {
        variable if isinstance(variable, str) else variable.get("name")
        for variable in compiled.get("variableMeasured") or []
    }
    for column in header:
        if column not in known:
            yield "CSV_COLUMN_MISSING_FROM_METADATA", f"{name}: {column}"
    # Stricter than the schema: what is described is there.
    for variable in known - set(header):
        yield "VARIABLE_IN_NO_COLUMN", f"{name}: {variable}"
