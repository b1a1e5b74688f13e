"""The tables of changes, with a strip that shows each difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from empathylab.analysis.drift.rows import changed_rows, shown_rows
from empathylab.analysis.drift.shifts import Row


@dataclass(frozen=True, slots=True)
class Strip:
    """A difference and its interval as positions on a line, in percent of its width."""

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


def change_tables(document: dict[str, Any]) -> list[Table]:
    scores = {"respondent": "respondent", "scale": "scale", "subscale": "subscale"}
    measured = {"measure": "measure"}
    whole = [row for row in document["scores"] if row["emotion"] is None]
    by_emotion = [
        row for row in document["scores"] if row["measure"] == "change" and row["emotion"]
    ]
    return [
        _table(
            "Scales",
            "Points of the scale: at baseline (rest), after situations (evoked), and the change "
            "from one to the other.",
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
            "Judges compared with people",
            "Agreement is weighted κ with the median of people; distance is a judge's distance "
            "from it in points, over the responses that it judged twice.",
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
            f"Of {len(document['style'])} figures, those significant after the correction.",
            changed_rows(document["style"]),
            {"respondent": "respondent", "feature": "feature"},
            digits=2,
        ),
        _table(
            "Change from baseline, by emotion",
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
    ends = [row[end] for row in rows if _kind(row) == kind for end in ("low", "high")]
    return max((abs(end) for end in ends if end is not None), default=0.0)


def _kind(row: Row) -> tuple[Any, ...]:
    """Rows in different units cannot share a line; features of style never do."""
    return tuple(row.get(name) for name in ("scale", "study", "dimension"))


def _strip(row: Row, widest: float) -> Strip | None:
    if row["low"] is None or row["high"] is None or not widest or "feature" in row:
        return None
    low, high, at = (50 + 50 * row[name] / widest for name in ("low", "high", "difference"))
    return Strip(round(low, 2), round(high - low, 2), round(at, 2))
