"""What changed, as one HTML file that needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from empathylab import __version__
from empathylab.analysis.drift import DriftResult
from empathylab.analysis.drift.rows import changed_rows, tested_rows
from empathylab.analysis.text.numbers import moment
from empathylab.report.drift.tables import change_tables
from empathylab.report.writing import page_asset, page_environment, write_whole


def write_changes(result: DriftResult, path: Path) -> Path:
    """Writes the page; its path."""
    return write_whole(path, changes_page(result))


def changes_page(result: DriftResult) -> str:
    """The page's HTML."""
    document = result.to_dict()
    tested = tested_rows(document)
    environment = page_environment()
    environment.filters["moment"] = moment
    return environment.get_template("changes.html.j2").render(
        changes=result,
        tested=len(tested),
        changed=len(changed_rows(tested)),
        tables=[table for table in change_tables(document) if table.rows],
        verdicts=document["verdicts"],
        judge_verdicts=document["judge_verdicts"],
        made_at=datetime.now(UTC),
        version=__version__,
        style=page_asset("base.css"),
    )
