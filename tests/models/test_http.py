"""The HTTP client against servers that frame and break answers in every way."""

from __future__ import annotations

import asyncio
import base64
import gzip
import shutil
import ssl
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from empathylab.models.http import (
    Answer,
    BrokenConnection,
    CannotConnect,
    HttpClient,
    proxy_for,
)
from empathylab.models.http_answers import AnswerReader

OK = b"HTTP/1.1 200 OK\r\n"


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    return head + await reader.readexactly(length)


def asked(
    *answers: bytes | tuple[bytes, ...],
    times: int = 1,
    scheme: str = "http",
    tls: ssl.SSLContext | None = None,
) -> tuple[list[Answer], list[bytes], int]:
    """The answers, the requests, and how many connections were made.

    Each connection gets the answers in turn, in pieces where a tuple is given, and is then closed.
    """
    requests: list[bytes] = []
    handlers: list[Any] = []
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        handlers.append(asyncio.current_task())
        try:
            for answer in answers:
                requests.append(await _request(reader))
                for piece in answer if isinstance(answer, tuple) else (answer,):
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.01)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def once() -> list[Answer]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        host = "localhost" if tls else "127.0.0.1"
        client = HttpClient(urlsplit(f"{scheme}://{host}:{port}"), {"X-Key": "k"})
        try:
            return [await client.request("POST", "/p", b"body") for _ in range(times)]
        finally:
            client.close()
            server.close()
            await asyncio.gather(*handlers)
            await asyncio.sleep(0.02)

    found = asyncio.run(once())
    return found, requests, connections


PLAIN = OK + b"Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"


def test_a_request_is_complete_and_its_answer_read() -> None:
    [answer], [request], _ = asked(PLAIN)
    assert answer == (200, {"content-type": "text/plain", "content-length": "5"}, b"hello")
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /p HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X-Key: k" in head
    assert b"Content-Length: 4" in head
    assert body == b"body"


def test_a_connection_is_used_again() -> None:
    answers, requests, connections = asked(PLAIN, PLAIN, PLAIN, times=3)
    assert [answer.content for answer in answers] == [b"hello"] * 3
    assert (len(requests), connections) == (3, 1)


def sized(content: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(content), content)


@pytest.mark.parametrize(
    "framed",
    [
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN,
        OK + b"\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        OK + b"Content-Encoding: gzip\r\n" + sized(gzip.compress(b"hello", mtime=0)),
        OK + b"Content-Encoding: deflate\r\n" + sized(zlib.compress(b"hello")),
        OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello", mtime=0),
    ],
)
@pytest.mark.parametrize("piece", [1_000, 7])
def test_every_framing_is_understood_whole_and_in_pieces(framed: bytes, piece: int) -> None:
    pieces = tuple(framed[start : start + piece] for start in range(0, len(framed), piece))
    [answer], _, _ = asked(pieces)
    assert answer.content == b"hello"


def test_a_connection_that_the_server_ends_is_not_used_again() -> None:
    closing = OK + b"Connection: x, close\r\nContent-Length: 5\r\n\r\nhello"
    answers, _, connections = asked(closing, times=2)
    assert [answer.content for answer in answers] == [b"hello"] * 2
    assert connections == 2


def test_an_answer_without_content_ends_at_its_head() -> None:
    [answer], _, _ = asked(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert (answer.status, answer.content) == (204, b"")


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"HTTP/1.1 200",
        OK + b"Content-Length: 50\r\n\r\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhel",
        OK + b"Content-Length: many\r\n\r\nhello",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\nhello",
        OK + b"Content-Length: 999999999999\r\n\r\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhelXX2\r\nlo\r\n0\r\n\r\n",
        OK + b"Content-Encoding: gzip\r\n" + sized(b"hello"),
        OK + b"Content-Encoding: gzip\r\n" + sized(gzip.compress(b"hello", mtime=0)[:-4]),
        OK + b"Content-Encoding: br\r\n" + sized(b"hello"),
        OK + b"X-Long: " + b"x" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_broken_answer_is_an_error(broken: bytes) -> None:
    with pytest.raises(BrokenConnection):
        asked(broken)


def test_nobody_there_is_an_error() -> None:
    async def once() -> None:
        client = HttpClient(urlsplit("http://127.0.0.1:1"), {})
        await client.request("GET", "/")

    with pytest.raises(CannotConnect, match="127.0.0.1:1"):
        asyncio.run(once())


def test_a_cancelled_request_leaves_its_connection() -> None:
    """Its answer may still come, and must not be taken for that of the next request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.current_task())
        request = await _request(reader)
        if b"slow" in request:
            await asyncio.sleep(0.2)
        writer.write(OK + b"Content-Length: 4\r\n\r\n" + request[-4:])
        await asyncio.sleep(0.3)
        writer.close()

    handlers: list[Any] = []

    async def once() -> bytes:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        client = HttpClient(urlsplit(f"http://127.0.0.1:{port}"), {})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.request("POST", "/", b"slow")
        answer = await client.request("POST", "/", b"fast")
        client.close()
        server.close()
        await asyncio.gather(*handlers)
        return answer.content

    assert asyncio.run(once()) == b"fast"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    file = tmp_path / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    parts = [(tmp_path / name).read_text() for name in ("key.pem", "cert.pem")]
    file.write_text("".join(parts))
    return file


def test_tls_is_spoken_with_those_who_are_trusted(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    [answer], _, _ = asked(PLAIN, scheme="https", tls=serving)
    assert answer.content == b"hello"


def test_an_unknown_certificate_is_refused(certificate: Path) -> None:
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    with pytest.raises(CannotConnect, match="certificate"):
        asked(PLAIN, scheme="https", tls=serving)


def test_a_connection_that_was_closed_while_idle_is_replaced() -> None:
    """The server ends it just when the next request is sent: that request has not been read."""
    answers, requests, connections = asked(PLAIN, b"", times=3)
    assert [answer.content for answer in answers] == [b"hello"] * 3
    assert connections >= 3
    assert len(requests) >= 3


def test_an_answer_that_began_is_never_asked_for_again() -> None:
    broken = OK + b"Content-Length: 50\r\n\r\nhello"
    with pytest.raises(BrokenConnection):  # a second connection would answer
        asked(PLAIN, broken, times=2)


def test_what_comes_unasked_ends_the_connection() -> None:
    twice = PLAIN + PLAIN
    answers, _, connections = asked(twice, twice, times=2)
    assert [answer.content for answer in answers] == [b"hello"] * 2
    assert connections == 2


def test_many_small_chunks_take_time_in_proportion() -> None:
    reader = AnswerReader()
    reader.feed(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    begun = time.process_time()
    for _ in range(20_000):
        assert reader.feed(b"5\r\nhello\r\n") is None
    answer = reader.feed(b"0\r\n\r\n")
    assert answer is not None
    assert len(answer.content) == 100_000
    assert time.process_time() - begun < 5  # reading from the start each time takes minutes


def test_a_header_cannot_hold_a_line_break() -> None:
    with pytest.raises(ValueError, match="Authorization"):
        HttpClient(urlsplit("http://127.0.0.1:1"), {"Authorization": "Bearer a\r\nX: y"})


def test_an_ipv6_address_is_reached_and_named_in_brackets() -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await _request(reader))
        writer.write(PLAIN)
        writer.close()

    async def once() -> bytes:
        try:
            server = await asyncio.start_server(serve, "::1", 0)
        except OSError:
            pytest.skip("this machine has no IPv6")
        port = server.sockets[0].getsockname()[1]
        client = HttpClient(urlsplit(f"http://[::1]:{port}"), {})
        answer = await client.request("GET", "/")
        client.close()
        server.close()
        assert f"Host: [::1]:{port}".encode() in seen[0]
        return answer.content

    assert asyncio.run(once()) == b"hello"


PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("no_proxies")
def test_the_environment_names_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(address: str) -> str | None:
        proxy = proxy_for(urlsplit(address))
        return None if proxy is None else f"{proxy.host}:{proxy.port}"

    assert found("https://api.example.com/v1") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://gate.example.com:3128")
    monkeypatch.setenv("NO_PROXY", "internal.example.com,.corp")
    assert found("https://api.example.com/v1") == "gate.example.com:3128"
    assert found("http://api.example.com/v1") is None
    assert found("https://internal.example.com/v1") is None
    assert found("https://models.corp/v1") is None
    assert found("https://127.0.0.1:8000/v1") is found("https://[::1]/v1") is None
    assert found("https://localhost:8000/v1") is None
    monkeypatch.setenv("ALL_PROXY", "gate.example.com:80")
    assert found("http://api.example.com/v1") == "gate.example.com:80"
    monkeypatch.setenv("HTTPS_PROXY", "socks5://gate.example.com")
    with pytest.raises(ValueError, match="http or https"):
        found("https://api.example.com/v1")


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_requests_go_through_the_proxy(
    scheme: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain ones by their whole address, TLS through a tunnel that the proxy cannot read."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    first_lines: list[bytes] = []
    login = b"Proxy-Authorization: Basic " + base64.b64encode(b"me:p@ss")
    tasks: list[Any] = []

    async def target(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            first_lines.append((await _request(reader)).split(b"\r\n")[0])
            writer.write(PLAIN)
        writer.close()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def once() -> list[bytes]:
        server = await asyncio.start_server(target, "127.0.0.1", 0, ssl=serving)
        port = server.sockets[0].getsockname()[1]

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            first_lines.append(head.split(b"\r\n")[0])
            assert login in head
            if scheme == "http":
                await reader.readexactly(4)
                writer.write(PLAIN)
                await target(reader, writer)
                return
            inner = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"HTTP/1.0 200 Connection established\r\n\r\n")
            tasks.append(asyncio.create_task(pump(inner[0], writer)))
            await pump(reader, inner[1])

        gate = await asyncio.start_server(proxy, "127.0.0.1", 0)
        at = gate.sockets[0].getsockname()[1]
        monkeypatch.setenv(f"{scheme.upper()}_PROXY", f"http://me:p%40ss@127.0.0.1:{at}")
        monkeypatch.setattr("empathylab.models.http.is_this_machine", lambda host: False)
        client = HttpClient(urlsplit(f"{scheme}://localhost:{port}"), {})
        answers = [await client.request("POST", "/p", b"body") for _ in range(2)]
        client.close()
        await asyncio.sleep(0.05)
        for value in (gate, server):
            value.close()
        return [f"localhost:{port}".encode(), *(answer.content for answer in answers)]

    place, *contents = asyncio.run(once())
    assert contents == [b"hello"] * 2
    if scheme == "http":
        assert first_lines == [b"POST http://%b/p HTTP/1.1" % place] * 2
    else:
        asked_for = [b"CONNECT %b HTTP/1.1" % place, *[b"POST /p HTTP/1.1"] * 2]
        assert first_lines == asked_for


@pytest.mark.usefixtures("no_proxies")
def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def once() -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            writer.close()

        gate = await asyncio.start_server(refuse, "127.0.0.1", 0)
        at = gate.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{at}")
        client = HttpClient(urlsplit("https://api.example.com"), {})
        try:
            await client.request("GET", "/")
        finally:
            client.close()
            gate.close()

    with pytest.raises(CannotConnect, match=r"api\.example\.com:443 through the proxy .* HTTP 407"):
        asyncio.run(once())
