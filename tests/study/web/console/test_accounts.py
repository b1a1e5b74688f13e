"""One-time links, passwords and throttling, on both databases."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import argon2
import pytest

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.study.web.console import first_link, invite_link
from empathylab.study.web.console.sign_in import passwords
from empathylab.study.web.console.sign_in.accounts import (
    MOST_BY_ADDRESS,
    MOST_BY_BOTH,
    MOST_BY_NAME,
    WINDOW,
    Accounts,
    Researcher,
    owner_link,
)
from tests.study.service_examples import Clock, opened, rows_of
from tests.study.web.console.researchers import PASSWORD, at_console

KEY = b"a key for the tests, 32 bytes it"
BASE = "https://lab.example/study"


def accounts_of(lab: Lab, clock: Clock | None = None) -> Accounts:
    return Accounts(lab, KEY, clock=clock or Clock())


def token_of(link: str | None) -> str:
    assert link is not None
    before, _, token = link.partition("?link=")
    assert before == f"{BASE}/console/welcome"
    return token


def owner(lab: Lab, clock: Clock | None = None, name: str = "Ann Owner") -> Accounts:
    clock = clock or Clock()
    accounts = accounts_of(lab, clock)
    token = token_of(first_link(lab, BASE, clock=clock))
    assert accounts.use_link(token, name, PASSWORD, PASSWORD) is not None
    return accounts


def test_the_first_link_makes_one_owner_and_then_there_is_none(lab: Lab) -> None:
    clock = Clock()
    accounts = accounts_of(lab, clock)
    token = token_of(first_link(lab, BASE, clock=clock))
    assert accounts.link_role(token) == "owner"
    made = accounts.use_link(token, "  Ann   Owner ", PASSWORD, PASSWORD)
    assert made is not None
    assert (made.name, made.role) == ("Ann Owner", "owner")
    assert accounts.use_link(token, "Eve", PASSWORD, PASSWORD) is None
    assert first_link(lab, BASE, clock=clock) is None


def test_a_second_first_link_makes_the_one_before_worthless(sqlite_lab: Lab) -> None:
    clock = Clock()
    accounts = accounts_of(sqlite_lab, clock)
    old, new = (token_of(first_link(sqlite_lab, BASE, clock=clock)) for _ in range(2))
    assert accounts.link_role(old) is None
    assert accounts.link_role(new) == "owner"


def test_a_link_is_good_for_a_day(sqlite_lab: Lab) -> None:
    clock = Clock()
    accounts = owner(sqlite_lab, clock)
    token = token_of(invite_link(sqlite_lab, BASE, "viewer", clock=clock))
    clock.skip(hours=23)
    assert accounts.link_role(token) == "viewer"
    clock.skip(hours=1)
    assert accounts.link_role(token) is None
    assert accounts.use_link(token, "Late", PASSWORD, PASSWORD) is None


@pytest.mark.parametrize("token", ["", "x", "é" * 50, "' OR 1=1 --", "\x00"])
def test_a_forged_link_is_none(sqlite_lab: Lab, token: str) -> None:
    accounts = owner(sqlite_lab)
    assert accounts.link_role(token) is None
    assert accounts.use_link(token, "Eve", PASSWORD, PASSWORD) is None


def test_neither_link_nor_password_nor_who_failed_is_kept_readable(lab: Lab) -> None:
    clock = Clock()
    accounts = owner(lab, clock)
    link = token_of(invite_link(lab, BASE, "viewer", clock=clock))
    accounts.log_in("Mistyped Name", "mistyped password", "203.0.113.9")
    kept = str([rows_of(lab, table) for table in schema.metadata.sorted_tables])
    for secret in (link, PASSWORD, "Mistyped", "mistyped", "203.0.113.9"):
        assert secret not in kept


@pytest.mark.parametrize(
    ("password", "again", "why"),
    [
        ("short", "short", "at least 12"),
        ("x" * 201, "x" * 201, "at most 200"),
        ("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa", "too easy"),
        ("dear ann owner and co", "dear ann owner and co", "too easy"),
        (PASSWORD, PASSWORD + "!", "not the same"),
    ],
)
def test_a_weak_password_is_refused_and_the_link_stays_good(
    sqlite_lab: Lab, password: str, again: str, why: str
) -> None:
    clock = Clock()
    accounts = accounts_of(sqlite_lab, clock)
    token = token_of(first_link(sqlite_lab, BASE, clock=clock))
    with pytest.raises(InputError, match=why):
        accounts.use_link(token, "Ann Owner", password, again)
    assert accounts.link_role(token) == "owner"
    assert not accounts.exist()


@pytest.mark.parametrize("name", ["ANN OWNER", "ann owner", " Ann  Owner\x00"])
def test_no_two_accounts_bear_the_same_name(sqlite_lab: Lab, name: str) -> None:
    clock = Clock()
    accounts = owner(sqlite_lab, clock)
    token = token_of(invite_link(sqlite_lab, BASE, "viewer", clock=clock))
    with pytest.raises(InputError, match="name is taken"):
        accounts.use_link(token, name, PASSWORD, PASSWORD)
    assert accounts.link_role(token) == "viewer"


def test_an_unknown_role_gets_no_link(sqlite_lab: Lab) -> None:
    with pytest.raises(InputError, match="owner, researcher or viewer"):
        invite_link(sqlite_lab, BASE, "king")  # type: ignore[arg-type]


def test_a_name_is_held_up_after_so_many_failures_whether_it_exists_or_not(lab: Lab) -> None:
    clock = Clock()
    accounts = owner(lab, clock)
    for name in ("ann owner", "nobody at all"):
        for _ in range(MOST_BY_BOTH):
            assert accounts.log_in(name, "wrong", "192.0.2.7") is None
        assert accounts.log_in(name, PASSWORD, "192.0.2.7") == "throttled"
    clock.skip(seconds=WINDOW.total_seconds())
    assert isinstance(accounts.log_in("ann owner", PASSWORD, "192.0.2.7"), Researcher)


def test_a_strangers_failures_do_not_lock_the_owner_out(lab: Lab) -> None:
    accounts = owner(lab)
    for _ in range(MOST_BY_ADDRESS):
        accounts.log_in("ann owner", "wrong", "192.0.2.1")
    assert isinstance(accounts.log_in("ann owner", PASSWORD, "198.51.100.1"), Researcher)


def test_a_name_is_held_up_after_many_failures_from_everywhere(sqlite_lab: Lab) -> None:
    accounts = owner(sqlite_lab)
    for number in range(MOST_BY_NAME):
        assert accounts.log_in("ann owner", "wrong", f"192.0.2.{number}") is None
    assert accounts.log_in("ann owner", PASSWORD, "198.51.100.1") == "throttled"


def test_the_addresses_that_one_network_holds_are_one(sqlite_lab: Lab) -> None:
    accounts = owner(sqlite_lab)
    for number in range(MOST_BY_BOTH):
        assert accounts.log_in("ann owner", "wrong", f"2001:db8::{number:x}") is None
    assert accounts.log_in("ann owner", PASSWORD, "2001:db8::ffff") == "throttled"
    assert isinstance(accounts.log_in("ann owner", PASSWORD, "2001:db8:0:1::1"), Researcher)


def test_an_owner_who_lost_the_password_gets_a_link_that_is_on_record(lab: Lab) -> None:
    service, clock = opened(lab)
    accounts = owner(lab, clock)
    link = owner_link(lab, service.launched.row, BASE, who="command line (ann)", clock=clock)
    made = accounts.use_link(token_of(link), "Ann again", PASSWORD, PASSWORD)
    assert made is not None
    assert made.role == "owner"
    last = service.actions.audit()[-1]
    assert (last.who, last.action) == ("command line (ann)", "owner link")
    assert accounts.use_link(token_of(link), "Eve", PASSWORD, PASSWORD) is None


def test_an_address_is_held_up_after_so_many_failures(sqlite_lab: Lab) -> None:
    accounts = owner(sqlite_lab)
    for number in range(MOST_BY_ADDRESS):
        assert accounts.log_in(f"guess {number}", "wrong", "192.0.2.1") is None
    assert accounts.log_in("ann owner", PASSWORD, "192.0.2.1") == "throttled"
    assert isinstance(accounts.log_in("ann owner", PASSWORD, "192.0.2.2"), Researcher)


def test_signing_in_forgets_the_failures_before(sqlite_lab: Lab) -> None:
    accounts = owner(sqlite_lab)
    for _ in range(3):
        for _ in range(MOST_BY_BOTH - 1):
            accounts.log_in("Ann Owner", "wrong", "192.0.2.1")
        assert isinstance(accounts.log_in("ANN owner", PASSWORD, "192.0.2.1"), Researcher)


def test_signing_in_forgets_no_failures_under_other_names_or_addresses(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever has an account could try other names without end."""
    monkeypatch.setattr("empathylab.study.web.console.sign_in.accounts.MOST_BY_ADDRESS", 4)
    monkeypatch.setattr("empathylab.study.web.console.sign_in.accounts.MOST_BY_NAME", 4)
    accounts = owner(sqlite_lab)
    for number in range(3):
        assert accounts.log_in("another", "wrong", "192.0.2.1") is None
        assert accounts.log_in("ann owner", "wrong", f"198.51.100.{number}") is None
    for _ in range(3):  # what succeeds is no failure
        assert isinstance(accounts.log_in("ann owner", PASSWORD, "192.0.2.1"), Researcher)
    assert accounts.log_in("Ann OWNER", "wrong", "192.0.2.1") is None
    assert accounts.log_in("someone else", "wrong", "192.0.2.1") == "throttled"
    assert accounts.log_in("ANN owner", PASSWORD, "192.0.2.2") == "throttled"


def test_an_ipv4_address_is_the_same_in_the_notation_of_ipv6(sqlite_lab: Lab) -> None:
    accounts = owner(sqlite_lab)
    for _ in range(MOST_BY_BOTH):
        assert accounts.log_in("ann owner", "wrong", "::ffff:192.0.2.1") is None
    assert accounts.log_in("ann owner", PASSWORD, "192.0.2.1") == "throttled"
    assert isinstance(accounts.log_in("ann owner", PASSWORD, "::ffff:192.0.2.2"), Researcher)


def test_an_unknown_name_costs_a_hash_as_a_known_one_does(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = owner(sqlite_lab)
    compared: list[str] = []
    hasher = passwords._hasher()

    class Counting:
        def verify(self, hashed: str, password: bytes) -> bool:
            compared.append(hashed.partition("p=")[0])
            return bool(hasher.verify(hashed, password))

        hash = hasher.hash
        check_needs_rehash = hasher.check_needs_rehash

    passwords.nobodys_hash.cache_clear()
    monkeypatch.setattr(passwords, "_hasher", functools.cache(Counting))
    assert accounts.log_in("ann owner", "wrong", "192.0.2.1") is None
    assert accounts.log_in("nobody", "wrong", "192.0.2.1") is None
    assert len(compared) == 2
    assert len(set(compared)) == 1


def test_the_login_page_says_the_same_of_unknown_names_and_wrong_passwords(
    sqlite_lab: Lab,
) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service), at_console(service, None) as visitor:
        shown = []
        for name in ("some owner", "some other"):
            answer = visitor.log_in(name, "wrong")
            assert (answer.status_code, answer.headers["location"]) == (303, "/console/login")
            shown.append(visitor.get("/console/login").text)
    known, unknown = (text.replace("some other", "some owner") for text in shown)
    assert "The name or the password is wrong" in known
    assert known == unknown


def test_too_many_attempts_are_answered_with_how_long_to_wait(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service), at_console(service, None) as visitor:
        for _ in range(MOST_BY_BOTH):
            visitor.log_in("some owner", "wrong")
        answer = visitor.log_in("some owner")
        shown = visitor.get(answer.headers["location"])
    assert answer.headers["location"] == "/console/login"
    assert answer.headers["retry-after"] == str(int(WINDOW / timedelta(seconds=1)))
    assert "15 minutes" in shown.text


def test_a_hash_made_with_weaker_settings_is_made_anew(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = owner(sqlite_lab)
    stronger = argon2.PasswordHasher(time_cost=2, memory_cost=128, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", lambda: stronger)
    assert accounts.log_in("ann owner", PASSWORD, "192.0.2.1") is not None
    (row,) = rows_of(sqlite_lab, schema.researchers)
    assert "m=128,t=2" in row["password"]


def test_passwords_are_hashed_slowly_in_earnest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    hashed = passwords.hash_password(PASSWORD)
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert passwords.is_password(hashed, PASSWORD)
    assert not passwords.is_password(hashed, PASSWORD + " ")
    assert not passwords.is_password("no hash at all", PASSWORD)


def test_many_attempts_at_once_do_not_get_past_the_limit(lab: Lab) -> None:
    accounts = owner(lab)
    with ThreadPoolExecutor(12) as pool:
        tries = [
            pool.submit(accounts.log_in, "ann owner", "wrong", "192.0.2.7")
            for _ in range(3 * MOST_BY_BOTH)
        ]
        found = [item.result() for item in tries]
    assert found.count(None) == MOST_BY_BOTH
    assert found.count("throttled") == 2 * MOST_BY_BOTH


def test_one_link_used_by_many_at_once_makes_one_account(lab: Lab) -> None:
    clock = Clock()
    accounts = owner(lab, clock)
    token = token_of(invite_link(lab, BASE, "viewer", clock=clock))
    with ThreadPoolExecutor(6) as pool:
        tries = [
            pool.submit(accounts.use_link, token, f"viewer {number}", PASSWORD, PASSWORD)
            for number in range(6)
        ]
        made = [item.result() for item in tries]
    assert sum(item is not None for item in made) == 1
    assert len(accounts.all()) == 2
