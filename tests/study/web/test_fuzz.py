"""Whatever is sent, no page fails, and nothing is stored that a page did not ask for."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.session.service import Finished, Page, Saved, StudyService
from tests.study.examples import BETWEEN
from tests.study.service_examples import Clock, careful, opened, rows_of, someone, walk
from tests.study.web.raters import Read, Visitor, app_of
from tests.study.web.serving import served

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NAMES = st.sampled_from(
    [
        "form",
        "step",
        "from",
        "answers",
        "answer-agree",
        "answer-age",
        "answer-empathy",
        "timing-seconds",
        "timing-losses",
        "answer-",
        "answer-answer-agree",
        "__proto__",
        "",
    ]
)
STEPS = st.sampled_from(["consent", "demographics", "rate/1", "rate/99", "comment", "debrief", "/"])
WORDS = st.one_of(
    STEPS,
    st.text(max_size=60),
    st.sampled_from(["yes", "no", "1", "-1", "9" * 400, "1e999", "NaN", "\0", "%00", "\ud800"]),
    st.sampled_from(["{{ 7*7 }}", "{% raise %}", "'; DROP TABLE places; --", "<script>", "../.."]),
)
BODIES = st.one_of(
    st.binary(max_size=400),
    st.lists(st.tuples(NAMES | st.text(max_size=10), WORDS), max_size=30).map(
        lambda pairs: "&".join(f"{name}={value}" for name, value in pairs).encode(
            "utf-8", "surrogatepass"
        )
    ),
)
PATHS = st.one_of(
    st.sampled_from(
        [
            "/",
            "/page",
            "/back",
            "/draft",
            "/leave",
            "/left",
            "/health",
            "/ready",
            "/static/x",
            "//",
            "/./page",
            "/../page",
            "/page/",
            "/page%00",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/static/..%5c..%5capp.py",
            "/static/%252e%252e/app.py",
            "/PAGE",
            "/page;x=1",
            "/%ff",
        ]
    ),
    st.text(st.characters(codec="ascii", min_codepoint=33), max_size=30).map(
        lambda item: "/" + item
    ),
)
METHODS = st.sampled_from(
    ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH", "X"]
)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "Cookie",
            "Accept-Language",
            "Content-Type",
            "X-Forwarded-Proto",
            "Host",
            "Origin",
            "X-Forwarded-For",
            "Content-Length",
            "Transfer-Encoding",
            "Range",
            "If-None-Match",
        ]
    ),
    st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=200),
    max_size=5,
)
FUZZ = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyService]:
    """One study for all that is sent."""
    with Lab.open(tmp_path_factory.mktemp("fuzz")) as lab:
        opened(lab)
        yield StudyService(lab, "small")


@pytest.fixture
def visitor(service: StudyService) -> Iterator[Visitor]:
    browser = Visitor(app_of(service))
    browser.get("/")
    yield browser
    browser.close()


def answers(service: StudyService) -> list[dict[str, object]]:
    return rows_of(service.lab, schema.page_answers)


@FUZZ
@given(body=BODIES)
@example(body=b"step=consent&answer-agree=yes&answer-agree=no")
@example(body=b"&" * 2000)
def test_forms_without_our_token_store_nothing(
    visitor: Visitor, service: StudyService, body: bytes
) -> None:
    before = answers(service)
    for path in ("/page", "/draft", "/leave"):
        answer = visitor.ask("POST", path, content=body, headers=FORM)
        assert 300 <= answer.status_code < 500
    assert answers(service) == before


@FUZZ
@given(step=STEPS | st.text(max_size=20), more=st.dictionaries(NAMES, WORDS, max_size=8))
def test_forms_with_our_token_store_only_what_a_page_asked_for(
    visitor: Visitor, service: StudyService, step: str, more: dict[str, str]
) -> None:
    form = Read(visitor.get("/leave").text).fields["form"].value
    fields = {
        name: value.encode("utf-8", "replace").decode()
        for name, value in {**more, "form": form, "step": step}.items()
    }
    for path in ("/page", "/draft"):
        answer = visitor.ask("POST", path, data=fields)
        assert answer.status_code < 500
        assert answer.status_code != 403
    for row in answers(service):
        asked = {"consent": {"agree"}, "demographics": {"age", "sex", "town"}}
        given_names = set(row["given"])  # type: ignore[call-overload]
        assert given_names <= asked.get(str(row["step"]), set())
        if row["step"] == "consent":
            assert row["given"] in ({"agree": "yes"}, {"agree": "no"})


@FUZZ
@given(method=METHODS, path=PATHS, headers=HEADERS, query=st.text(max_size=40))
def test_no_request_makes_a_page_fail(
    visitor: Visitor, method: str, path: str, headers: dict[str, str], query: str
) -> None:
    sent = {name: value.encode("latin-1") for name, value in headers.items()}
    request = visitor.client.build_request(
        method, "/page", params={"from": query, "visit": query[:5]}, headers=sent
    )
    try:
        request.url = request.url.copy_with(raw_path=path.encode())
    except httpx.InvalidURL:
        assume(False)  # the client cannot even send it; see the raw requests below
    answer = visitor._runner.run(visitor.client.send(request))
    assert answer.status_code < 500
    assert "Traceback" not in answer.text


def raw(port: int, *parts: bytes) -> bytes:
    """What the server answers to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with contextlib.suppress(OSError):  # it may have heard enough
            for part in parts:
                connection.sendall(part)
        found = b""
        with contextlib.suppress(OSError):
            while more := connection.recv(65536):
                found += more
                connection.settimeout(5)  # it may keep the connection open
                if len(found) > 100_000:
                    break
        return found


def test_a_real_server_outlives_what_is_no_request(service: StudyService) -> None:
    head = b"Host: x\r\nConnection: close\r\n"
    with served(service) as address:
        port = int(address.rpartition(":")[2])
        ten = b"x" * 10_000_000
        for parts in (
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n",),
            (b"GET /page HTTP/9.9\r\n" + head + b"\r\n",),
            (b"GET /\xff\xfe HTTP/1.1\r\n" + head + b"\r\n",),
            (b"GET http://evil.example/page HTTP/1.1\r\n" + head + b"\r\n",),
            (b"GET /../../etc/passwd HTTP/1.1\r\n" + head + b"\r\n",),
            (b"POST /page HTTP/1.1\r\n" + head + b"Content-Length: -5\r\n\r\n",),
            (b"POST /page HTTP/1.1\r\n" + head + b"Content-Length: 9" * 2 + b"\r\n\r\n",),
            (
                b"POST /page HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n"
                b"Content-Length: 3\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
                b"zz\r\n",
            ),
            (
                b"POST /page HTTP/1.1\r\n" + head + b"Content-Length: 10000000\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\n",
                ten,
            ),
            (
                b"POST /draft HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\n",
                b"989680\r\n" + ten + b"\r\n0\r\n\r\n",
            ),
        ):
            answer = raw(port, *parts)
            assert answer.startswith(b"HTTP/1.1 4"), (parts[0][:60], answer[:60])
        fine = raw(port, b"GET /health HTTP/1.1\r\n" + head + b"\r\n")
    assert fine.startswith(b"HTTP/1.1 200")


def test_slow_clients_do_not_hold_up_others(service: StudyService) -> None:
    with served(service) as address, contextlib.ExitStack() as stack:
        port = int(address.rpartition(":")[2])
        for number in range(100):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            slow.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\nX-Slow: %d" % number)
        for _ in range(50):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            slow.sendall(
                b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\nstep="
            )
        fine = raw(port, b"GET /ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert fine.startswith(b"HTTP/1.1 200")


class SmallDisk:
    """A disk on which the lab's file can no longer grow, until there is room."""

    def __init__(self, lab: Lab) -> None:
        self.full = False
        sqlalchemy.event.listen(lab.engine, "begin", self._limit)

    def _limit(self, connection: sqlalchemy.Connection) -> None:
        cursor = connection.connection.cursor()
        cursor.execute(f"PRAGMA max_page_count = {1 if self.full else 1_000_000}")
        cursor.close()


def test_on_a_full_disk_nothing_is_called_saved_and_it_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        disk = SmallDisk(lab)
        study, long = parse_study(BETWEEN), "I could go on about this. " * 380
        service, _ = opened(lab, study)
        visitor = Visitor(app_of(service))
        page = visitor.get("/")
        while Read(page.text).fields["step"].value != "comment":
            person = rows_of(lab, schema.slots)[0]["person"]
            due = service.view(str(person))
            assert isinstance(due, Page)
            page = visitor.send(page, **careful(study, due))
        disk.full = True
        told = visitor.send(page, comment=long)
        assert told.status_code == 503
        assert Read(told.text).title == "Not saved yet"
        assert "Thank you" not in told.text
        assert service.actions.status().outcomes == {}
        kept = Read(told.text).fields["answer-comment"].value
        assert kept == long
        disk.full = False
        end = visitor.send(told)
        assert end.status_code == 200
        assert "Thank you" in end.text
        visitor.close()
        assert service.actions.status().outcomes == {"completed": 1}


@pytest.mark.parametrize("days", [-20_000, -1, 1, 4_000])
def test_a_clock_that_jumps_costs_no_answer(sqlite_lab: Lab, days: int) -> None:
    clock = Clock()
    service, _ = opened(sqlite_lab, clock=clock)
    person = someone(service, "ann")
    page = walk(service, person, until="rate")
    assert isinstance(page, Page)
    clock.skip(days=days)
    assert isinstance(service.submit(person, page.step, careful(service.study, page)), Saved)
    clock.skip(days=-days)
    assert isinstance(walk(service, person), Finished)
    assert service.actions.status().outcomes == {"completed": 1}
