"""Deleting what a study promised to delete some days after it closed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from empathylab.store import Lab
from empathylab.store.studies.deletion import delete_departures
from empathylab.store.studies.records import add_audit, launched_study
from empathylab.store.studies.retention import (
    closings,
    expire_drafts,
    expire_ids,
    expire_words,
    launched_rows,
)
from empathylab.study.admin.deletion import leave_no_trace
from empathylab.study.design.reading import study_from_dict


@dataclass(frozen=True, slots=True)
class Expired:
    """What was deleted of one study because its time is over."""

    study: str
    version: int
    platform_ids: int
    comments: int


def apply_everywhere(
    lab: Lab, now: datetime, *, name: str | None = None, who: str = "retention"
) -> tuple[Expired, ...]:
    """What was deleted, study by study; of all versions of one study where it is named."""
    with lab.reading() as connection:
        plain = None if name is None else launched_study(connection, name).name
        rows = launched_rows(connection)
    return tuple(
        apply_retention(lab, study, version, now, who=who)
        for study, version in rows
        if plain in (None, study)
    )


def apply_retention(
    lab: Lab, name: str, version: int, now: datetime, *, who: str = "retention"
) -> Expired:
    """What was deleted of that version.

    Where an arm joined and opened the study again, the days count from the closing that ended the
    time in which a person came.
    """
    with lab.writing() as connection:
        row = launched_study(connection, f"{name}@{version}")
        study = study_from_dict(row.protocol, where=f"study {name} of the lab")
        kept = study.retention
        ends = closings(connection, row.id)
        if row.closed_at is not None:
            ends.append(row.closed_at)
        ids = words = 0
        ended = _over(ends, kept.platform_ids, now)
        if ended is not None:
            ids = expire_ids(connection, row.id, ended)
            expire_drafts(connection, row.id, ended)
            if row.closed_at is not None and row.closed_at <= ended:
                delete_departures(connection, row.id)
        ended = None if kept.comments is None else _over(ends, kept.comments, now)
        if ended is not None:
            free = {block.id: block.free_answers for block in study.blocks}
            words = expire_words(connection, row.id, free, ended)
            expire_drafts(connection, row.id, ended)
        if ids or words:
            add_audit(connection, row.id, now, who, "delete", ids=ids, comments=words)
    if ids or words:
        leave_no_trace(lab)
    return Expired(name, version, ids, words)


def _over(ends: list[datetime], days: int, now: datetime) -> datetime | None:
    """The latest closing that is so many days ago."""
    return max((end for end in ends if now - end >= timedelta(days=days)), default=None)
