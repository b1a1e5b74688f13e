"""A package from which others make the tables again: data, script, tables, versions, checksums."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from empathylab.export.dictionary import Entry, dictionary_files
from empathylab.export.lab_tables import LabTables
from empathylab.export.r_files import r_files
from empathylab.export.readme import replication_readme
from empathylab.export.replication import analysis
from empathylab.export.versions import requirements_file, versions_file
from empathylab.output_folders import put
from empathylab.tables import table_bytes

# No result is made of how long single pages took.
_LEFT_OUT = ("pages",)


def put_replication(
    folder: Path, contents: LabTables, tables: Mapping[str, pl.DataFrame], entries: list[Entry]
) -> dict[str, int]:
    """The rows of each data file by name, after the package was written into the folder.

    The tables are made by the very script that is in it, from the very files.
    """
    kept = {name: frame for name, frame in tables.items() if name not in _LEFT_OUT}
    for name, frame in kept.items():
        put(folder, f"data/{name}.csv", table_bytes(frame, "csv"))
    for name, content in dictionary_files(
        [entry for entry in entries if entry.table in kept]
    ).items():
        put(folder, f"data/{name}", content)
    table_files = analysis.write_tables(folder / "data", folder / "tables")
    put(folder, "analysis.py", Path(analysis.__file__).read_bytes())
    for name, content in r_files(contents, kept, {key: f"data/{key}.csv" for key in kept}).items():
        put(folder, name, content)
    put(folder, "requirements.txt", requirements_file())
    put(folder, "versions.json", versions_file())
    put(folder, "README.md", replication_readme(kept, sorted(table_files), contents.blind).encode())
    return {f"data/{name}.csv": frame.height for name, frame in kept.items()}
