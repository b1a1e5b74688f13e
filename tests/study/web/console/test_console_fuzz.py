"""Whatever is sent to the console, by any role: no page fails, no role reaches further."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import argon2
import httpx
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from empathylab.store import Lab, schema
from empathylab.store.studies.researchers import ROLES
from empathylab.study.session.service import StudyService
from empathylab.study.web.console import RULES
from empathylab.study.web.console.access import Rule
from empathylab.study.web.console.sign_in import passwords
from tests.study.service_examples import rows_of
from tests.study.web.console.researchers import Researcher, busy, join
from tests.study.web.raters import app_of
from tests.study.web.serving import served
from tests.study.web.test_fuzz import raw

RANKS = {"nobody": 0, "viewer": 1, "researcher": 2, "owner": 3}
POSTS = [rule for rule in RULES if rule.method == "POST" and rule.path != "/console/logout"]
GETS = [rule for rule in RULES if rule.method == "GET"]
ODD = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["", "\0", "%00", "9" * 400, "-1", "١", "NaN", "a" * 5000, "\r\nX: y"]),
    st.sampled_from(["{{ 7*7 }}", "'; DROP TABLE places; --", "<script>", "../../lab.sqlite"]),
)
ACTS = ("pause", "resume", "stop-arm", "resume-arm", "role", "remove")
REVIEWS = ("approve", "reject", "exclude", "free", "message")
FILES = ("participants.csv", "ratings.csv", "package.zip", "identities.csv", "../lab.sqlite", "/")
KNOWN: dict[str, st.SearchStrategy[str]] = {
    "act": st.sampled_from(ACTS + REVIEWS),
    "arm": st.sampled_from(["one", "two", "three"]),
    "file": st.sampled_from(FILES),
    "name": st.sampled_from(["small", "some owner", "first owner"]),
    "reason": st.just("A reason that is long enough"),
    "sure": st.just("yes"),
    "role": st.sampled_from(["owner", "viewer", "root"]),
    # No account of these tests: one that is removed could not send what is still to come.
    "number": st.sampled_from(["0", "99", "-1", "1e0", "1 OR 1=1"]),
    "password": st.sampled_from(["", "short", "nine calm otters at noon"]),
    "again": st.just("nine calm otters at noon"),
    "old": st.just("wrong"),
    "link": st.just("no-such-link"),
    "text": st.just("A word to you"),
    "page": st.sampled_from(["0", "2", "9999999", "-3"]),
    "status": st.sampled_from(["finished", "live", "x"]),
    "world": st.sampled_from(["person", "test", "x"]),
    "done": st.sampled_from(["pause", "password", "x"]),
}
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        # A number that is text of any kind might be someone's.
        name: known if name == "number" else known | ODD
        for name, known in KNOWN.items()
    },
)
WATCHED = {
    value.name: value
    for value in (
        *(schema.audit, schema.console_links, schema.invitations, schema.messages, schema.people),
        *(schema.slots, schema.ratings, schema.raters, schema.researchers, schema.studies),
        *(schema.arms, schema.page_answers, schema.departures),
    )
}
"""What a form may change; attempts to log in are counted elsewhere."""
FUZZ = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@dataclass(frozen=True)
class Staff:
    """People of all roles at the console of one study."""

    service: StudyService
    visitors: dict[str, Researcher]
    tokens: dict[str, str]
    key: str
    """Of someone who finished."""

    def kept(self) -> dict[str, list[dict[str, object]]]:
        """All that a form may change."""
        return {name: rows_of(self.service.lab, table) for name, table in WATCHED.items()}

    def ask(self, role: str, rule: Rule, fields: dict[str, str]) -> httpx.Response:
        """The answer to a request with these fields; a post has the token that its page has."""
        sent = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
        if rule.method == "GET":
            return self.visitors[role].ask("GET", rule.path, params=sent)
        return self.visitors[role].ask("POST", rule.path, data={**sent, "form": self.tokens[role]})


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    """One lab for all that is sent."""
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    with pytest.MonkeyPatch.context() as patch, Lab.open(tmp_path_factory.mktemp("desk")) as lab:
        patch.setattr(passwords, "_hasher", lambda: quick)
        busy(lab, people=2)
        service = StudyService(lab, "small")
        visitors = {role: Researcher(app_of(service)) for role in RANKS}
        for role in ROLES:
            join(service, visitors[role], role)
        pages = {
            role: "/console/account" if rank else "/console/login" for role, rank in RANKS.items()
        }
        tokens = {role: visitors[role].token(page) for role, page in pages.items()}
        key = next(
            participant.person
            for participant in service.actions.participants()
            if participant.status == "finished"
        )
        yield Staff(service, visitors, tokens, key)
        for visitor in visitors.values():
            visitor.close()


def lacks(role: str, rule: Rule) -> bool:
    """Whether the role is not enough."""
    return rule.least != "anyone" and RANKS[role] < RANKS[rule.least]


@FUZZ
@given(
    role=st.sampled_from(list(RANKS)),
    rule=st.sampled_from(POSTS),
    fields=FIELDS,
    real=st.booleans(),
)
@example(
    "researcher",
    next(post for post in POSTS if post.path == "/console/close"),
    {"name": "small"},
    True,
)
@example(
    "viewer",
    next(post for post in POSTS if post.path == "/console/participant"),
    {"act": "exclude", "reason": "because"},
    True,
)
def test_no_form_makes_the_console_fail_or_reaches_beyond_its_senders_role(
    staff: Staff, role: str, rule: Rule, fields: dict[str, str], real: bool
) -> None:
    before = staff.kept()
    answer = staff.ask(
        role, rule, {**fields, "key": staff.key if real else fields.get("text", "x")}
    )
    after = staff.kept()
    assert answer.status_code < 500
    assert "Traceback" not in answer.text
    if lacks(role, rule):
        assert answer.status_code == (403 if RANKS[role] else 401)
        assert after == before
    if answer.status_code >= 400:
        assert after == before
    for name in ("page_answers", "ratings", "people", "departures"):
        assert after[name] == before[name]  # no form of the console writes answers
    assert [researcher["role"] for researcher in after["researchers"]] == [
        researcher["role"] for researcher in before["researchers"]
    ]
    assert {item["who"] for item in after["audit"][len(before["audit"]) :]} <= {f"some {role}"}


@FUZZ
@given(role=st.sampled_from(list(RANKS)), rule=st.sampled_from(GETS), fields=FIELDS)
def test_no_address_makes_the_console_fail_and_looking_changes_nothing(
    staff: Staff, role: str, rule: Rule, fields: dict[str, str]
) -> None:
    before = staff.kept()
    answer = staff.ask(role, rule, {**fields, "key": fields.get("text", staff.key)})
    assert answer.status_code < 500
    assert staff.kept() == before
    if lacks(role, rule):
        there = answer.headers.get("location")
        assert there == "/console/login" if role == "nobody" else answer.status_code == 403


@FUZZ
@given(
    role=st.sampled_from(["nobody", "viewer"]),
    rule=st.sampled_from([rule for rule in GETS if rule.least in ("researcher", "owner")]),
    at=st.integers(0, 8),
    trick=st.sampled_from(
        [
            "/",
            "//",
            "/./",
            "/../",
            "%2f",
            "%2F",
            "%00",
            ";x=1",
            "%252f",
            "\\",
            "?",
            "#",
            " ",
            "%20",
            "%ff",
            "..;/",
        ]
    ),
)
def test_no_trick_with_a_path_opens_a_page_to_a_lesser_role(
    staff: Staff, role: str, rule: Rule, at: int, trick: str
) -> None:
    where = min(at, len(rule.path))
    path = rule.path[:where] + trick + rule.path[where:]
    request = staff.visitors[role].client.build_request("GET", "/console")
    try:
        request.url = request.url.copy_with(raw_path=path.encode())
    except httpx.InvalidURL:
        assume(False)
    answer = staff.visitors[role]._runner.run(staff.visitors[role].client.send(request))
    assert answer.status_code < 500
    own = "/console" if role == "viewer" else "/console/login"
    if answer.status_code == 200:
        assert request.url.path in (own, "/"), path


def test_no_name_of_a_file_brings_ratings_before_the_study_is_closed(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab, people=1)
    visitor = Researcher(app_of(service))
    join(service, visitor, "researcher")
    for file in (*FILES, "", "ratings.csv/../ratings.csv", "RATINGS.CSV", "ratings.csv\0", "*"):
        answer = visitor.post("/console/downloads", file=file)
        sent = answer.headers.get("content-disposition", "")
        assert answer.status_code in (200, 303, 404), file
        assert ("participants.csv" in sent) == (answer.status_code == 200), file
        assert b"empathy" not in answer.content, file
    visitor.close()


def test_the_consoles_server_outlives_long_and_slow_forms(staff: Staff) -> None:
    head = b"Host: x\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    ten = b"name=" + b"x" * 10_000_000
    with served(staff.service) as address, contextlib.ExitStack() as stack:
        port = int(address.rpartition(":")[2])
        for rule in POSTS[:3]:
            post = b"POST %s HTTP/1.1\r\n" % rule.path.encode() + head
            for parts in (
                (post + b"Content-Length: %d\r\n\r\n" % len(ten), ten),
                (
                    post + b"Transfer-Encoding: chunked\r\n\r\n",
                    b"989685\r\n" + ten + b"\r\n0\r\n\r\n",
                ),
                (post + b"Content-Length: -1\r\n\r\n",),
            ):
                assert raw(port, *parts).startswith(b"HTTP/1.1 4"), parts[0]
        for _ in range(60):  # more than there are threads
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            slow.sendall(
                b"POST /console/login HTTP/1.1\r\n" + head + b"Content-Length: 500\r\n\r\nname="
            )
        asked = raw(port, b"GET /console/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert asked.startswith(b"HTTP/1.1 200")
