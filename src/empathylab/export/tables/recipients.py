"""Recipients' ratings of the replies that they got."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from empathylab.analysis.recipients.received import received_replies
from empathylab.export.source import LabSource, StudyPart
from empathylab.store.recipients import BEFORE, CONDITIONS
from empathylab.store.studies.archive import archive_import, rater_rows
from empathylab.study.archives.packing import rater_names
from empathylab.table_specs import TableSpec, number, text, whole

_NO_OUTCOMES = ("participant", "replaced", *CONDITIONS)


def _recipients(source: LabSource) -> Iterator[dict[str, Any]]:
    for part in source.studies:
        if part.blind:
            continue
        counts: dict[str, int] = {}
        names = _exported_names(source, part)
        for row in received_replies(source.connection, part.name):
            person = names[row["participant"]]
            counts[person] = counts.get(person, 0) + 1
            shared = {name: row.get(name) for name in CONDITIONS}
            values = {key: row[key] for key in row if key not in _NO_OUTCOMES}
            for outcome, value in values.items():
                if not outcome.endswith(BEFORE):
                    yield shared | {
                        "study": part.name,
                        "participant": person,
                        "position": counts[person],
                        "outcome": outcome,
                        "before": values.get(f"{outcome}{BEFORE}"),
                        "value": value,
                    }


def _exported_names(source: LabSource, part: StudyPart) -> dict[str, str]:
    """The names under which participants leave the lab, as in the table of raters."""
    raters = rater_rows(source.connection, part.number)
    archived = archive_import(source.connection, part.name, part.row.version) is not None
    names = rater_names(raters, pseudonyms=part.launched or archived)
    return {rater.name: names[int(rater.id)] for rater in raters}


RECIPIENTS = TableSpec[LabSource](
    "recipients",
    "What the people who received replies say, one row per reply and outcome; closed studies only",
    (
        text("study", "The study's name"),
        text("participant", "The participant who got the reply"),
        whole("position", "Which of the participant's replies it is, from 1"),
        text("response", "Who really wrote the reply"),
        text("label", "The author named to the participant; empty if unknown"),
        text("replier", "The single person or model that wrote the reply"),
        text("reply", "The id of the reply"),
        text("outcome", "What was measured"),
        number("before", "Its value before the reply; empty if it was not asked"),
        number("value", "Its value after the reply"),
    ),
    _recipients,
)
