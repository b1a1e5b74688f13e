"""What Prolific is asked to set up: completion codes with their actions, and participant groups.

Fields after docs.prolific.com (API reference: "Create a draft study", "Add participants to a
participant group"). Nothing here sends anything: the commands do, when a researcher says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empathylab.errors import InputError
from empathylab.store.studies.participants import submitters
from empathylab.store.studies.records import add_audit
from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.definition import Study
from empathylab.study.session.running import RunningStudy

_TYPES: dict[Outcome, str] = {
    "completed": "COMPLETED",
    "no-consent": "NO_CONSENT",
    "failed-attention": "FAILED_ATTENTION_CHECK",
}
_REVIEWED: tuple[Outcome, ...] = ("completed", "failed-attention", "interrupted", "safety")
"""Outcomes that a researcher decides on; the others are to be returned."""
_REASONS: dict[Outcome, str] = {
    "no-consent": "You chose not to take part.",
    "failed-comprehension": "The instructions were not clear to you.",
    "screened-out": "This study is for a different group of people.",
    "full": "The study is full.",
    "timed-out": "You reached the time limit of the study.",
    "withdrawn": "You left the study.",
}


def completion_codes(study: Study) -> list[dict[str, Any]]:
    """The study's completion codes, each with its type and actions, as the API takes them."""
    require_on_prolific(study)
    return [
        {
            "code": code,
            "code_type": _code_type(study, outcome),
            "actions": _actions(study, outcome),
        }
        for outcome, code in study.recruitment.codes.items()
    ]


def group_members(service: RunningStudy) -> list[str]:
    """The platform ids of all who completed the study and were not rejected, for a follow-up."""
    require_on_prolific(service.study)
    with service.lab.reading() as connection:
        rows = submitters(connection, service.launched.row)
    return [
        row.ids["person"]
        for row in rows
        if row.outcome == "completed" and row.review != "rejected" and "person" in row.ids
    ]


def note_group(service: RunningStudy, group: str, people: Sequence[str], *, who: str) -> None:
    """Records in the audit log that platform ids were sent to Prolific."""
    row = service.launched.row
    with service.lab.writing() as connection:
        details = {"group": group, "people": len(people)}
        add_audit(connection, row, service.now(), who, "add to Prolific group", **details)


def require_on_prolific(study: Study) -> None:
    """Raises where the study does not recruit on Prolific."""
    if study.recruitment.platform != "prolific":
        raise InputError(
            "the study does not recruit on Prolific",
            where=f"study {study.name}",
            got=f"recruitment: {{platform: {study.recruitment.platform}}}",
            remedy="Set the platform to prolific in a new version of the study.",
        )


def _code_type(study: Study, outcome: Outcome) -> str:
    if outcome == "screened-out" and study.recruitment.screen_out is not None:
        return "FIXED_SCREENOUT"
    return _TYPES.get(outcome, "OTHER")


def _actions(study: Study, outcome: Outcome) -> list[dict[str, Any]]:
    paid = study.recruitment.screen_out
    if outcome == "screened-out" and paid is not None:
        pay = {"fixed_screen_out_reward": paid.reward, "slots": paid.slots}
        actions = [{"action": "FIXED_SCREEN_OUT_PAYMENT", **pay}]
    elif outcome in _REVIEWED:
        actions = [{"action": "MANUALLY_REVIEW"}]
    else:
        actions = [{"action": "REQUEST_RETURN", "return_reason": _REASONS[outcome]}]
    group = study.recruitment.groups.get(outcome)
    if group is not None:
        actions.append({"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group})
    return actions
