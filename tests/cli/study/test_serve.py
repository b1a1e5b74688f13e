"""`empathylab study serve` as a real process, visited over HTTP."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
import sqlalchemy
from typer.testing import CliRunner

from empathylab.cli import study
from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study.session.service import StudyService, launch
from tests.helpers.studies import form, furnished, serving, study_file, visit
from tests.helpers.waiting import wait_until
from tests.study.recruiting.prolific_server import STUDY, TOKEN, prolific, submission
from tests.study.web.raters import Read


def refused(*arguments: object) -> str:
    """What is said where the command refuses; nothing is printed as a result."""
    done = CliRunner().invoke(study.app, [str(argument) for argument in arguments])
    assert isinstance(done.exception, UserError), done
    assert done.stdout == ""
    return str(done.exception)


@pytest.mark.slow
def test_a_study_is_launched_visited_stopped_and_served_again(tmp_path: Path) -> None:
    small = furnished(tmp_path / "lab")
    file = study_file(tmp_path)
    with serving(file, "--lab", tmp_path / "lab") as server:
        assert server.links["rater_link"] == f"{server.address}/"
        assert len(server.links["protocol_hash"]) == 64
        with httpx.Client(base_url=server.address, follow_redirects=True) as client:
            assert client.get("/health").text == "ok\n"
            assert client.get("/ready").text == "ready\n"
            page = visit(client, small, "/", until="rate/2")
            cookies = dict(client.cookies)
        assert server.stop(signal.SIGTERM) == 0
        assert "All answers are kept" in server.said[-1]
        assert any("frozen from now on" in line for line in server.said)
        first = server.links["protocol_hash"]
    with serving("small", "--lab", tmp_path / "lab") as server:
        assert server.links["protocol_hash"] == first
        with httpx.Client(
            base_url=server.address, follow_redirects=True, cookies=cookies
        ) as client:
            again = client.get("/page")
            assert Read(again.text).fields["step"].value == Read(page.text).fields["step"].value
            end = visit(client, small, "/page")
        assert Read(end.text).title == "Thank you" or "Thank you" in end.text
        assert server.stop(signal.SIGINT) == 130
        assert "Traceback" not in "".join(server.said)
    with Lab.open(tmp_path / "lab") as lab:
        assert StudyService(lab, "small").actions.status().outcomes == {"completed": 1}
    assert "Did you mean 'small'" in refused("serve", "smal", "--lab", tmp_path / "lab")


def test_a_request_under_way_is_finished_when_the_server_is_told_to_stop(tmp_path: Path) -> None:
    small = furnished(tmp_path / "lab")
    with serving(study_file(tmp_path), "--lab", tmp_path / "lab") as server:
        with httpx.Client(base_url=server.address, follow_redirects=True) as client:
            page = client.get("/")
            body = urlencode(form(small, page)).encode()
            (cookie,) = client.cookies.items()
            head = (
                "POST /page HTTP/1.1\r\nHost: study.test\r\nExpect: 100-continue\r\n"
                "Content-Type: application/x-www-form-urlencoded\r\n"
                f"Content-Length: {len(body)}\r\nCookie: {'='.join(cookie)}\r\n\r\n"
            )
        where = httpx.URL(server.address)
        with socket.create_connection((where.host, where.port), timeout=60) as line:
            line.sendall(head.encode())
            assert b"100 Continue" in line.recv(1000)  # the app waits for the body
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not accepts(where))
            assert server.process.poll() is None
            line.sendall(body)
            assert line.recv(1000).startswith(b"HTTP/1.1 303")
        assert server.wait() == 0
    with Lab.open(tmp_path / "lab") as lab:
        [person] = StudyService(lab, small.name).actions.participants()
    assert person.answered == 1


def accepts(where: httpx.URL) -> bool:
    """Whether anybody is let in at the address."""
    try:
        socket.create_connection((where.host, where.port), timeout=5).close()
    except OSError:
        return False
    return True


def test_the_log_of_a_whole_visit_tells_nothing_of_the_person(tmp_path: Path) -> None:
    small = furnished(tmp_path / "lab")
    file = study_file(tmp_path, recruitment="{platform: prolific, codes: {completed: DONE-1}}")
    ids = "PROLIFIC_PID=person-4711&STUDY_ID=study-4712&SESSION_ID=session-4713"
    with serving(file, "--lab", tmp_path / "lab") as server:
        with httpx.Client(base_url=server.address, follow_redirects=True) as client:
            visit(client, small, f"/?{ids}")
            client.get("/person-4711")
            (cookie,) = client.cookies.values()
        assert server.stop(signal.SIGTERM) == 0
        said = "".join(server.said)
        requests = server.requests
    with Lab.open(tmp_path / "lab") as lab:
        [person] = StudyService(lab, "small").actions.participants()
    assert person.outcome == "completed"
    for secret in ("4711", "4712", "4713", person.person, cookie, "127.0.0.1", "DONE-1", "?"):
        assert secret not in said
    assert {request["route"] for request in requests} == {"/", "/page", "other"}
    assert {request["status"] for request in requests} == {200, 303, 404}
    assert all(
        {"time", "method", "milliseconds", "worker"} <= request.keys() for request in requests
    )
    assert len(requests) == 2 + 2 * (person.answered) + 1


def test_the_links_are_the_platforms_and_without_json_lines_only_problems_are_said(
    tmp_path: Path,
) -> None:
    furnished(tmp_path / "lab")
    file = study_file(tmp_path, recruitment="{platform: prolific, codes: {completed: DONE-1}}")
    with serving(file, "--lab", tmp_path / "lab", "--no-json-logs") as server:
        assert server.links["rater_link"].endswith(
            "/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        )
        page = httpx.get(server.links["test_link"], follow_redirects=True)
        assert page.status_code == 200
        server.stop(signal.SIGTERM)
        assert not server.requests
    with Lab.open(tmp_path / "lab") as lab:
        status = StudyService(lab, "small").actions.status()
    assert (status.arrivals, status.tests) == (0, 1)


def test_a_port_in_use_is_one_sentence_and_launches_nothing(tmp_path: Path) -> None:
    furnished(tmp_path / "lab")
    file = study_file(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("serve", file, "--port", str(port), "--lab", tmp_path / "lab")
    assert f"127.0.0.1:{port}: another program already uses this address" in said
    assert "no launched study" in refused("status", "small", "--lab", tmp_path / "lab")


def test_a_changed_file_of_a_launched_study_is_refused_with_what_changed(tmp_path: Path) -> None:
    small = furnished(tmp_path / "lab")
    with Lab.open(tmp_path / "lab") as lab:
        launch(lab, small, now=now())
    file = study_file(tmp_path, title="Another title", batch_size="3")
    said = refused("serve", file, "--lab", tmp_path / "lab", "--port", "0")
    assert "title, batch_size changed" in said
    assert "set version to 2" in said
    done = CliRunner().invoke(study.app, ["check", str(file), "--lab", str(tmp_path / "lab")])
    assert done.exit_code == 2
    assert "title, batch_size changed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--workers", "2"], "several server processes need a lab on PostgreSQL"),
        (["--host", "no.such.host.invalid"], "there is no such address"),
        (["--proxy", "somewhere"], "a proxy must be given as an address or network"),
        (["--public-url", "lab.example.org"], "this must be an address without parameters"),
        (["--public-url", "https://lab.example.org"], "Add --behind-proxy"),
        (["--root-path", "study"], "a path that begins with a slash"),
    ],
)
def test_settings_that_cannot_be_are_one_sentence(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    furnished(tmp_path / "lab")
    said = refused("serve", study_file(tmp_path), "--lab", tmp_path / "lab", *arguments)
    assert sentence in said
    with Lab.open(tmp_path / "lab") as lab, lab.reading() as connection:
        assert connection.execute(sqlalchemy.select(schema.studies)).all() == []


def test_brackets_that_nobody_filled_in_are_not_shown_to_raters(tmp_path: Path) -> None:
    furnished(tmp_path / "lab")
    file = study_file(tmp_path, title="A study of [[what]]")
    said = refused("serve", file, "--lab", tmp_path / "lab", "--port", "0")
    assert "small.yaml: text in [[double brackets]] is not filled in yet; got 'title'" in said


def test_a_study_that_cannot_be_launched_leaves_no_lab_behind(tmp_path: Path) -> None:
    said = refused("serve", study_file(tmp_path), "--lab", tmp_path / "lab", "--port", "0")
    assert "The arm 'one' has no responses of first/model" in said
    assert not (tmp_path / "lab").exists()


def test_a_server_that_is_told_to_stop_at_once_stops(tmp_path: Path) -> None:
    furnished(tmp_path / "lab")
    with serving(study_file(tmp_path), "--lab", tmp_path / "lab") as server:
        assert server.stop(signal.SIGTERM) in (0, -signal.SIGTERM)


def test_prolific_is_asked_while_the_study_is_served_and_frees_places(tmp_path: Path) -> None:
    small = furnished(tmp_path / "lab")
    file = study_file(tmp_path, recruitment="{platform: prolific, codes: {completed: DONE-1}}")
    with serving(file, "--lab", tmp_path / "lab") as server:
        with httpx.Client(base_url=server.address, follow_redirects=True) as client:
            visit(client, small, f"/?PROLIFIC_PID=p1&STUDY_ID={STUDY}&SESSION_ID=s1", "rate/1")
        server.stop(signal.SIGTERM)
    with prolific() as platform:
        platform.studies[STUDY] = [submission("p1", "RETURNED")]
        settings = {"PROLIFIC_API_TOKEN": TOKEN, "PROLIFIC_BASE_URL": platform.address}
        with serving("small", "--lab", tmp_path / "lab", **settings) as server:
            wait_until(lambda: statuses(tmp_path / "lab") == ["returned"])
            assert server.stop(signal.SIGTERM) == 0
            assert TOKEN not in "".join(server.said)


def statuses(folder: Path) -> list[str]:
    with Lab.open(folder) as lab:
        return [
            str(participant.status)
            for participant in StudyService(lab, "small").actions.participants()
        ]
