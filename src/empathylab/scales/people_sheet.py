"""People's answers in EmotionBench's `crowd.xlsx`, sheet Raw.

One column per person, headed `Emotion_FxSy` (factor and situation counted from 1). Below: five
rows about the person, which are not read, the answers at baseline, the answers after the situation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from empathylab.errors import InputError
from empathylab.scales.definition import Scale
from empathylab.scales.published import PublishedAdministration, PublishedResults, read_cells
from empathylab.scales.spreadsheet import Row, read_sheet

PEOPLE = "human"
PEOPLE_FILE = "crowd.xlsx"

_SHEET = "Raw"
_ABOUT_THE_PERSON = 5
_HEADER = re.compile(r"([A-Za-z]+)_F([1-9]\d*)S([1-9]\d*)", re.ASCII)


def read_people(path: Path, scale: Scale) -> PublishedResults:
    """Two administrations per person, at baseline and after a situation; `subject` pairs them."""
    rows = read_sheet(path, _SHEET)
    header, body = (rows[0] if rows else {}), rows[1 + _ABOUT_THE_PERSON :]
    administrations: list[PublishedAdministration] = []
    ignored: Counter[str] = Counter()
    people = 0
    for column, name in sorted(header.items()):
        match = _HEADER.fullmatch(name)
        if match:
            people += 1
            administrations += _both(match, column, f"person-{people:04}", body, scale)
        elif column > 1:  # the first two columns number and name the rows
            ignored["the column's name is not understood"] += 1
    if not people:
        raise InputError(
            "no column has a name like Angry_F1S1",
            where=f"{path.name}, sheet {_SHEET}",
            got=", ".join(list(header.values())[:3]),
            remedy="Use the file as it was published.",
        )
    return PublishedResults(path.name, PEOPLE, scale.id, tuple(administrations), dict(ignored))


def _both(
    match: re.Match[str], column: int, subject: str, body: Sequence[Row], scale: Scale
) -> list[PublishedAdministration]:
    order = tuple(range(1, scale.items + 1))
    administrations = []
    for evoked in (False, True):
        part = body[scale.items * evoked :][: scale.items]
        outcome, reason, values = read_cells([row.get(column, "") for row in part], order, scale)
        administrations.append(
            PublishedAdministration(
                phase="evoked" if evoked else "default",
                emotion=match[1] if evoked else None,
                factor=int(match[2]) - 1 if evoked else None,
                situation=int(match[3]) - 1 if evoked else None,
                text=None,
                order_index=0,
                item_order=order,
                repeat=0,
                subject=subject,
                outcome=outcome,
                reason=reason,
                values=values,
            )
        )
    return administrations
