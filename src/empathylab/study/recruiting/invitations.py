"""Invitations: links that let one person in each, known here only by a keyed hash.

A link holds a ticket and our signature under it, so that a forged one is refused without a look
into the lab. The lab keeps the key of anyone who comes with the ticket, never the ticket: links can
be shown when they are made and at no other time.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from sqlalchemy import Connection

from empathylab.errors import InputError, UnknownName
from empathylab.store.studies.participants import (
    add_invitations,
    find_invitation,
    invitation_rows,
    revoke_invitation,
)
from empathylab.store.studies.records import add_audit, lock_study
from empathylab.store.studies.slots import find_slot
from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.assignment.quotas import require_traits
from empathylab.study.blocks.forms import clean_text
from empathylab.study.session.running import RunningStudy, require_not_closed

PARAMETER = "invitation"
"""Of the link."""
MOST = 10_000
"""Invitations made at once."""
_MOST_LABEL = 200

InvitationState = Literal["unused", "expired", "revoked", "begun", "finished", "ended"]


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link for one person."""

    person: str
    """Under which they will be known."""
    token: str
    """The value of `invitation` in the link; kept nowhere."""
    label: str | None
    expires_at: datetime | None
    traits: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the link says of anyone who comes by it, for quotas."""

    def link(self, address: str) -> str:
        """The link, for a study that is served at the address."""
        return f"{address}?{urlencode({PARAMETER: self.token, **self.traits})}"


@dataclass(frozen=True, slots=True)
class InvitationStatus:
    """What became of an invitation."""

    person: str
    label: str | None
    state: InvitationState
    added_at: datetime
    expires_at: datetime | None


def new_token(secret: bytes) -> str:
    """A new ticket with our signature."""
    ticket = secrets.token_urlsafe(12)
    return f"{ticket}.{opaque_id(secret, PARAMETER, ticket)}"


def ticket_of(token: str, secret: bytes) -> str | None:
    """The ticket in a token that we signed; None for any other."""
    ticket, _, signature = token.partition(".")
    return ticket if same_id(signature, opaque_id(secret, PARAMETER, ticket)) else None


def invite(
    service: RunningStudy,
    count: int,
    *,
    labels: Sequence[str] = (),
    days: float | None = None,
    traits: Mapping[str, str] | None = None,
    who: str = "researcher",
) -> list[Invitation]:
    """New invitations, good for that many days; one label is for all of them, more are one each.

    `traits` are what the links say of people, by the names of the quotas that use them.
    """
    _require_invitations(service)
    traits = dict(traits or {})
    require_traits(service.study, traits)
    if not 1 <= count <= MOST:
        raise InputError(
            f"the number of invitations must be from 1 to {MOST:,}",
            got=count,
            remedy="Create more with several commands.",
        )
    if len(labels) > 1 and len(labels) != count:
        raise InputError(
            "the number of labels does not match the number of invitations",
            got=f"{len(labels)} labels for {count} invitations",
            remedy="Give one label for all, or one for each.",
        )
    now = service.now()
    expires_at = None if days is None else _in_days(now, days)
    each = list(labels) if len(labels) > 1 else [labels[0] if labels else None] * count
    invitations = [_new_invitation(service, label, expires_at, traits) for label in each]
    row = service.launched.row
    with service.lab.writing() as connection:
        require_not_closed(service, connection)
        add_invitations(
            connection,
            [
                {
                    "study_id": row,
                    "person": item.person,
                    "label": item.label,
                    "added_at": now,
                    "expires_at": item.expires_at,
                    "revoked_at": None,
                }
                for item in invitations
            ],
        )
        add_audit(
            connection, row, now, who, "invite", count=count, **({"told": traits} if traits else {})
        )
    return invitations


def list_invitations(service: RunningStudy) -> list[InvitationStatus]:
    """All invitations to the study, in the order in which they were made."""
    with service.lab.reading() as connection:
        rows = invitation_rows(connection, service.launched.row)
    now = service.now()
    return [
        InvitationStatus(row.person, row.label, _state(row, now), row.added_at, row.expires_at)
        for row in rows
    ]


def revoke(service: RunningStudy, given: str, *, who: str = "researcher") -> bool:
    """Whether an invitation was revoked, named by its link, its token or its key.

    Not where someone has come with it: they are excluded or forgotten, not shut out.
    """
    key = _key_named(service, given)
    row = service.launched.row
    with service.lab.writing() as connection:
        lock_study(connection, row)
        invitation = find_invitation(connection, row, key, lock=True)
        if invitation is None:
            raise UnknownName(
                "invitation",
                key,
                (),
                remedy="Give the link, or a key that `empathylab study invite --list` shows.",
            )
        if invitation.revoked_at is not None or find_slot(connection, row, key) is not None:
            return False
        revoke_invitation(connection, invitation.id, service.now())
        add_audit(connection, row, service.now(), who, "revoke invitation", person=key)
    return True


def require_open(connection: Connection, study: int, person: str, now: datetime) -> None:
    """Refuses someone new whose invitation was never made, was revoked or is too old."""
    invitation = find_invitation(connection, study, person)
    if invitation is None:
        raise _closed("was not created for this version of the study, or was deleted")
    if invitation.revoked_at is not None:
        raise _closed("was revoked")
    if invitation.expires_at is not None and now >= invitation.expires_at:
        raise _closed("has expired")


def _closed(why: str) -> InputError:
    return InputError(f"the invitation {why}", remedy="Ask for a new one.")


def _require_invitations(service: RunningStudy) -> None:
    if service.study.follow_up is not None:
        raise InputError(
            "a follow-up does not need its own invitations",
            where=f"study {service.name}",
            remedy="Send people the links of the first study, with the address of this one.",
        )
    platform = service.study.recruitment.platform
    if platform != "invitation":
        raise InputError(
            "the study does not use invitations",
            where=f"study {service.name}",
            got=f"recruitment: {{platform: {platform}}}",
            remedy="Set the platform to 'invitation' before the study is launched.",
        )


def _new_invitation(
    service: RunningStudy,
    label: str | None,
    expires_at: datetime | None,
    traits: Mapping[str, str],
) -> Invitation:
    token = new_token(service.secret)
    key = service.key_of("invitation", token.partition(".")[0])
    plain = clean_text(label)[:_MOST_LABEL] if label else None
    return Invitation(key, token, plain or None, expires_at, traits)


def _in_days(now: datetime, days: float) -> datetime:
    if not 0 < days <= 3650:
        raise InputError(
            "an invitation must be valid for more than 0 and at most 3,650 days",
            where="--expires",
            got=days,
            remedy="Give another number of days.",
        )
    return now + timedelta(days=days)


def _key_named(service: RunningStudy, given: str) -> str:
    query = parse_qs(urlsplit(given).query) if "?" in given else {}
    token = query.get(PARAMETER, [given])[0].strip()
    ticket = ticket_of(token, service.secret)
    return token if ticket is None else service.key_of("invitation", ticket)


def _state(row: Any, now: datetime) -> InvitationState:
    if row.status == "finished":
        return "finished"
    if row.status in ("arrived", "live"):
        return "begun"
    if row.status is not None:
        return "ended"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at is not None and now >= row.expires_at else "unused"
