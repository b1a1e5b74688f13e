"""Who may see the console: accounts, the links that make them, and failed logins."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, text

from empathylab.store import schema
from empathylab.store.inserts import insert_returning_ids
from empathylab.store.schema.statements import change_rows, count_rows, remove_rows

Role = Literal["viewer", "researcher", "owner"]
ROLES: tuple[Role, ...] = ("viewer", "researcher", "owner")
"""From the least to the most."""


def count_researchers(connection: Connection) -> int:
    """How many accounts there are."""
    return count_rows(connection, schema.researchers)


def all_researchers(connection: Connection) -> Sequence[Row[Any]]:
    """The accounts, oldest first."""
    table = schema.researchers
    return connection.execute(select(table).order_by(table.c.id)).all()


def researcher_named(connection: Connection, name: str) -> Row[Any] | None:
    """The account of that name, in upper or lower case."""
    wanted = name.casefold()
    accounts = all_researchers(connection)
    return next((account for account in accounts if account.name.casefold() == wanted), None)


def find_researcher(connection: Connection, number: int) -> Row[Any] | None:
    """The account of that number."""
    table = schema.researchers
    return connection.execute(select(table).where(table.c.id == number)).one_or_none()


def add_researcher(
    connection: Connection, name: str, password: str, role: Role, at: datetime
) -> int:
    """The number of a new account; `password` is a hash of it."""
    row = {
        "name": name,
        "password": password,
        "role": role,
        "added_at": at,
        "signed_out_at": at,
    }
    return insert_returning_ids(connection, schema.researchers, [row])[0]


def change_researcher(connection: Connection, number: int, **values: Any) -> None:
    """Changes columns of the account."""
    change_rows(connection, schema.researchers, schema.researchers.c.id == number, **values)


def delete_researcher(connection: Connection, number: int) -> None:
    """Deletes the account; what its holder did stays in the audit log."""
    remove_rows(connection, schema.researchers, schema.researchers.c.id == number)


def count_owners(connection: Connection) -> int:
    """How many accounts may do everything."""
    return count_rows(connection, schema.researchers, schema.researchers.c.role == "owner")


def lock_accounts(connection: Connection) -> None:
    """Lets nobody else change accounts, links or attempts until the transaction ends.

    On SQLite any writing transaction does.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE researchers IN SHARE ROW EXCLUSIVE MODE"))


def add_link(
    connection: Connection, token: str, role: Role, at: datetime, expires: datetime
) -> None:
    """Keeps a digest of a link that makes one account."""
    row = {"digest": _digest(token), "role": role, "added_at": at, "expires_at": expires}
    connection.execute(insert(schema.console_links), [row])


def open_link(connection: Connection, token: str, at: datetime) -> Row[Any] | None:
    """The link, where it is ours, has not been used and is not too old."""
    table = schema.console_links
    query = select(table).where(
        table.c.digest == _digest(token), table.c.used_at.is_(None), table.c.expires_at > at
    )
    return connection.execute(query).one_or_none()


def has_open_links(connection: Connection, at: datetime) -> bool:
    """Whether a link could still be used."""
    table = schema.console_links
    query = select(table.c.id).where(table.c.used_at.is_(None), table.c.expires_at > at)
    return connection.execute(query.limit(1)).first() is not None


def use_link(connection: Connection, link: int, at: datetime) -> bool:
    """Whether the link could still be used; from now on it cannot."""
    table = schema.console_links
    unused = (table.c.id == link) & table.c.used_at.is_(None)
    return change_rows(connection, table, unused, used_at=at) == 1


def drop_links(connection: Connection) -> None:
    """Makes all links that nobody has used worthless."""
    remove_rows(connection, schema.console_links, schema.console_links.c.used_at.is_(None))


def count_attempts(connection: Connection, who: str, since: datetime) -> int:
    """How many logins failed for the digest of a name or an address since then."""
    table = schema.login_attempts
    return count_rows(connection, table, table.c.who == who, table.c.at > since)


def add_attempts(connection: Connection, whos: Sequence[str], at: datetime) -> list[int]:
    """The numbers of the attempts, written down as failed until they are known not to be."""
    rows = [{"who": who, "at": at} for who in whos]
    return insert_returning_ids(connection, schema.login_attempts, rows)


def drop_attempts(
    connection: Connection, *, who: str | None = None, numbers: Sequence[int] = ()
) -> None:
    """Forgets all attempts for a name's digest, and those of the numbers."""
    table = schema.login_attempts
    wanted = table.c.id.in_(numbers)
    remove_rows(connection, table, wanted if who is None else wanted | (table.c.who == who))


def drop_old_attempts(connection: Connection, at: datetime, kept: timedelta) -> None:
    """Deletes attempts that no longer delay a sign-in."""
    remove_rows(connection, schema.login_attempts, schema.login_attempts.c.at < at - kept)


def first_secret(connection: Connection) -> str | None:
    """The secret of the study that this lab launched first; None before any."""
    table = schema.studies
    query = select(table.c.secret).where(table.c.secret.is_not(None)).order_by(table.c.id).limit(1)
    return connection.execute(query).scalar_one_or_none()


def _digest(token: str) -> str:
    # Of 256 random bits, so nobody finds it by trying and it needs no slow hash.
    return hashlib.sha256(token.encode()).hexdigest()
