"""Passwords: what is asked of them, and their slow hashes."""

from __future__ import annotations

import functools
import threading
import unicodedata
from typing import Any

from empathylab.errors import InputError, MissingExtra
from empathylab.study.web.console.texts import text

LEAST = 12
MOST = 200
ADVICE = text("At least 12 characters. Use a phrase that you do not use anywhere else.")
_VARIETY = 5
_LONG_NAME = 4
# Each takes 64 MB for a moment: a crowd at the door must not take the raters' memory.
_FEW = threading.BoundedSemaphore(2)


def check_password(password: str, again: str, name: str) -> None:
    """Refuses a password that would be easily guessed or was not typed twice alike."""
    problem = None
    if len(password) < LEAST:
        problem = text("a password must have at least 12 characters")
    elif len(password) > MOST:
        problem = text("a password must have at most 200 characters")
    elif len(set(password)) < _VARIETY or _holds(password, name):
        problem = text("that password is too easy to guess")
    elif password != again:
        problem = text("the two passwords are not the same")
    if problem is not None:
        raise InputError(problem, remedy=text("Choose another, and type it twice."))


def _holds(password: str, name: str) -> bool:
    """Whether the name is in the password; a short one may be in any word."""
    return len(name) >= _LONG_NAME and name.casefold() in password.casefold()


def hash_password(password: str) -> str:
    """The argon2id hash that is kept in place of the password."""
    with _FEW:
        return str(_hasher().hash(_composed(password)))


def is_password(hashed: str, password: str) -> bool:
    """Whether the password is the one; takes as long for a hash of nobody's password."""
    from argon2.exceptions import InvalidHashError, VerificationError

    with _FEW:
        try:
            return bool(_hasher().verify(hashed, _composed(password[:MOST])))
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(hashed: str) -> bool:
    """Whether the hash was made with weaker settings than today's."""
    return bool(_hasher().check_needs_rehash(hashed))


@functools.cache
def nobodys_hash() -> str:
    """A hash to compare with where there is no account, so that the answer takes as long."""
    return hash_password("nobody has this password")


@functools.cache
def _hasher() -> Any:
    try:
        import argon2
    except ImportError:
        raise MissingExtra("argon2-cffi", "study", "The researcher's console") from None
    return argon2.PasswordHasher()


def _composed(password: str) -> bytes:
    """One spelling, whatever keyboard it was typed on."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace")
