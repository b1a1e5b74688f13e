"""What changed, as one HTML file that needs nothing else."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from empathylab import __version__
from empathylab.analysis.drift.analysis import Changes
from empathylab.analysis.drift.document import (
    Row,
    changed_rows,
    changes_document,
    shown_rows,
    tested_rows,
)
from empathylab.analysis.text.numbers import moment
from empathylab.errors import InputError
from empathylab.store import now


@dataclass(frozen=True, slots=True)
class Strip:
    """A difference and its interval as places on a line, in percent of its width."""

    low: float
    width: float
    at: float


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table with a strip for each row."""

    title: str
    note: str
    rows: tuple[Row, ...]
    strips: tuple[Strip | None, ...]


def write_changes(changes: Changes, path: Path) -> None:
    """Writes the page beside and renames it, so that nobody opens half of one."""
    page = changes_page(changes)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, suffix=".html", delete=False
        ) as file:
            file.write(page)
        Path(file.name).chmod(0o644)
        os.replace(file.name, path)  # noqa: PTH105 - a name from tempfile
    except OSError as error:
        raise InputError(
            "the page cannot be written",
            where=str(path),
            got=error.strerror,
            remedy="Name another file with --html.",
        ) from error


def changes_page(changes: Changes) -> str:
    """The page's HTML."""
    document = changes_document(changes)
    tested = tested_rows(document)
    pages = files("empathylab.report") / "pages"
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["moment"] = moment
    template = environment.from_string((pages / "changes.html.j2").read_text(encoding="utf-8"))
    return template.render(
        changes=changes,
        tested=len(tested),
        changed=len(changed_rows(tested)),
        tables=[one for one in _tables(document) if one.rows],
        verdicts=document["verdicts"],
        judge_verdicts=document["judge_verdicts"],
        made_at=now(),
        version=__version__,
        style=(pages / "report.css").read_text(encoding="utf-8"),
    )


def _tables(document: dict[str, Any]) -> list[Table]:
    scores = {"respondent": "respondent", "scale": "scale", "subscale": "subscale"}
    measured = {"measure": "measure"}
    whole = [row for row in document["scores"] if row["emotion"] is None]
    by_emotion = [
        row for row in document["scores"] if row["measure"] == "change" and row["emotion"]
    ]
    return [
        _table(
            "Scales",
            "Points of the scale: at rest, after situations (evoked), and the change from one to "
            "the other.",
            whole,
            scores | measured,
        ),
        _table(
            "How people rated",
            "Percent of good ratings, or the mean rating; raters are the units.",
            document["ratings"],
            {"study": "study", "arm": "arm", "dimension": "dimension", "measure": "measure"},
        ),
        _table(
            "Judges against people",
            "Agreement is weighted κ with the median of people; distance is how many points off it "
            "a judge is, over the responses that it judged twice.",
            document["judges"],
            {"study": "study", "judge": "judge", "dimension": "dimension", "measure": "measure"},
            digits=2,
        ),
        _table(
            "Usable replies",
            "Percent of replies that pass the checks; situations are the units.",
            document["usable_replies"],
            {"respondent": "respondent"},
        ),
        _table(
            "Style: what changed",
            f"Of {len(document['style'])} figures, those that hold after the correction.",
            changed_rows(document["style"]),
            {"respondent": "respondent", "feature": "feature"},
            digits=2,
        ),
        _table(
            "Change from rest, by emotion",
            "Corrected over this table.",
            by_emotion,
            scores | {"emotion": "emotion"},
        ),
    ]


def _table(
    title: str, note: str, rows: list[Row], names: dict[str, str], *, digits: int = 1
) -> Table:
    return Table(
        title,
        note,
        tuple(shown_rows(rows, names, digits=digits)),
        tuple(_strip(row, _widest(row, rows)) for row in rows),
    )


def _widest(row: Row, rows: list[Row]) -> float:
    """The end of the line: the widest interval of the same kind of figure on the same scale."""
    kind = _kind(row)
    ends = [one[end] for one in rows if _kind(one) == kind for end in ("low", "high")]
    return max((abs(end) for end in ends if end is not None), default=0.0)


def _kind(row: Row) -> tuple[Any, ...]:
    """Rows in different units cannot share a line; features of style never do."""
    return tuple(row.get(name) for name in ("scale", "study", "dimension"))


def _strip(row: Row, widest: float) -> Strip | None:
    if row["low"] is None or row["high"] is None or not widest or "feature" in row:
        return None
    low, high, at = (50 + 50 * row[name] / widest for name in ("low", "high", "difference"))
    return Strip(round(low, 2), round(high - low, 2), round(at, 2))
