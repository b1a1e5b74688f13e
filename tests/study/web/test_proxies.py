"""A served study behind a proxy that ends TLS: cookies, redirects, paths, and whom to believe."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

import httpx
import psutil
import pytest

from empathylab.store import Lab
from empathylab.study.web.serving import LOOPBACK, Serving, server_config
from tests.helpers.proxies import proxied
from tests.helpers.studies import furnished, serving, study_file, visit
from tests.study.service_examples import opened
from tests.study.web.raters import Read

FORGED = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "9.9.9.9"}


def test_a_rater_behind_a_tls_proxy_comes_to_the_end(tmp_path: Path) -> None:
    study = furnished(tmp_path / "lab")
    with serving(
        *(study_file(tmp_path), "--lab", tmp_path / "lab", "--behind-proxy"),
        *("--public-url", "https://localhost/people/study"),
    ) as server:
        assert server.links["rater_link"] == "https://localhost/people/study/"
        port = listening_port(server.process.pid)
        upstream = f"http://127.0.0.1:{port}"
        with proxied(upstream, "/people/study", tmp_path) as (address, trusted):
            with httpx.Client(base_url=f"{address}/", verify=trusted) as client:
                arrived = client.get("")
                assert arrived.headers["location"] == "/people/study/page"
                [cookie] = arrived.headers.get_list("set-cookie")
                assert {"Secure", "HttpOnly", "Path=/people/study", "SameSite=lax"} <= {
                    part.strip() for part in cookie.split(";")
                }
                assert "max-age" in arrived.headers["strict-transport-security"]
                client.follow_redirects = True
                page = client.get("page")
                sheet = next(
                    part.split('"')[0]
                    for part in page.text.split('href="')
                    if ".css" in part.split('"')[0]
                )
                assert sheet.startswith("/people/study/static/")
                assert client.get(httpx.URL(address).join(sheet)).status_code == 200
                end = visit(client, study, "page")
                assert Read(end.text).title == "A small study"
                assert "Thank you" in end.text
        assert server.stop(signal.SIGTERM) == 0
        assert {request["route"] for request in server.requests} == {"/", "/page", "/static/{name}"}


@pytest.mark.parametrize(
    ("proxies", "client", "secure"),
    [
        ((), "127.0.0.1", False),
        (LOOPBACK, "127.0.0.1", True),
        (LOOPBACK, "::1", True),
        (LOOPBACK, "10.1.2.3", False),
        (("10.1.2.0/24",), "10.1.2.3", True),
        (("10.1.2.0/24",), "127.0.0.1", False),
    ],
)
def test_only_a_named_proxy_is_believed(
    sqlite_lab: Lab, proxies: tuple[str, ...], client: str, secure: bool
) -> None:
    service, _ = opened(sqlite_lab)
    serves = Serving(sqlite_lab.folder, service.study, service.launched.secret, proxies)
    config = server_config(serves)
    config.load()

    async def arrive() -> httpx.Response:
        transport = httpx.ASGITransport(config.loaded_app, client=(client, 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://study.test") as visitor:
            return await visitor.get("/", headers=FORGED)

    arrived = asyncio.run(arrive())
    assert arrived.status_code == 303
    assert ("Secure" in arrived.headers["set-cookie"]) == secure
    assert ("strict-transport-security" in arrived.headers) == secure


def listening_port(pid: int) -> int:
    """At which port the process listens, where its links name another address."""
    [port] = {
        connection.laddr.port
        for connection in psutil.Process(pid).net_connections("tcp")
        if connection.status == "LISTEN" and connection.family == socket.AF_INET
    }
    return int(port)
