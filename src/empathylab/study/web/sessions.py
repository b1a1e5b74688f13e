"""Who is at the other end: a signed cookie, so that any server process can answer."""

from __future__ import annotations

import dataclasses
import functools
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from empathylab.study.assignment.blinding import opaque_id
from empathylab.study.web import sealing

DAYS = 60
"""How long a browser keeps a person's way back in."""
_PURPOSE = "session"
_MOST = 3000
"""Characters of a cookie; a longer one is not ours."""
_REMEMBERED = 2048
"""Cookies and tokens whose signatures need not be computed again at the next page."""


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
    known_as: str = ""
    """Who they are by an open link, so that another version of the study knows them again."""
    guest: bool = False
    """Whether the visit was begun in another browser: an ID in a link is no proof of identity."""
    left: Literal["", "kept", "deleted"] = ""
    """Whether the person has left, and whether their answers were kept or deleted."""


def cookie_name(secret: bytes, version: int) -> str:
    """The cookie of one version of a study.

    Browsers send cookies to all ports of a host, and those of a path to all below it; so every
    study has a name of its own, which tells nothing of it.
    """
    return f"{_cookies_of(secret)}{version}"


def new_session(
    person: str, language: str, *, assignment: str = "", submit_to: str = "", known_as: str = ""
) -> Session:
    """A session with a nonce of its own, so that forms of an earlier one no longer count."""
    nonce = secrets.token_urlsafe(12)
    return Session(person, nonce, language, assignment, submit_to, known_as)


def known_from(cookies: Mapping[str, str], secret: bytes) -> str:
    """Who the browser is to an open link, by any version of the study; empty where unknown."""
    for name, value in sorted(cookies.items()):
        session = unseal(value, secret) if name.startswith(_cookies_of(secret)) else None
        if session is not None and session.known_as:
            return session.known_as
    return ""


def seal(session: Session, secret: bytes) -> str:
    """The cookie's value."""
    return sealing.seal(dataclasses.asdict(session), secret, _PURPOSE)


@functools.lru_cache(maxsize=_REMEMBERED)
def unseal(value: str | None, secret: bytes) -> Session | None:
    """The session in a cookie; None where there is none that we have signed."""
    try:
        fields = sealing.unseal(value, secret, _PURPOSE, most=_MOST)
        return None if fields is None else Session(**fields)
    except TypeError:
        return None  # signed by another version


@functools.lru_cache(maxsize=_REMEMBERED)
def form_token(session: Session, secret: bytes) -> str:
    """What every form of this session carries, and no other site can know."""
    return opaque_id(secret, "form", session.person, session.nonce)


@functools.cache
def _cookies_of(secret: bytes) -> str:
    return f"study-{opaque_id(secret, 'cookie')[:8]}-"
