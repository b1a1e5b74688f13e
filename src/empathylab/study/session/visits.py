"""What passes between the study service and its pages: who comes, and what they are answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from empathylab.study.assignment.allocation import Reason, Status, World
from empathylab.study.blocks.interface import Outcome
from empathylab.study.blocks.pages import PageContent
from empathylab.study.design.definition import Study
from empathylab.study.design.recruitment import Platform
from empathylab.study.session.drafts import RefusedForm

_PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


@dataclass(frozen=True, slots=True)
class Completion:
    """What a person gets at the end."""

    code: str | None
    """None where the study has none for this outcome."""
    url: str | None
    """Where they are sent; None: they stay."""


def completion_for(study: Study, outcome: Outcome) -> Completion:
    """The code and address for an outcome.

    An outcome without a code of its own gets none, never the one for completed work.
    """
    recruitment = study.recruitment
    code = recruitment.codes.get(outcome)
    address = recruitment.return_url
    if address is None and recruitment.platform == "prolific":
        address = _PROLIFIC
    if address is None or ("{code}" in address and code is None):
        return Completion(code, None)
    return Completion(code, address.replace("{code}", quote(code or "", safe="")))


ClosedReason = Reason | Literal["returned", "repeated", "unknown"]


@dataclass(frozen=True, slots=True)
class PlatformIds:
    """The IDs in the link, as the platform wrote them; stored separately from all answers."""

    platform: Platform
    person: str
    """PROLIFIC_PID, workerId, a SONA code, an invitation; for an open link what the cookie says."""
    study: str | None = None
    session: str | None = None
    """SESSION_ID, assignmentId."""
    traits: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the platform says about the person, for quotas."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page to show."""

    step: str
    """Its key, which comes back with the answer; tells nothing of the arm."""
    content: PageContent
    progress: float
    """From 0 to 1."""
    can_go_back: bool
    draft: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What was answered or begun here, by the names of the questions."""
    language: str = "en"
    messages: tuple[str, ...] = ()
    """What a researcher says to this person."""
    answered: str = ""
    """A digest of the stored answer, which comes back with the next one; `new`: none is stored."""
    refused: tuple[RefusedForm, ...] = ()
    """What was sent on this page and refused, of each browser the last."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The person's part is over."""

    outcome: Outcome
    content: PageContent | None
    """The debriefing, where the study was completed."""
    completion: Completion
    language: str = "en"
    deleted: bool = False
    """Whether they had their answers deleted at the end."""


@dataclass(frozen=True, slots=True)
class Closed:
    """There is no place for the person, now or at all."""

    reason: ClosedReason
    completion: Completion
    language: str = "en"


View = Page | Finished | Closed


def shown_status(row: Any, *, closed: bool) -> str:
    """How someone's participation stands: the status, that they declined, or cannot finish."""
    if row.status == "arrived" and row.outcome == "no-consent":
        return "declined"
    return "unfinished" if closed and row.status == "live" else str(row.status)


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer is on the disk."""

    step: str
    following: View | None = field(default=None, compare=False)
    """What is to be shown next, where that is known already."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Nothing was stored, because this is not the page the person is on."""


@dataclass(frozen=True, slots=True)
class ArmStatus:
    """How far an arm is; nothing of what was answered."""

    arm: str
    places: int
    stopped: bool
    live: int
    finished: int
    others: Mapping[str, int] = field(hash=False)
    """By status, the places that no longer count; `late` are live ones beyond the limits."""
    coarse: bool = False
    """Whether the counts are lower bounds, as those of an open study with several arms are."""


@dataclass(frozen=True, slots=True)
class AttentionCount:
    """The result of an attention check."""

    asked: int
    failed: int


@dataclass(frozen=True, slots=True)
class Participant:
    """One person as a researcher sees them: a pseudonym and a status."""

    person: str
    world: World
    arm: str | None
    status: Status | Literal["arrived", "repeated"]
    outcome: Outcome | None
    arrived_at: datetime
    seen_at: datetime
    answered: int
    """Pages."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What a researcher did, and when."""

    at: datetime
    who: str
    action: str
    details: Mapping[str, Any] = field(hash=False)
