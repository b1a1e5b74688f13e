"""Accounts of the console: one-time links that make them, logging in, roles."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Row

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.studies.records import add_audit
from empathylab.store.studies.researchers import (
    Role,
    add_attempts,
    add_link,
    add_researcher,
    all_researchers,
    change_researcher,
    count_attempts,
    count_owners,
    count_researchers,
    delete_researcher,
    drop_attempts,
    drop_links,
    drop_old_attempts,
    find_researcher,
    first_secret,
    has_open_links,
    lock_accounts,
    open_link,
    researcher_named,
    use_link,
)
from empathylab.study.assignment.blinding import opaque_id
from empathylab.study.blocks.forms import clean_text
from empathylab.study.web.console.sign_in.passwords import (
    check_password,
    hash_password,
    is_outdated,
    is_password,
    nobodys_hash,
)
from empathylab.study.web.console.sign_in.second_factor import WINDOW, is_confirmed
from empathylab.study.web.console.sign_in.sessions import (
    ConsoleSession,
    awaits_code,
    is_over,
    micros,
)
from empathylab.study.web.console.texts import text

LINK_LASTS = timedelta(hours=24)
MOST_BY_BOTH = 10
"""Failures under one name from one address: a stranger's do not hold up whose name it is."""
MOST_BY_ADDRESS = 30
MOST_BY_NAME = 100
"""From anywhere; it takes several networks to hold someone up, and a password is long."""
_MOST_NAME = 60
_NOBODY = text("there is no such account")


@dataclass(frozen=True, slots=True)
class Researcher:
    """Someone who has signed in."""

    id: int
    name: str
    role: Role
    added_at: datetime
    second_factor: bool = False
    """Whether signing in needs a code, too."""


def first_link(
    lab: Lab, base_url: str, *, renew: bool = True, clock: Callable[[], datetime] = present
) -> str | None:
    """The one-time link that makes the lab's first account; None where there is one already.

    A new link makes those that were given before worthless; each is good for a day. Without
    `renew` it is None while an earlier one is still good, so that restarts print no more of them.
    """
    with lab.writing() as connection:
        lock_accounts(connection)
        if count_researchers(connection):
            return None
        if not renew and has_open_links(connection, clock()):
            return None
        drop_links(connection)
        return _new_link(connection, base_url, "owner", clock())


def invite_link(
    lab: Lab, base_url: str, role: Role, *, clock: Callable[[], datetime] = present
) -> str:
    """A one-time link that makes one more account of that role, good for a day."""
    if role not in get_args(Role):
        raise InputError(
            "a role is owner, researcher or viewer", got=role, remedy="Choose one of the three."
        )
    with lab.writing() as connection:
        return _new_link(connection, base_url, role, clock())


def owner_link(
    lab: Lab, study: int, base_url: str, *, who: str, clock: Callable[[], datetime] = present
) -> str:
    """A one-time link that makes one more owner, for anyone who can read the lab anyway.

    It is in the study's audit log; `study` is its id in the lab.
    """
    with lab.writing() as connection:
        now = clock()
        add_audit(connection, study, now, who, "owner link")
        return _new_link(connection, base_url, "owner", now)


def console_secret(connection: Connection) -> bytes:
    """The lab's own, by which cookies are sealed and names of failed logins are hashed.

    It is derived from the secret of the study launched first, which is in the lab, is never shown
    and stays: so all servers of all studies agree on it, and there is nothing more to keep safe.
    """
    drawn = first_secret(connection)
    if drawn is None:
        raise InputError(
            "this lab has launched no study", remedy="Launch one with `empathylab study serve`."
        )
    return hmac.new(bytes.fromhex(drawn), b"console of the lab", hashlib.sha256).digest()


class Accounts:
    """The accounts of a lab."""

    def __init__(self, lab: Lab, secret: bytes, *, clock: Callable[[], datetime] = present) -> None:
        self._lab = lab
        self._secret = secret
        self._clock = clock

    def exist(self) -> bool:
        """Whether anybody can sign in."""
        with self._lab.reading() as connection:
            return count_researchers(connection) > 0

    def all(self) -> tuple[Researcher, ...]:
        """Everybody who can sign in, oldest first."""
        with self._lab.reading() as connection:
            rows = all_researchers(connection)
        return tuple(_researcher(row) for row in rows)

    def signed_in(self, session: ConsoleSession | None) -> Researcher | None:
        """The researcher of the session, if it is still valid."""
        if session is None or not session.researcher or is_over(session, self._clock()):
            return None
        return self._since(session.researcher, session.issued)

    def awaiting_code(self, session: ConsoleSession) -> Researcher | None:
        """The researcher whose second factor the session waits for, if any."""
        if not awaits_code(session, self._clock()):
            return None
        return self._since(session.pending, session.issued)

    def _since(self, number: int, issued: int) -> Researcher | None:
        """The researcher of that number, unless they have signed out everywhere since."""
        with self._lab.reading() as connection:
            row = find_researcher(connection, number)
        return None if row is None or issued < micros(row.signed_out_at) else _researcher(row)

    def log_in(
        self, name: str, password: str, address: str
    ) -> Researcher | Literal["throttled"] | None:
        """Who gave the right name and password; None where either is wrong.

        It is "throttled" where too many failed: nobody may try again before the time is over.

        The attempt is written down as failed before it is looked at, so that many at the same time
        do not get past the limits. It takes as long for a name that nobody has.
        """
        by_name = opaque_id(self._secret, "login name", _account_name(name).casefold())
        by_address = opaque_id(self._secret, "login address", _network(address))
        by_both = opaque_id(self._secret, "login name and address", by_name, by_address)
        limits = {by_both: MOST_BY_BOTH, by_address: MOST_BY_ADDRESS, by_name: MOST_BY_NAME}
        with self._lab.writing() as connection:
            lock_accounts(connection)
            now = self._clock()
            drop_old_attempts(connection, now, WINDOW)
            since = now - WINDOW
            if any(count_attempts(connection, who, since) >= most for who, most in limits.items()):
                return "throttled"
            numbers = add_attempts(connection, list(limits), now)
            row = researcher_named(connection, _account_name(name))
        hashed = nobodys_hash() if row is None else row.password
        if not is_password(hashed, password) or row is None:
            return None
        with self._lab.writing() as connection:
            drop_attempts(connection, who=by_both, numbers=numbers)
            if is_outdated(hashed):
                change_researcher(connection, row.id, password=hash_password(password))
        return _researcher(row)

    def link_role(self, token: str) -> Role | None:
        """The role that a one-time link gives; None where it is used, too old or none of ours."""
        with self._lab.reading() as connection:
            row = open_link(connection, token, self._clock())
        return None if row is None else row.role

    def use_link(self, token: str, name: str, password: str, again: str) -> Researcher | None:
        """The new account; None where the link cannot be used any more."""
        chosen = _account_name(name)
        if not 2 <= len(chosen) <= _MOST_NAME or not chosen.isprintable():
            raise InputError(
                text("a name must have 2 to 60 characters"), remedy=text("Choose another.")
            )
        check_password(password, again, chosen)
        hashed = hash_password(password)
        with self._lab.writing() as connection:
            lock_accounts(connection)
            now = self._clock()
            link = open_link(connection, token, now)
            if link is None:
                return None
            if researcher_named(connection, chosen) is not None:
                raise InputError(text("that name is taken"), remedy=text("Choose another."))
            first = count_researchers(connection) == 0
            use_link(connection, link.id, now)
            if first:
                drop_links(connection)
            number = add_researcher(connection, chosen, hashed, link.role, now)
        return Researcher(number, chosen, link.role, now)

    def change_password(
        self, researcher: Researcher, old: str, password: str, again: str, address: str
    ) -> datetime | None:
        """When the password was changed, which signs out every browser; None if `old` is wrong."""
        check_password(password, again, researcher.name)
        known = self.log_in(researcher.name, old, address)
        if not isinstance(known, Researcher):
            return None
        hashed = hash_password(password)
        with self._lab.writing() as connection:
            now = self._clock()
            change_researcher(connection, researcher.id, password=hashed, signed_out_at=now)
        return now

    def sign_out(self, researcher: Researcher) -> None:
        """Makes every cookie that was given to them worthless."""
        with self._lab.writing() as connection:
            change_researcher(connection, researcher.id, signed_out_at=self._clock())

    def change_role(self, number: int, role: Role) -> str:
        """The name of the account whose role was changed; there is always an owner."""
        if role not in get_args(Role):
            raise InputError(
                text("there is no such role"), got=role[:20], remedy=text("Choose from the list.")
            )
        with self._lab.writing() as connection:
            lock_accounts(connection)
            name = self._other_than_last_owner(connection, number, stays=role == "owner")
            change_researcher(connection, number, role=role)
        return name

    def remove(self, number: int) -> str:
        """The name of the account that was deleted; what its holder did stays on record."""
        with self._lab.writing() as connection:
            lock_accounts(connection)
            name = self._other_than_last_owner(connection, number, stays=False)
            delete_researcher(connection, number)
        return name

    def remove_second_factor(self, number: int) -> str:
        """The name of the account that signs in by password alone again, as for a lost phone."""
        with self._lab.writing() as connection:
            name = self._other_than_last_owner(connection, number, stays=True)
            change_researcher(connection, number, second_factor=None)
        return name

    def _other_than_last_owner(self, connection: Connection, number: int, *, stays: bool) -> str:
        row = find_researcher(connection, number)
        if row is None:
            raise InputError(_NOBODY, remedy=text("Choose from the list."))
        if row.role == "owner" and not stays and count_owners(connection) == 1:
            raise InputError(
                text("the lab needs an owner"),
                got=row.name,
                remedy=text("Make another account an owner first."),
            )
        return str(row.name)


def _researcher(row: Row[Any]) -> Researcher:
    confirmed = is_confirmed(row.second_factor)
    return Researcher(row.id, row.name, row.role, row.added_at, confirmed)


def _new_link(connection: Connection, base_url: str, role: Role, now: datetime) -> str:
    token = secrets.token_urlsafe(32)
    add_link(connection, token, role, now, now + LINK_LASTS)
    return f"{base_url.rstrip('/')}/console/welcome?link={token}"


def _network(address: str) -> str:
    """What one holder of addresses has: of IPv6 they are given 2^64 at once."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return address
    return str(known.ipv4_mapped or ipaddress.ip_network((known.packed, 64), strict=False))


def _account_name(given: str) -> str:
    return " ".join(clean_text(given).split())
