"""The list by which people are paid: who finished, under the ids that their platform knows.

It joins platform ids with what became of people, which nothing else does; so it is written only
when someone asks for it, and that is written down.

MTurk takes a table with an X under `Approve` or a reason under `Reject` (Requester UI guide,
"Reviewing assignments offline"); Prolific takes participant ids, one on a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.errors import InputError
from empathylab.store.studies.participants import submitters
from empathylab.store.studies.records import add_audit
from empathylab.study.session.running import RunningStudy
from empathylab.tables import csv_text


@dataclass(frozen=True, slots=True)
class Approval:
    """One person's pay."""

    participant: str
    """Who they are to the platform."""
    study: str
    """The platform's id of the study or HIT."""
    submission: str
    """The platform's id of the visit in which they finished."""
    reason: str
    """Why they are not to be paid; empty: they are."""


def approvals(service: RunningStudy, *, who: str = "researcher") -> list[Approval]:
    """All who completed the study, by their platform ids; a rejection needs a researcher's reason.

    Leaving someone out of the analysis is no reason to leave them unpaid.
    """
    platform, study = service.study.recruitment.platform, service.launched.row
    if platform in ("open", "invitation"):
        raise InputError(
            "the study's platform does not pay participants",
            where=f"study {service.name}",
            got=f"recruitment: {{platform: {platform}}}",
            remedy="Ask for the list in a study that recruits on MTurk, Prolific or SONA.",
        )
    with service.lab.writing() as connection:
        rows = [row for row in submitters(connection, study) if row.outcome == "completed"]
        decisions = [_approval(row) for row in rows]
        add_audit(
            connection, study, service.now(), who, "export platform ids", people=len(decisions)
        )
    return decisions


def approval_table(service: RunningStudy, decisions: Sequence[Approval]) -> str:
    """The list as the study's platform takes it, as CSV."""
    if service.study.recruitment.platform == "mturk":
        header = ("HITId", "AssignmentId", "WorkerId", "Approve", "Reject")
        rows = [
            (item.study, item.submission, item.participant, "" if item.reason else "X", item.reason)
            for item in decisions
        ]
        return csv_text((header, *rows))
    names = ("Participant id", "Submission id", "Decision", "Reason")
    listed = [
        (item.participant, item.submission, "reject" if item.reason else "approve", item.reason)
        for item in decisions
    ]
    return csv_text((names, *listed))


def _approval(row: Any) -> Approval:
    rejected = row.review == "rejected"
    reason = (row.review_reason or "rejected") if rejected else ""
    ids = row.ids
    return Approval(ids.get("person", ""), ids.get("study", ""), ids.get("session", ""), reason)
