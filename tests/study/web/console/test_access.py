"""Who may ask for what, walked through route by route and role by role."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.routing import Route

from empathylab.store import Lab, schema
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.web.console import RULES
from empathylab.study.web.console.sign_in.sessions import awaits_code, begin, form_token, is_over
from tests.study.examples import between
from tests.study.service_examples import START, opened, rows_of, someone
from tests.study.web.console.researchers import PASSWORD, Researcher, at_console, join
from tests.study.web.raters import app_of, visiting


def cookie_of(visitor: Researcher) -> tuple[str, str]:
    """The name and the value of the console's cookie."""
    (cookie,) = visitor.client.cookies.items()
    return cookie


SECRET = b"a secret for the tests, 32 bytes"
RANKS = {None: 0, "viewer": 1, "researcher": 2, "owner": 3}
POSTS = [rule for rule in RULES if rule.method == "POST"]


@pytest.mark.parametrize("role", RANKS)
def test_every_route_answers_exactly_the_roles_that_may_have_it(
    sqlite_lab: Lab, role: str | None
) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, role) as visitor:
        for rule in sorted(RULES, key=lambda item: item.path == "/console/logout"):
            if rule.least == "anyone":
                continue
            form = visitor.token("/console/account") or visitor.token("/console/login")
            given = {"data": {"form": form}} if rule.method == "POST" else {}
            answer = visitor.ask(rule.method, rule.path, **given)
            what = (rule.method, rule.path, answer.status_code)
            if RANKS[role] >= RANKS[rule.least]:
                assert answer.status_code not in (401, 403, 405, 500), what
            elif role is None and rule.method == "GET":
                assert answer.headers["location"] == "/console/login", what
            else:
                assert answer.status_code == (401 if role is None else 403), what


def test_who_may_do_what_is_decided_here() -> None:
    """The table of roles once more, so that no change of it goes unnoticed."""
    owners = {"close", "alerts", "peek", "peek-download", "identities", "accounts", "invite"}
    reading = {"conversations", "conversation", "manage", "downloads"}
    least = {
        **dict.fromkeys(("login", "welcome", "second-factor", "language"), "anyone"),
        **dict.fromkeys(("logout", "account", "account-second-factor"), "viewer"),
        **dict.fromkeys(("participant", "review", "find", "conversation"), "researcher"),
        **dict.fromkeys(("manage", "downloads"), "researcher"),
        **dict.fromkeys(owners, "owner"),
    }
    assert {rule.path.removeprefix("/console/"): rule.least for rule in POSTS} == least
    pages = {rule.path.removeprefix("/console/"): rule.least for rule in RULES if rule not in POSTS}
    assert {page for page, role in pages.items() if role == "owner"} == {"accounts"}
    assert {page for page, role in pages.items() if role == "researcher"} == reading
    assert {page for page, role in pages.items() if role == "anyone"} == {
        *("login", "welcome", "second-factor")
    }


def test_every_route_of_the_console_is_in_the_table(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    served = {
        (method, route.path)
        for route in app_of(service).routes
        if isinstance(route, Route) and route.path.startswith("/console")
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert served == {(rule.method, rule.path) for rule in RULES}


def test_no_path_holds_a_parameter() -> None:
    assert not [rule.path for rule in RULES if "{" in rule.path]


def test_no_form_without_its_token_does_anything(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    fields = {
        "act": "pause",
        "name": service.name,
        "role": "owner",
        "reason": "A very good reason",
        "sure": "yes",
        "file": "participants.csv",
    }
    with at_console(service) as visitor:
        before = {name: rows_of(sqlite_lab, table) for name, table in _TABLES.items()}
        for rule in POSTS:
            assert visitor.ask("POST", rule.path, data=fields).status_code == 403, rule.path
            for token in ("", "abc", "ä", _others_token(service)):
                given = fields | {"form": token}
                assert visitor.ask("POST", rule.path, data=given).status_code == 403, rule.path
    assert {name: rows_of(sqlite_lab, table) for name, table in _TABLES.items()} == before


_TABLES = {
    value.name: value
    for value in (
        schema.audit,
        schema.researchers,
        schema.console_links,
        schema.studies,
        schema.login_attempts,
    )
}


def _others_token(service: object) -> str:
    other = Researcher(app_of(service))  # type: ignore[arg-type]
    form = other.token("/console/login")
    other.close()
    assert form
    return form


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_sent_by_another_site_does_nothing(sqlite_lab: Lab, site: str) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as visitor:
        fields = {"form": visitor.token(), "act": "pause"}
        headers = {"Sec-Fetch-Site": site}
        answer = visitor.ask("POST", "/console/manage", data=fields, headers=headers)
    assert answer.status_code == 403
    assert service.actions.status().status == "open"


def test_the_cookie_is_for_the_console_alone(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, None) as visitor:
        plain = visitor.ask("GET", "/console/login").headers["set-cookie"]
        secure = visitor.ask(
            "GET", "https://study.test/console/login", headers={"Cookie": ""}
        ).headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/console", "Max-Age=43200"):
        assert part in plain
    assert "Secure" not in plain
    assert "Secure" in secure


def test_no_page_may_be_framed_or_kept_even_where_raters_pages_are(sqlite_lab: Lab) -> None:
    study = between(recruitment=Recruitment(platform="mturk"))
    service, _ = opened(sqlite_lab, study)
    with at_console(service) as visitor:
        visitor.get("/console/nowhere")
        visitor.ask("POST", "/console/manage")
        for rule in RULES:
            visitor.ask(rule.method, rule.path)
        answers = visitor.sent
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy, answer.request.url
        assert "unsafe" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert "style=" not in answer.text
        assert "<script>" not in answer.text


def test_a_forged_cookie_is_nobodys(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as visitor:
        name, sealed = cookie_of(visitor)
        body, _, signature = sealed.partition(".")
    for value in (f"{body}x.{signature}", f"{body}.{signature[::-1]}", body, ".", "ä", "x" * 9000):
        with at_console(service, None) as visitor:
            answer = visitor.ask("GET", "/console", headers={"Cookie": f"{name}={value}".encode()})
        assert answer.headers.get("location") == "/console/login", value


@pytest.mark.parametrize(
    ("steps", "inside"),
    [([{"hours": 1.9}], True), ([{"hours": 2.1}], False), ([{"hours": 1.9}] * 7, False)],
    ids=["a while", "idle too long", "too long in all"],
)
def test_a_session_ends_after_a_time(
    sqlite_lab: Lab, steps: list[dict[str, float]], inside: bool
) -> None:
    service, clock = opened(sqlite_lab)
    with at_console(service) as visitor:
        for step in steps:
            clock.skip(**step)
            answer = visitor.ask("GET", "/console")
    assert (answer.status_code == 200) == inside


def test_a_session_from_the_future_is_none() -> None:
    session, early = begin(1, START), START - timedelta(minutes=2)
    assert not is_over(session, START - timedelta(seconds=30))  # another server's clock
    assert is_over(session, early)
    assert not awaits_code(begin(0, START, pending=1), early)


def test_every_session_has_forms_of_its_own() -> None:
    session = begin(1, START)
    others = (replace(session, nonce="another"), replace(session, researcher=2))
    assert form_token(session, SECRET) not in {form_token(other, SECRET) for other in others}


def test_a_page_that_renews_itself_keeps_nobody_signed_in(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    with at_console(service) as visitor:
        for expected in (200, 200, 401):
            clock.skip(minutes=50)
            answer = visitor.ask("GET", "/console", headers={"X-Refresh": "1"})
            assert answer.status_code == expected


def test_signing_out_makes_the_cookie_worthless_everywhere(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as visitor:
        name, stolen = cookie_of(visitor)
        assert visitor.post("/console/logout").status_code == 303
        answer = visitor.ask("GET", "/console", headers={"Cookie": f"{name}={stolen}"})
    assert answer.headers["location"] == "/console/login"


def test_a_new_password_signs_out_all_other_browsers(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    fresh = "eleven loud geese in fog"
    with at_console(service) as visitor, at_console(service, None) as other:
        assert other.log_in("some owner").headers["location"] == "/console"
        wrong = visitor.refused("/console/account", old="wrong", password=fresh, again=fresh)
        assert fresh not in wrong.text
        assert fresh not in str(visitor.client.cookies)
        done = visitor.post("/console/account", old=PASSWORD, password=fresh, again=fresh)
        assert done.status_code == 303
        assert visitor.ask("GET", "/console").status_code == 200
        assert other.ask("GET", "/console").headers["location"] == "/console/login"
        assert other.log_in("some owner").headers["location"] == "/console/login"
        assert other.log_in("some owner", fresh).headers["location"] == "/console"


def test_a_refused_form_comes_back_once_and_to_nobody_else(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    words = "".join(chr(0x4E00 + 7 * number) for number in range(2000)) + "x"
    where = f"/console/participant?key={person}"
    fields = {"key": person, "act": "message", "text": words}
    with at_console(service) as owner, at_console(service, None) as other:
        join(service, other, "researcher", "second")
        assert owner.post("/console/participant", **fields).headers["location"] == where
        flash = {name: text for name, text in owner.client.cookies.items() if "flash" in name}
        assert len(flash) == 2
        for name, text in flash.items():
            other.client.cookies.set(name, text)
        assert words not in other.get(where).text
        assert words not in owner.get("/console/manage").text
        assert words in owner.get(where).text
        assert words not in owner.get(where).text
        for name, text in flash.items():
            owner.client.cookies.set(name, text[:-1] + ("A" if text[-1] != "A" else "B"))
        assert words not in owner.get(where).text


def test_a_role_taken_away_holds_at_once(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as owner, at_console(service, None) as other:
        join(service, other, "owner", "second")
        number = next(row["id"] for row in rows_of(sqlite_lab, schema.researchers)[1:])
        assert other.ask("GET", "/console/accounts").status_code == 200
        owner.post("/console/accounts", act="role", number=str(number), role="viewer")
        assert other.ask("GET", "/console/accounts").status_code == 403
        assert other.post("/console/invite", role="owner").status_code == 403
        owner.post("/console/accounts", act="remove", number=str(number))
        assert other.ask("GET", "/console").headers["location"] == "/console/login"


def test_the_last_owner_stays(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as owner:
        for fields in ({"act": "remove"}, {"act": "role", "role": "viewer"}):
            answer = owner.refused("/console/accounts", number="1", **fields)
            assert "The lab needs an owner" in answer.text


def test_an_account_that_is_none_is_refused(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service) as owner:
        for number in ("", "-1", "99", "1; DROP TABLE researchers", "١", "9" * 40):
            answer = owner.post("/console/accounts", act="remove", number=number)
            assert answer.status_code in (400, 303), number
    assert len(rows_of(sqlite_lab, schema.researchers)) == 1


def test_tricks_with_the_path_lead_nowhere(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, None) as visitor:
        for path in (
            "/console/",
            "/console//login",
            "/console/../console/accounts",
            "/console/..%2faccounts",
            "/CONSOLE",
            "/console/accounts/",
            "/console;x",
            "/console/%00",
            "//console/accounts",
        ):
            answer = visitor.ask("GET", path)
            assert answer.status_code in (303, 404), path
            assert "Create a link" not in answer.text


def test_a_form_that_is_too_long_or_no_form_is_refused(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, None) as visitor:
        long = visitor.ask("POST", "/console/login", data={"name": "x" * 70_000})
        other = visitor.ask("POST", "/console/login", json={"name": "x"})
    assert (long.status_code, other.status_code) == (413, 415)
    assert "console" in long.text


def test_a_rater_is_told_nothing_of_the_console(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with visiting(service) as visitor:
        page = visitor.get("/")
    assert "console" not in page.text


def test_two_labs_on_one_host_keep_who_signed_in(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(sqlite_lab)
    with Lab.open(tmp_path / "other") as lab:
        other, _ = opened(lab)
        with at_console(service) as visitor, at_console(other) as elsewhere:
            (own, _), (theirs, _) = cookie_of(visitor), cookie_of(elsewhere)
    assert own != theirs
