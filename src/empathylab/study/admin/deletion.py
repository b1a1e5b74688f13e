"""Forgetting people: what they gave goes, what others gave stays, and only counts remain."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from empathylab.errors import LabError
from empathylab.store import Lab
from empathylab.store.studies.archive import any_study
from empathylab.store.studies.deletion import erase_person, erase_rater, withdraw_replies
from empathylab.store.studies.participants import empty_invitation
from empathylab.store.studies.records import (
    add_audit,
    audit_rows,
    lock_study,
    other_versions,
    raise_revision,
)
from empathylab.store.studies.reviews import forget_reviews
from empathylab.study.session.eligibility import note_departure
from empathylab.study.session.launched import Launched

PARTICIPANT = "participant"
"""As audit logs name someone who deletes their own data."""


@dataclass(frozen=True, slots=True)
class EarlierExport:
    """Something that left the lab and may hold a forgotten person still."""

    at: datetime
    who: str
    action: str
    """`export`, `export identities`, `archive` …"""


def erase(
    connection: Connection, launched: Launched, row: Row[Any], *, who: str, at: datetime
) -> None:
    """Deletes a person; their place stays, under a name drawn again."""
    pseudonym = f"deleted-{secrets.token_hex(8)}"
    note_departure(connection, launched, row)
    erase_person(connection, row.study_id, row, pseudonym)
    forget_reviews(connection, row.id)
    empty_invitation(connection, row.study_id, row.person, pseudonym, at)
    take_back_replies(connection, launched.study.name, row.person, who=who, at=at)


def take_back_replies(
    connection: Connection, study: str, person: str, *, who: str, at: datetime
) -> None:
    """Deletes what the person wrote as replies, and tells the studies that show them.

    Their servers then read it again, so that nobody is shown the words from now on.
    """
    for number, count in withdraw_replies(connection, study, person).items():
        raise_revision(connection, number)
        add_audit(connection, number, at, who, "reply deleted", replies=count)


def forget_imported(lab: Lab, name: str, person: str, *, who: str, at: datetime) -> int:
    """How many raters of that name were deleted from a study that came from elsewhere."""
    with lab.writing() as connection:
        own = any_study(connection, name)
        erased = 0
        for study in sorted([own.id, *other_versions(connection, own.name, own.id)]):
            lock_study(connection, study)
            erased += forget_rater(connection, own.name, study, person, who=who, at=at)
        if erased:
            add_audit(connection, own.id, at, who, "forget", places=erased)
    leave_no_trace(lab)
    return erased


def forget_rater(
    connection: Connection, name: str, study: int, person: str, *, who: str, at: datetime
) -> bool:
    """Whether a rater without a place, as an import brings them, was deleted."""
    if not erase_rater(connection, study, person):
        return False
    take_back_replies(connection, name, person, who=who, at=at)
    return True


def leave_no_trace(lab: Lab) -> None:
    """Takes what was just deleted out of the file in which SQLite keeps changes for a while."""
    # It is deleted already; a reader who is in the way must not make it look otherwise.
    with contextlib.suppress(LabError):
        lab.empty_journal()


def earlier_exports(lab: Lab, name: str) -> tuple[EarlierExport, ...]:
    """What was exported of the study's versions so far, oldest first."""
    with lab.reading() as connection:
        own = any_study(connection, name)
        studies = [own.id, *other_versions(connection, own.name, own.id)]
        rows = [row for study in studies for row in audit_rows(connection, study)]
    left = [row for row in rows if row.action.startswith("export") or row.action == "archive"]
    return tuple(
        EarlierExport(row.at, row.who, row.action) for row in sorted(left, key=lambda item: item.at)
    )
