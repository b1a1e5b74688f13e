"""The lab as files to hand over: tables with a dictionary, a Psych-DS data set, or a package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl
from sqlalchemy import Connection

from empathylab.croissant import FILE as CROISSANT
from empathylab.croissant import croissant_file
from empathylab.errors import InputError, UnknownName
from empathylab.export.description import described_data
from empathylab.export.dictionary import Entry, dictionary, dictionary_files
from empathylab.export.huggingface import put_dataset
from empathylab.export.identities import identities_file
from empathylab.export.inspect_logs.folder import put_logs
from empathylab.export.lab_tables import LabTables, lab_tables
from empathylab.export.psych_ds import DOCUMENTATION, data_file, psych_ds_files
from empathylab.export.r_files import r_files
from empathylab.export.readme import readme
from empathylab.export.replication.package import put_replication
from empathylab.export.tables import TABLES
from empathylab.export.versions import versions_file
from empathylab.output_folders import (
    SUMS,
    checksums,
    is_zip,
    put,
    put_aside,
    put_secret,
    require_free,
    sums_file,
)
from empathylab.plugins import plugin_part, plugins, require_function, require_new
from empathylab.store import Lab
from empathylab.store.inserts import now
from empathylab.store.studies.records import add_audit
from empathylab.study.exports.folders import IDENTITIES
from empathylab.tables import TableFile, table_bytes

Format = Literal["csv", "parquet", "jsonl", "psych-ds", "replication", "inspect", "huggingface"]
FORMATS: tuple[str, ...] = get_args(Format)
WriteFormat = Callable[[Mapping[str, pl.DataFrame], Sequence[Entry]], Mapping[str, bytes]]
"""What a package offers as `empathylab.exports`: files by name, of tables and their dictionary."""
_PLAIN = get_args(TableFile)
# Free words may tell who someone is, and those who left never saw the end of what they agreed to.
_NOT_PASSED_ON = ("comments", "partial_answers")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of an export."""

    name: str
    rows: int | None
    """Of a table."""
    sha256: str


@dataclass(frozen=True, slots=True)
class ExportedLab:
    """What was written, and where."""

    format: str
    path: str
    files: tuple[WrittenFile, ...]
    notes: tuple[str, ...]


def export_lab(
    lab: Lab,
    place: Path,
    *,
    format: str = "csv",  # noqa: A002
    what: Sequence[str] = (),
    identities: bool = False,
    who: str = "researcher",
) -> ExportedLab:
    """What was written into the new folder, or zip file: all of it, or nothing.

    `format` is one of `FORMATS`, or that of a plugin.
    `what` names tables; without it, all that have rows. Simulated raters and test visits are never
    in it, nor the results of a study that is open. `identities` also writes platform ids into a
    file of their own, which the studies' audit logs keep. The same lab gives the same bytes.
    """
    _check(format, what, place, identities=identities)
    require_free(place)
    contents = lab_tables(lab)
    tables = _chosen(contents, what, without=() if format in _PLAIN else _NOT_PASSED_ON)
    entries = dictionary(contents, tables)
    with put_aside(place) as aside:
        if format == "inspect":
            counts = put_logs(aside.folder, lab, contents)
        elif format == "huggingface":
            counts = put_dataset(aside.folder, lab, contents, tables, entries, whole=not what)
        else:
            counts = _put(aside.folder, format, contents, tables, entries)
        # Psych-DS has a folder for what describes the data.
        described_in = f"{DOCUMENTATION}/" if format == "psych-ds" else ""
        so_far = checksums(aside.folder)
        way = "../" if described_in else ""
        described = described_data(contents, tables, entries, counts, so_far, way=way)
        put(aside.folder, f"{described_in}{CROISSANT}", croissant_file(described))
        sums = checksums(aside.folder)
        put(aside.folder, f"{described_in}{SUMS}", sums_file(sums))
        aside.pack()
        # Within the transaction: what cannot be written is not in the audit logs either.
        with lab.writing() as connection:
            _note(connection, contents, who, identities=identities)
            if identities:
                content = identities_file(connection, contents.parts)
                put_secret(aside.folder, IDENTITIES, content)
            aside.settle()
    files = tuple(WrittenFile(name, counts.get(name), digest) for name, digest in sums.items())
    return ExportedLab(format, str(place), files, _notes(contents, identities=identities))


def _check(format: str, what: Sequence[str], place: Path, *, identities: bool) -> None:  # noqa: A002
    known = (*FORMATS, *plugins("exports"))
    if format not in known:
        raise UnknownName("format", format, known)
    for name in what:
        if name not in TABLES:
            raise UnknownName("table", name, TABLES)
    if what and format in ("replication", "inspect"):
        raise InputError(
            "a replication package contains every table that its analysis reads"
            if format == "replication"
            else "Inspect logs contain whole runs",
            where="--what",
            remedy="Leave it out, or choose another --format.",
        )
    if identities and (format not in _PLAIN or is_zip(place)):
        raise InputError(
            "exports made for sharing contain no identities",
            where="--identities",
            remedy="Leave it out, or export a folder with --format csv.",
        )


def _chosen(
    contents: LabTables, what: Sequence[str], *, without: Sequence[str]
) -> dict[str, pl.DataFrame]:
    if what:
        return {name: frame for name, frame in contents.tables.items() if name in what}
    tables = {
        name: frame
        for name, frame in contents.tables.items()
        if frame.height and name not in without
    }
    if not tables:
        raise InputError(
            "the lab is empty, so there is nothing to export",
            remedy="Run `empathylab evaluate`, or import something with `empathylab data import`.",
        )
    return tables


def _put(
    folder: Path,
    format: str,  # noqa: A002
    contents: LabTables,
    tables: Mapping[str, pl.DataFrame],
    entries: list[Entry],
) -> dict[str, int]:
    """The rows of each table's file, by its name, after all files were written."""
    if format == "replication":
        return put_replication(folder, contents, tables, entries)
    if format not in FORMATS:
        for name, content in plugin_part("exports", format, export_plugin)(tables, entries).items():
            put(folder, name, content)
        return {}
    page = readme(format, tables, contents.blind)
    if format == "psych-ds":
        files = psych_ds_files(tables, entries, readme=page)
        files[f"{DOCUMENTATION}/versions.json"] = versions_file()
        paths = {name: f"../{data_file(name)}" for name in tables}
        files |= r_files(contents, tables, paths, folder="analysis/")
        counts = {data_file(name): frame.height for name, frame in tables.items()}
    else:
        kind: TableFile = next(item for item in _PLAIN if item == format)
        files = {f"{name}.{kind}": table_bytes(frame, kind) for name, frame in tables.items()}
        counts = {f"{name}.{kind}": frame.height for name, frame in tables.items()}
        files |= dictionary_files(entries)
        files |= {"README.md": page.encode(), "versions.json": versions_file()}
        if format == "csv":
            files |= r_files(contents, tables)
    for name, content in files.items():
        put(folder, name, content)
    return counts


def export_plugin(name: str, part: WriteFormat) -> WriteFormat:
    """The plugin's function that makes the files; an error where it cannot be one."""
    require_new(name, FORMATS)
    require_function(name, part)
    return part


def _note(connection: Connection, contents: LabTables, who: str, *, identities: bool) -> None:
    """Writes down what left the lab; imported studies have no log of their own."""
    at = now()
    for part in contents.parts:
        if part.launched:
            if identities:
                add_audit(connection, part.number, at, who, "export identities")
            add_audit(connection, part.number, at, who, "export")


def _notes(contents: LabTables, *, identities: bool) -> tuple[str, ...]:
    notes = [
        f"The study {name} is not closed: arms, and ratings by people and judges, are left out."
        for name in contents.blind
    ]
    if identities:
        notes.append(f"{IDENTITIES} identifies people: keep it separate, and do not share it.")
    return tuple(notes)
