"""Headers, cookies, limits, and input that nobody expects."""

from __future__ import annotations

import json
import logging
import random
import socket
import string

import pytest

from empathylab.study import parse_study
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.web.logs import REQUESTS
from tests.study.examples import BETWEEN, altered
from tests.study.web.desk import Desk
from tests.study.web.raters import Read, visiting
from tests.study.web.serving import served


def small(platform: str = "open") -> Desk:
    recruitment = Recruitment(platform=platform, codes={"completed": "C1"})  # type: ignore[arg-type]
    return Desk(altered(parse_study(BETWEEN), recruitment=recruitment))


def test_no_page_may_run_or_load_anything_that_is_not_ours() -> None:
    with visiting(small()) as visitor:
        visitor.get("/")
        visitor.get("/nowhere")
        answers = visitor.sent
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "<script>" not in answer.text
        assert "style=" not in answer.text


def test_the_cookie_is_for_the_server_alone() -> None:
    with visiting(small()) as visitor:
        cookie = visitor.ask("GET", "/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
def test_a_cookie_that_came_over_tls_stays_there(scheme: str, secure: bool) -> None:
    with visiting(small()) as visitor:
        answer = visitor.ask("GET", f"{scheme}://study.test/")
    assert ("Secure" in answer.headers["set-cookie"]) == secure
    assert "SameSite=lax" in answer.headers["set-cookie"]
    assert ("strict-transport-security" in answer.headers) == secure


def test_the_app_itself_believes_no_proxy() -> None:
    with visiting(small()) as visitor:
        answer = visitor.ask("GET", "/", headers={"X-Forwarded-Proto": "https"})
    assert "Secure" not in answer.headers["set-cookie"]
    assert "strict-transport-security" not in answer.headers


def test_a_frame_of_the_platform_may_keep_the_cookie_over_tls() -> None:
    link = "/?assignmentId=a&hitId=h&workerId=w&turkSubmitTo=https://www.mturk.com"
    with visiting(small("mturk")) as visitor:
        cookie = visitor.ask("GET", f"https://study.test{link}").headers
    assert "SameSite=none" in cookie["set-cookie"]
    assert "Secure" in cookie["set-cookie"]
    assert "Partitioned" in cookie["set-cookie"]
    with visiting(small("mturk")) as visitor:  # browsers keep no such cookie without TLS
        assert "SameSite=lax" in visitor.ask("GET", link).headers["set-cookie"]


@pytest.mark.parametrize("path", ["/page", "/draft", "/leave"])
@pytest.mark.parametrize("token", [None, "", "abc", "ä"])
def test_a_form_without_its_token_changes_nothing(path: str, token: str | None) -> None:
    desk = small()
    fields = {"step": "consent", "answer-agree": "yes", "answers": "delete"}
    if token is not None:
        fields["form"] = token
    with visiting(desk) as visitor:
        visitor.get("/")
        assert visitor.ask("POST", path, data=fields).status_code == 403
    assert (desk.stored, desk.left, desk.drafts) == (0, {}, {})


@pytest.mark.parametrize("path", ["/page", "/draft", "/leave"])
def test_a_form_longer_than_any_page_is_refused(path: str) -> None:
    with visiting(small()) as visitor:
        visitor.get("/")
        told = visitor.ask("POST", path, data={"step": "x" * 600_000})

        async def pieces():  # type: ignore[no-untyped-def]
            for _ in range(60):
                yield b"a=" + b"x" * 10_000

        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        untold = visitor.ask("POST", path, content=pieces(), headers=kind)
    assert (told.status_code, untold.status_code) == (413, 413)
    assert "Nothing from that page was saved" in " ".join(told.text.split())


@pytest.mark.parametrize("kind", ["", "application/json", "multipart/form-data; boundary=x"])
def test_what_is_no_plain_form_is_refused(kind: str) -> None:
    with visiting(small()) as visitor:
        answer = visitor.ask("POST", "/page", content=b"{}", headers={"Content-Type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize(
    "path",
    [
        "/static",
        "/static/",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/study.css%00",
        "/static//etc/passwd",
        "/templates/page.html.j2",
        "/.git/config",
        "http://study.test//evil.test/page",
        "/page/",
    ],
)
def test_nothing_lies_beside_the_pages(path: str) -> None:
    with visiting(small()) as visitor:
        answer = visitor.ask("GET", path)
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_the_log_names_pages_and_never_people(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger=REQUESTS)
    with visiting(small("prolific")) as visitor:
        visitor.get("/?PROLIFIC_PID=person-77")
        visitor.get("/person-77")
    said = [record.getMessage() for record in caplog.records if record.name == REQUESTS]
    lines = [json.loads(line) for item in said for line in item.splitlines()]
    assert [line["route"] for line in lines] == ["/", "/page", "other"]
    assert [line["status"] for line in lines] == [303, 200, 404]
    assert "person-77" not in "".join(
        record.message for record in caplog.records if "httpx" not in record.name
    )


def test_random_requests_are_answered_without_a_failure_and_store_nothing() -> None:
    chance = random.Random(11)
    desk = small()
    letters = string.printable + "äß€\u202e\U0001f600"

    def noise(most: int) -> str:
        return "".join(chance.choices(letters, k=chance.randrange(most)))

    names = ["step", "form", "from", "answers", "answer-agree", "timing-seconds", "answer-", ""]
    paths = ["/", "/page", "/back", "/draft", "/leave", "/left", "/static/x", "/health", "/ready"]
    methods = ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"]
    with visiting(desk) as visitor:
        token = Read(visitor.get("/").text).fields["form"].value
        for _ in range(400):
            fields = {chance.choice(names) + noise(3) * chance.randrange(2): noise(60)}
            if chance.random() < 0.7:
                fields |= {"form": token, "step": chance.choice(["consent", "rate/1", noise(20)])}
            answer = visitor.ask(
                chance.choice(methods),
                chance.choice(paths),
                params={chance.choice(["from", "visit", "language", "x"]): noise(30)},
                data=fields,
                headers={"Accept-Language": chance.choice(["de", "*", ";;,", "x" * 500])},
            )
            assert answer.status_code < 500, answer.request.url
    assert desk.stored == 0


def test_bytes_that_are_no_text_are_no_failure() -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    chance = random.Random(5)
    with visiting(small()) as visitor:
        token = Read(visitor.get("/").text).fields["form"].value.encode()
        for _ in range(100):
            body = b"form=" + token + b"&step=consent&answer-agree=" + chance.randbytes(40)
            answer = visitor.ask("POST", "/page", content=body, headers=kind)
            assert answer.status_code in (303, 403)
        many = b"&".join(b"a%d=1" % number for number in range(5000))
        assert visitor.ask("POST", "/page", content=many, headers=kind).status_code == 400


def test_a_real_server_refuses_huge_headers_and_goes_on() -> None:
    with served(small()) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 200_000 + b"\r\n")
            refused = connection.recv(200)
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            fine = connection.recv(200)
    assert refused.startswith(b"HTTP/1.1 4")
    assert fine.startswith(b"HTTP/1.1 200")
    assert b"server:" not in fine.lower()


def test_a_form_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empathylab.study.web.forms.MOST_SECONDS", 0.2)
    with served(small()) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(
                b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\na="
            )
            answer = connection.recv(200)
    assert answer.startswith(b"HTTP/1.1 408")
