"""Changes as rows: unrounded for JSON, and as people read them."""

from __future__ import annotations

from typing import Any

from empathylab.analysis.drift.occasions import Occasion
from empathylab.analysis.drift.shifts import Row
from empathylab.analysis.json_values import picked
from empathylab.analysis.results import ALPHA
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.numbers import number, p_value, signed


def count_sentence(changed: int, tested: int) -> str:
    """How many of the tested figures changed."""
    if not tested:
        return "Nothing was measured on both occasions, so no change can be tested"
    return f"Changed after correction: {changed} of {tested} figures"


def change_sentence(row: Row) -> str:
    """What changed, from what to what."""
    names = ("study", "respondent", "arm", "judge", "scale", "subscale", "dimension", "feature")
    subject = ", ".join(str(row[name]) for name in names if row.get(name))
    measure = f" ({row['measure']})" if row.get("measure") else ""
    figures = _figures(row, 2)
    return (
        f"{subject}{measure}: {figures['before']} before, {figures['after']} after "
        f"(difference {figures['difference']}, interval {figures['interval']}, "
        f"Holm p {figures['p Holm']}).{_samples(row)}"
    )


def _samples(row: Row) -> str:
    """What is compared where replies are new."""
    count = row.get("new_replies")
    if not count:
        return ""
    to = counted(count, "situation")
    return f" Replies to {to} are new, so this compares two samples of replies."


def changed_rows(rows: list[Row]) -> list[Row]:
    """Those whose corrected p says that they changed."""
    return [row for row in rows if row["p_holm"] is not None and row["p_holm"] < ALPHA]


def tested_rows(document: dict[str, Any]) -> list[Row]:
    """Every row of the document that could be tested, without single emotions."""
    parts = ("scores", "usable_replies", "style", "ratings", "judges")
    rows = [row for part in parts for row in document[part] if row.get("emotion") is None]
    return [row for row in rows if row["p"] is not None]


def shown_rows(rows: list[Row], names: dict[str, str], *, digits: int = 1) -> list[Row]:
    """Rows as people read them: the columns named, then the figures. Proportions are in percent."""
    return [
        {heading: row[name] if row[name] is not None else "all" for name, heading in names.items()}
        | _figures(row, digits)
        for row in rows
    ]


def _figures(row: Row, digits: int) -> Row:
    is_percent = row.get("measure") in ("good", "usable")
    times, unit = (100, "%") if is_percent else (1, "")
    values = {
        name: None if row[name] is None else times * row[name]
        for name in ("before", "after", "difference", "low", "high")
    }
    interval = "–"
    if values["low"] is not None and values["high"] is not None:
        interval = f"[{signed(values['low'], digits)}, {signed(values['high'], digits)}]"
    return {
        "before": number(values["before"], digits) + unit,
        "after": number(values["after"], digits) + unit,
        "difference": signed(values["difference"], digits),
        "interval": interval,
        "p Holm": p_value(row["p_holm"]),
        "n": f"{row['n_before']}, {row['n_after']}",
    }


def occasion_row(occasion: Occasion) -> Row:
    return {
        **picked(occasion, "title first last"),
        "administrations": occasion.administrations.height,
        "responses": occasion.responses.height,
        "ratings": sum(study.ratings.height for study in occasion.studies.values()),
    }
