"""The commands whose results on a lab made by version 0.1 are kept beside it."""

from __future__ import annotations

import csv
import functools
import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.golden.cases import Cases
from tests.helpers.command_line import as_json, printed

RATED, CLOSED, IMAGINED, OPEN = "invented", "small", "feelings", "still-open"
"""The lab's studies: imported ratings; two that people finished here; and one still open."""
RESAMPLES = 100


def lab_cases(lab: Path, folder: Path) -> Cases:
    """Results on the whole lab; `folder` takes exported files."""
    at = ("--lab", lab)

    def command(*words: object) -> Callable[[], Any]:
        return lambda: as_json(*words, *at)

    def of_study(study: str) -> dict[str, Callable[[], Any]]:
        return {
            f"show_{study}": command("data", "show", study),
            f"status_{study}": command("study", "status", study),
            f"audit_{study}": lambda: {"entries": as_json("study", "audit", study, *at)},
        }

    return {
        "list": command("data", "list"),
        "show_invented": command("data", "show", RATED),
        "show_responses": command("data", "show", "responses", "--limit", 0),
        "scales": lambda: {"scales": as_json("scales", "list", *at)},
        **of_study(CLOSED),
        **of_study(OPEN),
        f"status_{IMAGINED}": command("study", "status", IMAGINED),
        "appraisal": command("analyze", "appraisal"),
        "ratings_invented": command("analyze", "ratings", "--study", RATED, "--good-from", 4),
        "style": command("analyze", "style", "--folds", 2),
        "judges_invented": command("analyze", "judges", "--study", RATED, "--bootstrap", RESAMPLES),
        "leaderboard_invented": command("analyze", "leaderboard", "--study", RATED),
        "leaderboard_style": command(
            "analyze", "leaderboard", "--study", RATED, "--judge", "style"
        ),
        "export_small": lambda: _exported(lab, folder / "from-lab"),
        **_closed_study_cases(lab),
    }


def archive_cases(lab: Path, folder: Path, archive: Path) -> Cases:
    """Results on a new lab that takes in the closed study from its archive.

    The analyses are those of the lab it came from; the tables lack what an archive leaves out.
    """
    imported = ("data", "import", "study", archive, "--lab", lab)
    return {
        "archive_import": lambda: as_json(*imported),
        **_closed_study_cases(lab),
        "archive_export": lambda: _exported(lab, folder / "from-archive"),
    }


def _closed_study_cases(lab: Path) -> Cases:
    return {
        f"{name}_small": functools.partial(
            as_json, "analyze", name, "--study", CLOSED, "--lab", lab
        )
        for name in ("ratings", "leaderboard")
    }


def _exported(lab: Path, place: Path) -> Any:
    printed("study", "export", CLOSED, place, "--lab", lab)
    return tables(place)


def tables(folder: Path) -> dict[str, Any]:
    """Of each exported CSV table the number of rows, and by column a digest of its values.

    The data dictionary is left out: it is words, and each new column adds a row.
    """
    found: dict[str, Any] = {}
    for path in sorted(set(folder.glob("*.csv")) - {folder / "data_dictionary.csv"}):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        names = list(rows[0]) if rows else []
        columns = {name: _digest([row[name] for row in rows]) for name in names}
        found[path.name] = {"rows": len(rows), "columns": columns}
    return found


def _digest(values: list[str]) -> str:
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:12]


def row_counts(database: Path) -> dict[str, int]:
    """The number of rows of each table of the SQLite file."""
    connection = sqlite3.connect(database)
    try:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for (name,) in sorted(names)
        }
    finally:
        connection.close()
