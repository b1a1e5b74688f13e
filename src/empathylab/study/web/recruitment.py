"""What the platforms' links tell: who comes, whether it is a preview, and what they want back.

Parameters after the platforms' own documentation: Prolific's `PROLIFIC_PID`, `STUDY_ID` and
`SESSION_ID`; MTurk's `assignmentId`, `hitId`, `workerId` and `turkSubmitTo`; SONA's survey code.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from starlette.datastructures import ImmutableMultiDict

from empathylab.study.assignment.allocation import World
from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.assignment.quotas import LINK_NAMES
from empathylab.study.design.recruitment import Platform
from empathylab.study.recruiting.invitations import PARAMETER, ticket_of

MTURK_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""Where MTurk takes work back, and what may frame our pages."""
VISIT = "visit"
"""The parameter of a researcher's test link, and of simulated raters."""
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_PLACEHOLDER = re.compile(r"\{\{%.*%\}\}|%\w+%")
_MOST = 200
_WORLDS: tuple[World, ...] = ("simulated", "test")


@dataclass(frozen=True, slots=True)
class Visit:
    """Someone comes by a link."""

    participant: str
    """Who they are to the platform."""
    world: World = "person"
    study: str | None = None
    """The platform's id of the study."""
    session: str | None = None
    """The platform's id of this visit."""
    submit_to: str = ""
    """MTurk's address that takes the work back."""
    traits: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the link says of them, for quotas."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Someone looks before they accept the work; they take no place."""


@dataclass(frozen=True, slots=True)
class BadLink:
    """The link does not say who comes."""

    reason: Literal["incomplete", "forged"]


def read_link(
    platform: Platform,
    given: Mapping[str, str],
    secret: bytes,
    trait_names: Sequence[str] = (),
    *,
    signed: bool = True,
) -> Visit | Preview | BadLink:
    """Who comes by a link with these parameters; `secret` is the study's.

    `trait_names` are parameters that describe participants: where a platform offers the study to
    women and to men separately, each group has its own link. Invitations are not `signed` by this
    study where they are those of another one, whose participants it follows up.
    """
    if _contradicts_itself(given, trait_names):
        return BadLink("incomplete")
    visit = _who(platform, given, secret, signed=signed)
    if not isinstance(visit, Visit) or not trait_names:
        return visit
    traits = {name: _id(given.get(name)) for name in trait_names}
    return replace(visit, traits={name: value for name, value in traits.items() if value})


def _who(
    platform: Platform, given: Mapping[str, str], secret: bytes, *, signed: bool
) -> Visit | Preview | BadLink:
    if VISIT in given:
        return _trial(given[VISIT], secret)
    if platform == "open":
        return Visit(secrets.token_urlsafe(16))
    if platform == "invitation":
        token = given.get(PARAMETER, "")
        return _invited(token, secret) if signed else _followed(token)
    if platform == "mturk":
        return _from_mturk(given)
    names = ("PROLIFIC_PID",) if platform == "prolific" else ("survey_code", "id")
    participant = next((known for name in names if (known := _id(given.get(name)))), None)
    if participant is None:
        return BadLink("incomplete")
    return Visit(
        participant, study=_id(given.get("STUDY_ID")), session=_id(given.get("SESSION_ID"))
    )


def visit_token(world: World, secret: bytes) -> str:
    """The value of `visit` with which a trial or a simulated rater is let in."""
    return f"{world}.{opaque_id(secret, VISIT, world)}"


def _trial(token: str, secret: bytes) -> Visit | BadLink:
    for world in _WORLDS:
        if same_id(token, visit_token(world, secret)):
            return Visit(secrets.token_urlsafe(16), world)
    return BadLink("forged")


def _invited(token: str, secret: bytes) -> Visit | BadLink:
    if not token:
        return BadLink("incomplete")
    ticket = ticket_of(token, secret)
    return BadLink("forged") if ticket is None else Visit(ticket)


def _followed(token: str) -> Visit | BadLink:
    """Who comes by the invitation of another study; only its participants are let in."""
    ticket = _id(token.partition(".")[0])
    return BadLink("incomplete") if ticket is None else Visit(ticket)


def _from_mturk(given: Mapping[str, str]) -> Visit | Preview | BadLink:
    assignment = _id(given.get("assignmentId"))
    if assignment == _PREVIEW:
        return Preview()
    worker = _id(given.get("workerId"))
    submit_to = given.get("turkSubmitTo", "").rstrip("/")
    if assignment is None or worker is None:
        return BadLink("incomplete")
    if submit_to not in MTURK_HOSTS:
        return BadLink("forged")
    return Visit(worker, study=_id(given.get("hitId")), session=assignment, submit_to=submit_to)


def _id(given: str | None) -> str | None:
    """An id of any characters that can be stored; None where it cannot be one.

    A placeholder that the platform did not fill in is nobody, or everybody.
    """
    whole = (given or "").strip()
    if not 0 < len(whole) <= _MOST or not whole.isprintable() or _PLACEHOLDER.fullmatch(whole):
        return None
    return whole


def _contradicts_itself(given: Mapping[str, str], trait_names: Sequence[str]) -> bool:
    """Whether a parameter is there twice with different values: then it does not say who comes."""
    if not isinstance(given, ImmutableMultiDict):
        return False
    return any(len(set(given.getlist(name))) > 1 for name in (*LINK_NAMES, *trait_names))
