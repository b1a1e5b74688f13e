"""The second factor: the codes of the standards, each used once, and how many may be tried."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime

import pytest

from empathylab.store import Lab, schema
from empathylab.store.studies.researchers import add_researcher, change_researcher
from empathylab.study.session.service import StudyService
from empathylab.study.web.console.sign_in.second_factor import (
    MOST_ATTEMPTS,
    PERIOD,
    SecondFactors,
    matching_period,
    one_time_password,
)
from tests.study.service_examples import START, Clock, opened, rows_of
from tests.study.web.console.researchers import Researcher, at_console, join

SEED = b"12345678901234567890"


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(second: int, code: str) -> None:
    """Appendix B, SHA1."""
    assert one_time_password(SEED, second // PERIOD, digits=8) == code


def test_codes_are_those_of_rfc_4226() -> None:
    """Appendix D."""
    codes = "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489"
    assert [one_time_password(SEED, counter) for counter in range(10)] == codes.split()


def test_a_code_is_good_for_its_period_and_its_neighbours_once() -> None:
    at = datetime(2026, 3, 1, 9, 0, 10, tzinfo=UTC)
    period = int(at.timestamp()) // PERIOD
    for shift, good in ((-2, False), (-1, True), (0, True), (1, True), (2, False)):
        code = one_time_password(SEED, period + shift)
        assert (matching_period(SEED, code, at, last=0) is not None) == good, shift
        assert matching_period(SEED, code, at, last=period + shift) is None
    for code in ("", "12345", "1234567", "abcdef"):
        assert matching_period(SEED, code, at, last=0) is None


def key_shown(page: str) -> bytes:
    found = re.search(r'class="link" tabindex="0">([^<]+)<', page)
    assert found
    return base64.b32decode(found[1].replace(" ", ""))


def code_now(key: bytes, clock: Clock) -> str:
    return one_time_password(key, int(clock.time.timestamp()) // PERIOD)


def secured(service: StudyService, visitor: Researcher, clock: Clock) -> tuple[bytes, list[str]]:
    """The key and the recovery codes of the visitor's new second factor."""
    path = "/console/account-second-factor"
    visitor.post(path, act="begin")
    key = key_shown(visitor.get("/console/account").text)
    visitor.refused(path, act="confirm", code="000000")
    done = visitor.post(path, act="confirm", code=code_now(key, clock))
    codes = re.findall(r"<code>([a-z0-9]{5}-[a-z0-9]{5})</code>", done.text)
    assert len(codes) == 10
    clock.skip(seconds=90)
    return key, codes


def given(visitor: Researcher, code: str) -> str:
    """What became of a code."""
    form = visitor.token("/console/second-factor")
    answer = visitor.ask("POST", "/console/second-factor", data={"form": form, "code": code})
    assert answer.status_code == 303
    where = answer.headers["location"]
    if where == "/console/second-factor":
        page = visitor.get(where).text
        assert f'value="{code}"' not in page
        return "too many" if "too many attempts" in page else "wrong"
    return {"/console": "in", "/console/login": "signed out"}[where]


def test_signing_in_needs_the_code_and_no_code_works_twice(lab: Lab) -> None:
    service, clock = opened(lab)
    with at_console(service) as visitor, at_console(service, None) as other:
        key, recovery = secured(service, visitor, clock)
        assert other.log_in("some owner").headers["location"] == "/console/second-factor"
        assert other.ask("GET", "/console").headers["location"] == "/console/login"
        code = code_now(key, clock)
        assert given(other, code) == "in"
        assert other.ask("GET", "/console").status_code == 200
        other.post("/console/logout")
        other.log_in("some owner")
        assert given(other, code) == "wrong"  # used
        assert given(other, recovery[0]) == "in"
        other.post("/console/logout")
        other.log_in("some owner")
        assert given(other, recovery[0]) == "wrong"  # used
        assert given(other, recovery[1].upper().replace("-", " ")) == "in"
    acts = [item.action for item in service.actions.audit()]
    assert acts.count("set up second factor") == 1
    assert acts.count("sign in") == 3
    (row,) = rows_of(lab, schema.researchers)
    assert not [code for code in recovery if code in str(row["second_factor"])]


def test_codes_cannot_be_tried_without_end(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    with at_console(service) as visitor, at_console(service, None) as other:
        key, recovery = secured(service, visitor, clock)
        other.log_in("some owner")
        tried = [given(other, f"{number:06}") for number in range(MOST_ATTEMPTS + 1)]
        assert tried == ["wrong"] * MOST_ATTEMPTS + ["too many"]
        assert given(other, code_now(key, clock)) == "too many"
        assert given(other, recovery[0]) == "too many"
        clock.skip(minutes=16)
        other.log_in("some owner")
        assert given(other, code_now(key, clock)) == "in"


def test_a_code_that_confirmed_the_key_signs_nobody_in_and_success_clears_failures(
    sqlite_lab: Lab,
) -> None:
    with sqlite_lab.writing() as connection:
        number = add_researcher(connection, "ann", "hash", "owner", START)
    factors = SecondFactors(sqlite_lab, b"a secret for the tests, 32 bytes", lambda: START)
    factors.begin(number)
    setup = factors.pending(number, "ann")
    assert setup is not None
    key = base64.b32decode(setup.key.replace(" ", ""))
    code = one_time_password(key, int(START.timestamp()) // PERIOD)
    assert factors.check(number, code) is False  # not confirmed yet
    recovery = factors.confirm(number, code)
    assert factors.check(number, code) is False  # used
    for right in recovery[:MOST_ATTEMPTS]:
        assert factors.check(number, "000 000") is False
        assert factors.check(number, right) is True


def test_a_recovery_code_is_bound_to_its_account(sqlite_lab: Lab) -> None:
    """Even where the digests of one account were copied into another."""
    factors = SecondFactors(sqlite_lab, b"a secret for the tests, 32 bytes", lambda: START)
    codes = {}
    for name in ("ann", "bob"):
        with sqlite_lab.writing() as connection:
            number = add_researcher(connection, name, "hash", "owner", START)
        factors.begin(number)
        setup = factors.pending(number, name)
        assert setup is not None
        key = base64.b32decode(setup.key.replace(" ", ""))
        code = one_time_password(key, int(START.timestamp()) // PERIOD)
        codes[number] = factors.confirm(number, code)
    ann, bob = codes
    stored = {row["id"]: row["second_factor"] for row in rows_of(sqlite_lab, schema.researchers)}
    copied = stored[bob] | {"recovery": stored[ann]["recovery"]}
    with sqlite_lab.writing() as connection:
        change_researcher(connection, bob, second_factor=copied)
    assert factors.check(bob, codes[ann][0]) is False
    assert factors.check(ann, codes[ann][0]) is True


def test_the_password_opens_the_code_page_for_five_minutes(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    with at_console(service) as visitor, at_console(service, None) as other:
        key, _ = secured(service, visitor, clock)
        assert other.ask("GET", "/console/second-factor").headers["location"] == "/console/login"
        assert given(other, code_now(key, clock)) == "signed out"
        other.log_in("some owner")
        clock.skip(minutes=6)
        assert given(other, code_now(key, clock)) == "signed out"
        other.log_in("some owner")
        visitor.post("/console/logout")  # ends every session, also half of one
        assert given(other, code_now(key, clock)) == "signed out"


def test_a_second_factor_is_removed_with_a_code_or_by_an_owner(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    path = "/console/account-second-factor"
    with at_console(service) as visitor, at_console(service, None) as other:
        join(service, other, "viewer", "second")
        key, _ = secured(service, other, clock)
        other.refused(path, act="remove", code="123456")
        other.refused(path, act="begin")  # no new key over a good one
        assert other.post(path, act="remove", code=code_now(key, clock)).status_code == 303
        assert other.log_in("second").headers["location"] == "/console"
        clock.skip(minutes=1)
        secured(service, other, clock)
        number = str(rows_of(sqlite_lab, schema.researchers)[1]["id"])
        assert other.post("/console/accounts", act="reset", number=number).status_code == 403
        assert visitor.post("/console/accounts", act="reset", number=number).status_code == 303
        assert other.log_in("second").headers["location"] == "/console"
