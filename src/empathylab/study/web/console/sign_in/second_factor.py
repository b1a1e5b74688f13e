"""The optional second factor: codes of an authenticator app (RFC 6238), and recovery codes.

A code is good for its 30 seconds and the period before and after, and for one sign-in only.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.studies.researchers import (
    add_attempts,
    change_researcher,
    count_attempts,
    drop_attempts,
    find_researcher,
    lock_accounts,
)
from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.web.console.texts import text

PERIOD = 30
DIGITS = 6
MOST_ATTEMPTS = 5
"""Wrong codes within `WINDOW`; of a million codes three are good at a time."""
WINDOW = timedelta(minutes=15)
"""Within which failed attempts to sign in are counted."""
_RECOVERY_CODES = 10
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def one_time_password(key: bytes, counter: int, digits: int = DIGITS) -> str:
    """The code of RFC 4226 for a counter."""
    digest = hmac.new(key, counter.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def matching_period(key: bytes, code: str, now: datetime, last: int) -> int | None:
    """The period whose code was given; None where it is wrong, too old or used already."""
    period = int(now.timestamp()) // PERIOD
    matching = None
    for candidate in (period - 1, period, period + 1):
        if same_id(code, one_time_password(key, candidate)) and candidate > last:
            matching = candidate
    return matching


@dataclass(frozen=True, slots=True)
class Setup:
    """What an authenticator app is given."""

    key: str
    """In groups of four."""
    uri: str


class SecondFactors:
    """The second factors of a lab's accounts."""

    def __init__(self, lab: Lab, secret: bytes, clock: Callable[[], datetime]) -> None:
        self._lab, self._secret, self._clock = lab, secret, clock

    def begin(self, researcher: int) -> None:
        """Draws a new key, which counts once a code of it was given."""
        with self._lab.writing() as connection:
            lock_accounts(connection)
            stored = _stored(connection, researcher)
            if is_confirmed(stored):
                raise InputError(
                    text("a second factor is already set up"), remedy=text("Remove it first.")
                )
            key = base64.b32encode(secrets.token_bytes(20)).decode()
            change_researcher(connection, researcher, second_factor={"key": key})

    def pending(self, researcher: int, name: str) -> Setup | None:
        """What an authenticator app is to be given; None where no key waits for its first code."""
        with self._lab.reading() as connection:
            stored = _stored(connection, researcher)
        if not stored or is_confirmed(stored):
            return None
        key = str(stored["key"])
        grouped = " ".join(key[start : start + 4] for start in range(0, len(key), 4))
        label = quote(f"EmpathyLab:{name}")
        return Setup(grouped, f"otpauth://totp/{label}?secret={key}&issuer=EmpathyLab")

    def confirm(self, researcher: int, code: str) -> tuple[str, ...]:
        """Recovery codes, shown once; from now on every sign-in needs a code."""
        with self._lab.writing() as connection:
            lock_accounts(connection)
            stored = _stored(connection, researcher)
            if not stored or is_confirmed(stored):
                raise InputError(text("there is no key to confirm"), remedy=text("Start again."))
            period = matching_period(_key(stored), _plain(code), self._clock(), last=0)
            if period is None:
                raise InputError(
                    text("the code is wrong"),
                    remedy=text("Check the clock of your phone, and try again."),
                )
            codes = tuple(_recovery_code() for _ in range(_RECOVERY_CODES))
            kept = {
                "key": stored["key"],
                "last": period,
                "recovery": [self._digest(researcher, code) for code in codes],
            }
            change_researcher(connection, researcher, second_factor=kept)
        return codes

    def check(self, researcher: int, code: str) -> bool | None:
        """Whether the code is right, which uses it up; None after too many wrong ones.

        The attempt is written down as failed first, so that many at once do not pass the limit.
        """
        who = opaque_id(self._secret, "second factor", researcher)
        with self._lab.writing() as connection:
            lock_accounts(connection)
            now = self._clock()
            if count_attempts(connection, who, now - WINDOW) >= MOST_ATTEMPTS:
                return None
            numbers = add_attempts(connection, [who], now)
            stored = _stored(connection, researcher)
            if not is_confirmed(stored):
                return False
            kept = self._used(researcher, stored, _plain(code), now)
            if kept is None:
                return False
            change_researcher(connection, researcher, second_factor=kept)
            drop_attempts(connection, who=who, numbers=numbers)
        return True

    def remove(self, researcher: int) -> None:
        """Lets the account sign in by password alone."""
        with self._lab.writing() as connection:
            change_researcher(connection, researcher, second_factor=None)

    def _used(
        self, researcher: int, stored: Mapping[str, Any], code: str, now: datetime
    ) -> dict[str, Any] | None:
        """The second factor after the code was used; None where it is wrong."""
        period = matching_period(_key(stored), code, now, int(stored["last"]))
        if period is not None:
            return {**stored, "last": period}
        digest = self._digest(researcher, code)
        left = [item for item in stored["recovery"] if not same_id(item, digest)]
        return {**stored, "recovery": left} if len(left) < len(stored["recovery"]) else None

    def _digest(self, researcher: int, code: str) -> str:
        return opaque_id(self._secret, "recovery code", researcher, _plain(code))


def is_confirmed(stored: Mapping[str, Any] | None) -> bool:
    """Whether the stored second factor counts."""
    return bool(stored) and "last" in (stored or {})


def _stored(connection: Connection, researcher: int) -> dict[str, Any]:
    row = find_researcher(connection, researcher)
    return {} if row is None else dict(row.second_factor or {})


def _key(stored: Mapping[str, Any]) -> bytes:
    try:
        return base64.b32decode(stored["key"])
    except (KeyError, binascii.Error):
        return secrets.token_bytes(20)  # no code fits


def _plain(code: str) -> str:
    return "".join(item for item in code.lower() if item.isascii() and item.isalnum())[:40]


def _recovery_code() -> str:
    drawn = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    return f"{drawn[:5]}-{drawn[5:]}"
