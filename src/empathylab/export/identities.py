"""Who the raters are, for the rare case that someone must know: never among the other tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from sqlalchemy import Connection

from empathylab.export.source import StudyPart
from empathylab.store.studies.slots import all_slots, people_rows
from empathylab.tables import table_bytes

_COLUMNS = ("study", "rater", "platform", "platform_id", "study_id", "session_id")


def identities_file(connection: Connection, parts: Sequence[StudyPart]) -> bytes:
    """A CSV table of people's platform ids; simulated raters and test visits have such, too."""
    rows = []
    for part in parts:
        places = all_slots(connection, part.number)
        real = {place.person for place in places if place.world == "person"}
        rows += [
            {
                "study": part.name,
                "rater": people_row.person,
                "platform": people_row.platform,
                "platform_id": people_row.ids.get("person"),
                "study_id": people_row.ids.get("study"),
                "session_id": people_row.ids.get("session"),
            }
            for people_row in people_rows(connection, part.number)
            if people_row.person in real
        ]
    return table_bytes(pl.DataFrame(rows, schema=dict.fromkeys(_COLUMNS, pl.String)), "csv")
