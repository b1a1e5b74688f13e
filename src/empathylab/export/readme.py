"""The page that goes with an export: what the files are, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from empathylab import __version__
from empathylab.export.psych_ds import data_file
from empathylab.export.tables import TABLES
from empathylab.report.table_formats import markdown_table

_HEAD = f"""# Data of an EmpathyLab lab

Written by EmpathyLab {__version__}. Raters have random pseudonyms; simulated raters
and test visits are left out, and so are platform ids, completion codes and the wording of scales.
"""
_R = """
## In R

`Rscript {script}` compares the arms of every closed study with the packages ordinal and lme4, by
the rules of `empathylab analyze ratings`, and writes `conclusions_r.csv` beside the script.
"""
_CSV = """
## How to read the CSV files

UTF-8, a comma between cells, a header, an empty cell where nothing is known; `true` and `false`.
A cell that a spreadsheet would run as a formula begins with an apostrophe. To get the text back,
remove one apostrophe from every cell in which apostrophes are followed by one of
`= + - @`, their wide forms `＝ ＋ － ＠`, a tab or a line break;
`empathylab.export.read_exported(folder, table)` does that and gives every column its type.
"""
_EXACT = """
## How to read the tables

Every text is as it was in the lab, and every column has the type that the dictionary names.
"""
_SUMS = """
`sha256sum --check {place}SHA256SUMS` shows whether a file has changed.
"""


def readme(format: str, tables: Mapping[str, pl.DataFrame], blind: Sequence[str]) -> str:  # noqa: A002
    """The page of an export of tables."""
    if format == "psych-ds":
        names = {name: data_file(name) for name in tables}
        dictionary = "documentation/data_dictionary.csv (also .json, .md)"
    else:
        names = {name: f"{name}.{format}" for name in tables}
        dictionary = "data_dictionary.csv (also .json, .md)"
    listed = _listed(tables, names)
    what = f"\n## Files\n\n{listed}\nWhat every column means: {dictionary}.\n"
    licence = (
        "\nAdd the licence, the authors and how to cite the data to `dataset_description.json`.\n"
        if format == "psych-ds"
        else ""
    )
    where = {"csv": "analysis.R", "psych-ds": "analysis/analysis.R"}.get(format)
    how = _R.format(script=where) if where and "ratings" in tables else ""
    how += _CSV if format in ("csv", "psych-ds") else _EXACT
    sums = _SUMS.format(place="documentation/" if format == "psych-ds" else "")
    return _HEAD + _hidden(blind) + what + licence + how + sums


def replication_readme(
    tables: Mapping[str, pl.DataFrame], table_files: Sequence[str], blind: Sequence[str]
) -> str:
    """The page of a replication package."""
    listed = _listed(tables, {name: f"data/{name}.csv" for name in tables})
    results = "".join(f"- `tables/{name}`\n" for name in table_files) or "No table could be made.\n"
    return (
        _HEAD
        + _hidden(blind)
        + f"""
## How to reproduce the tables

With EmpathyLab {__version__} and the package versions used here:

    pip install -r requirements.txt
    python analysis.py

It reads `data/`, writes `regenerated/` and compares every file with the one in `tables/`, byte for
byte. No lab and no network are needed. `analysis.py` uses only EmpathyLab's public functions:
read it to see what was done, and change it to do something else.

## Data

{listed}
What every column means: `data/data_dictionary.csv` (also .json, .md). Comments, partial
answers and the times of single pages are left out.

## Tables

{results}"""
        + (_R.format(script="analysis.R") if "ratings" in tables else "")
        + _CSV
        + _SUMS.format(place="")
    )


def _listed(tables: Mapping[str, pl.DataFrame], names: Mapping[str, str]) -> str:
    return markdown_table(
        [
            {"file": names[name], "rows": str(frame.height), "what": TABLES[name].meaning}
            for name, frame in tables.items()
        ]
    )


def _hidden(blind: Sequence[str]) -> str:
    return "".join(
        f"\nThe study {name} was not closed yet: people's ratings, and judges' ratings of the "
        f"same responses, are left out.\n"
        for name in blind
    )
