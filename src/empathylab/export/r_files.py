"""The R script of an export of ratings."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from empathylab.export.lab_tables import LabTables
from empathylab.study.exports.r_script import R_SCRIPT, TABLES_READ, r_script


def r_files(
    contents: LabTables,
    tables: Mapping[str, pl.DataFrame],
    paths: Mapping[str, str] | None = None,
    *,
    folder: str = "",
) -> dict[str, bytes]:
    """The script by its file name, where the export has ratings that may be seen.

    `paths` are the tables' files as seen from the script's folder, where they are elsewhere.
    """
    studies = {part.name: part.rated for part in contents.parts if not part.blind and part.rated}
    if "ratings" not in tables or not studies:
        return {}
    own = {name: path for name, path in (paths or {}).items() if name in TABLES_READ}
    return {f"{folder}{R_SCRIPT}": r_script(studies, own)}
