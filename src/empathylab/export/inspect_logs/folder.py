"""All runs of a lab as logs in one folder."""

from __future__ import annotations

import re
from pathlib import Path

from empathylab.errors import InputError
from empathylab.export.lab_tables import LabTables
from empathylab.export.passing_on import without_identities
from empathylab.models.inspect_chats import require_inspect
from empathylab.store import Lab
from empathylab.store.transfer import run_records


def put_logs(folder: Path, lab: Lab, contents: LabTables) -> dict[str, int]:
    """Writes a log for each run; gives the number of samples by file name."""
    require_inspect("an export for Inspect")
    from empathylab.export.inspect_logs.scores import SampleScores
    from empathylab.export.inspect_logs.writing import write_log

    if contents.tables["runs"].is_empty():
        raise InputError(
            "the lab has no runs, so there is nothing to export",
            where="--format inspect",
            remedy="Run `empathylab respond`, for example, or choose another --format.",
        )
    scores = SampleScores(contents.tables)
    counts: dict[str, int] = {}
    for run in contents.tables["runs"].iter_rows(named=True):
        with lab.reading() as connection:
            records = without_identities(run_records(connection, run["run"]))
        name = f"{run['run']:04d}-{run['protocol']}-{_slug(run['respondent'])}.eval"
        counts[name] = write_log(folder / name, records, run["run"], scores)
    return counts


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:60]
