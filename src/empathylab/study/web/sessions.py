"""Who is at the other end: a signed cookie, so that any server process can answer anybody."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Literal

from empathylab.study.blinding import opaque_id, same_id

COOKIE = "study"
DAYS = 60
"""How long a browser keeps a person's way back in."""
_MOST = 3000
"""Characters of a cookie; a longer one is not ours."""


@dataclass(frozen=True, slots=True)
class Session:
    """One browser's visit to one study."""

    person: str
    """The pseudonym that the service gave."""
    nonce: str
    language: str
    assignment: str = ""
    """What the platform wants back at the end, where it wants something."""
    submit_to: str = ""
    """MTurk's address that takes it back."""
    left: Literal["", "kept", "deleted"] = ""
    """Whether the person has left, and what became of their answers."""


def new_session(
    person: str, language: str, *, assignment: str = "", submit_to: str = ""
) -> Session:
    """A session with a nonce of its own, so that forms of an earlier one no longer count."""
    return Session(person, secrets.token_urlsafe(12), language, assignment, submit_to)


def seal(session: Session, secret: bytes) -> str:
    """The cookie's value: readable by its holder, writable by nobody else."""
    written = json.dumps(dataclasses.asdict(session), separators=(",", ":")).encode()
    body = base64.urlsafe_b64encode(written).decode().rstrip("=")
    return f"{body}.{_signature(body, secret)}"


def unseal(value: str | None, secret: bytes) -> Session | None:
    """The session in a cookie; None where there is none that we have signed."""
    if not value or len(value) > _MOST or not value.isascii():
        return None
    body, _, signature = value.partition(".")
    if not same_id(signature, _signature(body, secret)):
        return None
    try:
        fields = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return Session(**fields)
    except (binascii.Error, ValueError, TypeError):
        return None  # signed by another version


def form_token(session: Session, secret: bytes) -> str:
    """What every form of this session carries, and no other site can know."""
    return opaque_id(secret, "form", session.person, session.nonce)


def _signature(body: str, secret: bytes) -> str:
    digest = hmac.new(secret, b"session:" + body.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
