"""A study as a folder of tables that others can read and check: with a dictionary and hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import polars as pl
import yaml
from sqlalchemy import Connection

from empathylab import __version__
from empathylab.croissant import FILE as CROISSANT
from empathylab.croissant import DescribedColumn, DescribedData, DescribedTable, croissant_file
from empathylab.errors import InputError, UnknownName
from empathylab.output_folders import (
    SUMS,
    put,
    put_aside,
    put_secret,
    require_free,
    sums_file,
)
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.ratings import study_from_row
from empathylab.store.studies.archive import any_study
from empathylab.store.studies.records import add_audit
from empathylab.store.studies.slots import all_slots, people_rows
from empathylab.study.archives.members import write_archive
from empathylab.study.archives.packing import day_of, pack, shared_protocol
from empathylab.study.exports.dictionary import dictionary_rows
from empathylab.study.exports.r_script import R_SCRIPT, r_script
from empathylab.study.exports.tables import StudyTables, study_tables
from empathylab.tables import TableFile, harmless_cell, table_bytes

IDENTITIES = "identities.csv"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that was written."""

    name: str
    rows: int | None
    """Of a table."""
    sha256: str


@dataclass(frozen=True, slots=True)
class ExportedStudy:
    """What was written, and where."""

    study: str
    path: str
    blind: bool
    """Whether results are left out, because the study is still open."""
    files: tuple[ExportedFile, ...]
    notes: tuple[str, ...]


def export_study(
    lab: Lab,
    name: str,
    folder: Path,
    *,
    format: TableFile = "csv",  # noqa: A002
    identities: bool = False,
    peek: str | None = None,
    now: datetime | None = None,
    who: str = "researcher",
) -> ExportedStudy:
    """What was written into the new folder: tables, protocol, dictionary, hashes.

    Simulated raters and test visits are never in it. Of an open study it tells who rated what, but
    neither how nor in which arm, unless a reason to `peek` is given, which the audit log keeps.
    `identities` also writes platform ids into a file of their own, apart from the others and not
    in their hashes.
    """
    if format not in get_args(TableFile):
        raise UnknownName("format", format, get_args(TableFile))
    require_free(folder)
    at = now or present()
    with lab.writing() as connection:
        row = any_study(connection, name)
        blind = _is_blind(row, peek)
        tables = study_tables(connection, row, blind=blind)
        people = _people(connection, row) if identities else []
        _note(connection, row, at, who, peek, identities=identities, what="export")
        files = _files(row, tables, format, blind=blind)
        # Within the transaction: what cannot be written is not in the audit log either.
        _write(folder, files, _identities(people) if identities else None)
    notes = []
    if blind:
        notes.append(
            "The study is not closed: ratings and arms are left out. Close it, or give a reason "
            "with --peek."
        )
    if identities:
        notes.append(f"{IDENTITIES} identifies people: keep it separate, and do not share it.")
    counts = {f"{key}.{format}": table.height for key, table in tables.tables.items()}
    return ExportedStudy(
        row.name,
        str(folder),
        blind,
        tuple(
            ExportedFile(key, counts.get(key), hashlib.sha256(content).hexdigest())
            for key, content in files.items()
        ),
        tuple(notes),
    )


def export_archive(
    lab: Lab,
    name: str,
    path: Path,
    *,
    peek: str | None = None,
    who: str = "researcher",
) -> ExportedStudy:
    """What was written: one file, which another lab imports. Only closed studies are archived."""
    with lab.writing() as connection:
        row = any_study(connection, name)
        if _is_blind(row, peek):
            raise InputError(
                "an archive shows how each arm was rated, but the study is not closed",
                where=f"study {row.name}",
                remedy=f"Run `empathylab study close {row.name}`, or give a reason with --peek.",
            )
        archive = pack(connection, row)
        _note(connection, row, present(), who, peek, identities=False, what="archive")
        write_archive(archive, path)
    files = [
        ExportedFile(
            member,
            len(archive.content[member]) if isinstance(archive.content[member], list) else None,
            hashlib.sha256(content).hexdigest(),
        )
        for member, content in archive.members.items()
    ]
    note = f"SHA-256 of the archive's content: {archive.hash}"
    return ExportedStudy(row.name, str(path), False, tuple(files), (note,))


def _is_blind(row: Any, peek: str | None) -> bool:
    if peek is not None and not peek.strip():
        raise InputError(
            "viewing an open study's arms needs a reason, which the audit log records",
            where="--peek",
            remedy="Say why.",
        )
    return row.status in ("open", "paused") and peek is None


def _note(
    connection: Connection,
    row: Any,
    at: datetime,
    who: str,
    peek: str | None,
    *,
    identities: bool,
    what: str,
) -> None:
    """Writes down what left the lab; imported studies have no log of their own."""
    if row.launched_at is None:
        return
    if peek is not None and row.status in ("open", "paused"):
        add_audit(connection, row.id, at, who, "peek", reason=peek.strip(), shown=what)
    if identities:
        add_audit(connection, row.id, at, who, "export identities")
    add_audit(connection, row.id, at, who, what)


def _files(row: Any, tables: StudyTables, kind: TableFile, *, blind: bool) -> dict[str, bytes]:
    files = {f"{name}.{kind}": table_bytes(frame, kind) for name, frame in tables.tables.items()}
    protocol = shared_protocol(row.protocol)
    written = json.dumps(protocol, ensure_ascii=False, sort_keys=True, indent=1)
    files["protocol.json"] = f"{written}\n".encode()
    files["protocol.yaml"] = yaml.safe_dump(
        protocol, allow_unicode=True, sort_keys=True, width=100
    ).encode()
    files["study.json"] = f"{json.dumps(_head(row, blind=blind), indent=1)}\n".encode()
    rows = dictionary_rows(tables, dimensions_of(row))
    files["data_dictionary.csv"] = table_bytes(pl.DataFrame(rows), "csv")
    if kind == "csv" and "ratings" in tables.tables and not blind:
        files[R_SCRIPT] = r_script({row.name: dimensions_of(row)})
    files[CROISSANT] = croissant_file(_described(row, tables, kind, files, rows))
    return files


def _described(
    row: Any,
    tables: StudyTables,
    kind: TableFile,
    files: Mapping[str, bytes],
    rows: Sequence[Mapping[str, Any]],
) -> DescribedData:
    """What `croissant.json` says of the study's tables."""

    def columns(table: str) -> list[DescribedColumn]:
        return [
            DescribedColumn(
                harmless_cell(row["column"]) if kind == "csv" else row["column"],
                row["meaning"] or "",
                row["type"],
            )
            for row in rows
            if row["table"] == table
        ]

    # Of an open study, neither ratings nor their times are exported.
    last = day_of(row.closed_at or row.launched_at or row.added_at)
    return DescribedData(
        name=f"Study {row.name}, version {row.version}",
        description=f"{row.title}: the tables of a study, written by EmpathyLab {__version__}.",
        tables=[
            DescribedTable(
                name, name.replace("_", " ").capitalize(), f"{name}.{kind}", columns(name)
            )
            for name in tables.tables
        ],
        sums={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        published=last or "",
        raters=tables.tables["raters"].height,
    )


def _head(row: Any, *, blind: bool) -> dict[str, Any]:
    return {
        "study": row.name,
        "version": row.version,
        "title": row.title,
        "status": row.status,
        "protocol_hash": row.protocol_hash,
        "launched": day_of(row.launched_at),
        "closed": day_of(row.closed_at),
        "results_hidden": blind,
        "left_out": "simulated raters, test visits, platform ids, completion codes",
        "csv": "Cells that a spreadsheet would run as a formula begin with an apostrophe; JSONL "
        "and Parquet keep every text unchanged.",
    }


def dimensions_of(row: Any) -> tuple[Dimension, ...]:
    """What the study in that row was rated on."""
    return study_from_row(row).dimensions


def _people(connection: Connection, row: Any) -> list[Any]:
    """The platform ids of people; simulated raters and test visits have such, too."""
    places = all_slots(connection, row.id)
    real = {place.person for place in places if place.world == "person"}
    return [
        people_row for people_row in people_rows(connection, row.id) if people_row.person in real
    ]


def _identities(people: Sequence[Any]) -> bytes:
    frame = pl.DataFrame(
        [
            {
                "rater": person.person,
                "platform": person.platform,
                "platform_id": person.ids.get("person"),
                "study_id": person.ids.get("study"),
                "session_id": person.ids.get("session"),
            }
            for person in people
        ],
        schema=dict.fromkeys(
            ("rater", "platform", "platform_id", "study_id", "session_id"), pl.String
        ),
    )
    return table_bytes(frame, "csv")


def _write(folder: Path, files: Mapping[str, bytes], identities: bytes | None) -> None:
    """Writes all files or none."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    with put_aside(folder) as aside:
        for name, content in {**files, SUMS: sums_file(sums)}.items():
            put(aside.folder, name, content)
        if identities is not None:
            put_secret(aside.folder, IDENTITIES, identities)
        aside.folder.replace(aside.place)
