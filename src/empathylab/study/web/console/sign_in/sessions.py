"""A researcher's browser: a sealed cookie that says who signed in when, and nothing they may do.

What someone may do is read from the lab at every request, so that a role taken away, a changed
password and a sign-out hold at once, in every server process.
"""

from __future__ import annotations

import dataclasses
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from empathylab.study.assignment.blinding import opaque_id
from empathylab.study.web import sealing

LASTS = timedelta(hours=12)
"""From signing in, whatever is done meanwhile."""
IDLE = timedelta(hours=2)
"""Without a page being asked for."""
RENEWED = timedelta(minutes=1)
"""How often the cookie is written again, so that the idle time begins again."""
CODE_LASTS = timedelta(minutes=5)
"""After the password was right, to give the second factor."""
_PURPOSE = "console session"
_MOST = 600


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """One browser at the console; times are microseconds since 1970."""

    researcher: int
    """The account's number; 0 for a browser that has not signed in."""
    issued: int
    seen: int
    nonce: str
    pending: int = 0
    """The account whose password was right and whose second factor is still to be given."""


def cookie_name(secret: bytes) -> str:
    """The cookie of one lab's console: several labs may be served at ports of one host."""
    return f"console-{opaque_id(secret, 'cookie')[:8]}"


def begin(researcher: int, now: datetime, *, pending: int = 0) -> ConsoleSession:
    """A session with a nonce of its own, so that earlier forms and cookies are worth nothing."""
    at = micros(now)
    return ConsoleSession(researcher, at, at, secrets.token_urlsafe(16), pending)


def seen(session: ConsoleSession, now: datetime) -> ConsoleSession | None:
    """The session as it is to be written again; None where that is not due yet."""
    if micros(now) - session.seen < RENEWED // timedelta(microseconds=1):
        return None
    return dataclasses.replace(session, seen=micros(now))


def is_over(session: ConsoleSession, now: datetime) -> bool:
    """Whether it is too old or was idle too long; times from the future are no times of ours."""
    at, second = micros(now), 1_000_000
    old = at - session.issued > LASTS.total_seconds() * second
    idle = at - session.seen > IDLE.total_seconds() * second
    return old or idle or session.seen - at > 60 * second


def awaits_code(session: ConsoleSession, now: datetime) -> bool:
    """Whether the second factor may still be given."""
    age = micros(now) - session.issued
    return session.pending > 0 and 0 <= age <= CODE_LASTS // timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """The moment as a whole number, which a cookie keeps exactly."""
    return round(moment.timestamp() * 1_000_000)


def seal(session: ConsoleSession, secret: bytes) -> str:
    """The cookie's value."""
    return sealing.seal(dataclasses.astuple(session), secret, _PURPOSE)


def unseal(value: str | None, secret: bytes) -> ConsoleSession | None:
    """The session in a cookie; None where there is none that we have sealed."""
    try:
        fields = sealing.unseal(value, secret, _PURPOSE, most=_MOST)
        return None if fields is None else ConsoleSession(*fields)
    except TypeError:
        return None  # sealed by another version


def form_token(session: ConsoleSession, secret: bytes) -> str:
    """What every form of this session carries, and no other site can know."""
    return opaque_id(secret, "console form", session.researcher, session.nonce)
