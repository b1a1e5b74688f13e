"""An export in the form of Psych-DS, the data standard of psychology.

Its rules, from the project's own page of rules and conventions and from its schema
(github.com/psych-ds/psych-DS): `dataset_description.json` in JSON-LD with name, description and
every column of every data file; data as CSV under `data/`, named by keywords (`key-value`, the key
in small letters, the value in letters and digits) and ending in `_data`; what describes one file
alone beside it in a file of the same name; other things in folders of fixed names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from empathylab import __version__
from empathylab.export.dictionary import Entry, dictionary_files
from empathylab.export.tables import TABLES
from empathylab.tables import harmless_cell, table_bytes

DESCRIPTION = "dataset_description.json"
DOCUMENTATION = "documentation"
NAME = "Empathy of respondents, measured with EmpathyLab"
_CONTEXT = {"@context": "https://schema.org/", "@type": "Dataset"}


def data_file(table: str) -> str:
    """The table's file: `description` is one of the standard's own keywords."""
    first, *others = table.split("_")
    return f"data/description-{first}{''.join(word.capitalize() for word in others)}_data.csv"


def psych_ds_files(
    tables: Mapping[str, pl.DataFrame], entries: Sequence[Entry], *, readme: str
) -> dict[str, bytes]:
    """The files of the data set by name."""
    files = {data_file(name): table_bytes(frame, "csv") for name, frame in tables.items()}
    for name in tables:
        own = [_variable([entry]) for entry in entries if entry.table == name]
        sidecar = {
            **_CONTEXT,
            "name": name.replace("_", " "),
            "description": TABLES[name].meaning,
            "variableMeasured": own,
        }
        files[data_file(name).replace(".csv", ".json")] = _document(sidecar)
    files[DESCRIPTION] = _document(_description(tables, entries))
    files["README.md"] = readme.encode()
    dictionary = dictionary_files(list(entries))
    return files | {f"{DOCUMENTATION}/{name}": content for name, content in dictionary.items()}


def listed_tables(tables: Iterable[str]) -> str:
    """The sentence that says which tables an export holds."""
    listed = ", ".join(name.replace("_", " ") for name in tables)
    return f"The tables of a lab, written by EmpathyLab {__version__}: {listed}."


def _description(tables: Mapping[str, pl.DataFrame], entries: Sequence[Entry]) -> dict[str, object]:
    columns: dict[str, list[Entry]] = {}
    for entry in entries:
        columns.setdefault(entry.column, []).append(entry)
    return {
        **_CONTEXT,
        "name": NAME,
        "description": listed_tables(tables),
        "keywords": ["empathy", "language models", "ratings", "questionnaires"],
        "variableMeasured": [_variable(column) for column in columns.values()],
    }


def _variable(entries: Sequence[Entry]) -> dict[str, Any]:
    """The column as schema.org describes what is measured; of several tables what each says."""
    meanings = dict.fromkeys(
        f"{entry.meaning} ({entry.type})" + (f": {entry.values}" if entry.values else "")
        for entry in entries
    )
    return {
        "@type": "PropertyValue",
        "name": harmless_cell(entries[0].column),  # as in the files' headers
        "description": " / ".join(meanings),
    }


def _document(content: Mapping[str, object]) -> bytes:
    return f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode()
