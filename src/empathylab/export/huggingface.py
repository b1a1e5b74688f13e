"""A lab as a data set of the Hugging Face Hub: Parquet tables, a card, and the lab's own rows.

`data/` holds the readable tables, one configuration each. `lab/` and `studies/` hold what
`empathylab data import huggingface` needs to make the lab again: the rows behind the tables, and
an archive of each study that the lab ran.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from empathylab import __version__
from empathylab.errors import InputError
from empathylab.export.dictionary import Entry, dictionary_files
from empathylab.export.lab_tables import LabTables
from empathylab.export.passing_on import without_identities, without_wording
from empathylab.export.tables import TABLES
from empathylab.output_folders import put
from empathylab.report.table_formats import markdown_table
from empathylab.store import Lab
from empathylab.store.studies.archive import ARCHIVE, archive_import
from empathylab.store.transfer import Carried, Records, Row, lab_records, write_records
from empathylab.study.archives import Archive, read_archive, unpack_study, write_archive
from empathylab.study.archives.packing import pack
from empathylab.tables import table_bytes

ROWS, ARCHIVES = "lab", "studies"
SPLIT = "test"
"""The one split: data to measure with, not to train on."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_OF_STUDIES = ("raters", "arms", "study_situations", "study_scales")


def table_file(table: str) -> str:
    """The table's file in the folder."""
    return f"data/{table}.parquet"


def put_dataset(
    folder: Path,
    lab: Lab,
    contents: LabTables,
    tables: Mapping[str, pl.DataFrame],
    entries: list[Entry],
    *,
    whole: bool,
) -> dict[str, int]:
    """Writes the data set, the lab's own rows only where all tables are wanted.

    Gives the rows of each table by file name.
    """
    counts = {table_file(name): frame.height for name, frame in tables.items()}
    for name, frame in tables.items():
        put(folder, table_file(name), table_bytes(frame, "parquet"))
    for name, content in dictionary_files(entries).items():
        put(folder, f"documentation/{name}", content)
    put(folder, "README.md", card(tables, contents).encode())
    if not whole:
        return counts
    archived: set[int] = set()
    with lab.reading() as connection:
        records = lab_records(connection)
        for part in contents.parts:
            row = part.row
            known = part.launched or archive_import(connection, row.name, row.version) is not None
            if known and not part.blind:
                place = folder / ARCHIVES / f"{row.name}@{row.version}.zip"
                place.parent.mkdir(exist_ok=True)
                write_archive(pack(connection, row), place)
                archived.add(part.number)
    for name, rows in without_wording(without_identities(_without(records, archived))).items():
        if rows:
            lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            put(folder, f"{ROWS}/{name}.jsonl", lines.encode())
    return counts


def _without(records: Records, archived: set[int]) -> Records:
    """The rows without those that the archives of studies hold."""
    kept = dict(records)
    for name in _OF_STUDIES:
        kept[name] = [row for row in records[name] if row["study_id"] not in archived]
    raters = {row["id"] for row in kept["raters"]}
    arms = {row["id"] for row in kept["arms"]}
    kept["ratings"] = [row for row in records["ratings"] if row["rater_id"] in raters]
    kept["shown_responses"] = [row for row in records["shown_responses"] if row["arm_id"] in arms]
    kept["administrations"] = [
        row
        for row in records["administrations"]
        if row["rater_id"] is None or row["rater_id"] in raters
    ]
    return kept


def card(tables: Mapping[str, pl.DataFrame], contents: LabTables) -> str:
    """The data set's card: YAML for the hub, then what a reader must know."""
    rows = max((frame.height for frame in tables.values()), default=0)
    front = {
        "pretty_name": "Empathy of respondents, measured with EmpathyLab",
        "license": "other",
        "license_name": "not-stated",
        "language": sorted({*_languages(tables)}) or ["en"],
        "task_categories": ["text-generation"],
        "tags": ["empathy", "evaluation", "human-ratings", "empathylab"],
        "size_categories": [next((name for most, name in _SIZES if rows < most), "n>1M")],
        "configs": [
            {
                "config_name": name,
                "data_files": [{"split": SPLIT, "path": table_file(name)}],
                **({"default": True} if name == _default(tables) else {}),
            }
            for name in tables
        ],
    }
    listed = markdown_table(
        [
            {"configuration": name, "rows": str(frame.height), "what": TABLES[name].meaning}
            for name, frame in tables.items()
        ]
    )
    hidden = "".join(
        f"The study {name} was not closed yet: its ratings are left out.\n\n"
        for name in contents.blind
    )
    yaml_text = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return f"""---
{yaml_text}---

# Empathy of respondents, measured with EmpathyLab

Written by EmpathyLab {__version__}. Raters have random pseudonyms. Simulated raters,
test visits, comments, platform ids and the wording of scales that are not free are left out.

{hidden}{listed}
Each configuration has one split, `{SPLIT}`: these data are for evaluation.

    from datasets import load_dataset
    load_dataset("OWNER/NAME", "{_default(tables)}", split="{SPLIT}")

What every column means: `documentation/data_dictionary.csv`. To restore the lab, run

    empathylab data import huggingface OWNER/NAME --lab lab

Add the licence and the authors above.
"""


def _languages(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    sets = tables.get("situation_sets")
    if sets is None:
        return []
    return [code.partition("-")[0] for code in sets["language"] if code and len(code) <= 7]


def _default(tables: Mapping[str, pl.DataFrame]) -> str:
    return next((name for name in ("ratings", "responses") if name in tables), next(iter(tables)))


def holds_lab(folder: Path) -> bool:
    """Whether the folder is a data set that `put_dataset` wrote whole."""
    return (folder / ROWS).is_dir()


def import_dataset(lab: Lab, folder: Path) -> tuple[Carried, ...]:
    """Adds all that the data set holds to the lab; what the lab already has stays as it is."""
    records = {path.stem: _lines(path) for path in sorted((folder / ROWS).glob("*.jsonl"))}
    archives = [read_archive(path) for path in sorted((folder / ARCHIVES).glob("*.zip"))]
    with lab.writing() as connection:
        carried = write_records(connection, _before(records, archives))
    # An archive finds the replies that it shows among those that are in the lab by now.
    for archive in archives:
        unpack_study(lab, archive)
    with lab.writing() as connection:
        rest = write_records(connection, records)
    added = {item.table: item.added for item in carried}
    return tuple(
        Carried(
            item.table, item.added + added.get(item.table, 0), item.known - added.get(item.table, 0)
        )
        for item in rest
    )


def _before(records: Records, archives: Sequence[Archive]) -> Records:
    """The rows that need none of the archives' studies."""
    heads = [archive.content["study.json"] for archive in archives]
    names = {(head["name"], head["version"]) for head in heads}
    studies = _ids(records, "studies", lambda row: (row["name"], row["version"]) in names)
    imports = _ids(records, "imports", lambda row: row["kind"] == ARCHIVE)
    replies = _ids(records, "responses", lambda row: row["import_id"] in imports)
    removed = {"studies": studies, "imports": imports, "responses": replies}
    first = {
        name: [row for row in rows if row.get("id") not in removed.get(name, ())]
        for name, rows in records.items()
    }
    for name in ("judgements", "preferences"):
        first[name] = [
            row
            for row in records.get(name, ())
            if row["study_id"] not in studies
            and not replies & {row[item] for item in row if item.endswith("response_id")}
        ]
    return first


def _ids(records: Records, name: str, rule: Callable[[Row], bool]) -> set[int]:
    return {row["id"] for row in records.get(name, ()) if rule(row)}


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, ValueError) as error:
        raise InputError(
            "the rows cannot be read",
            where=str(path),
            got=str(error),
            remedy="Download the data set again.",
        ) from error
