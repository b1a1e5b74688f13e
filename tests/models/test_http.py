"""The HTTP client against servers that frame and break answers in every way."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from empathylab.models.http import Answer, BrokenConnection, CannotConnect, HttpClient

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


@pytest.mark.parametrize(
    "framed",
    [
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN,
        OK + b"\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    ],
)
@pytest.mark.parametrize("piece", [1_000, 7])
def test_every_framing_is_understood_whole_and_in_pieces(framed: bytes, piece: int) -> None:
    pieces = tuple(framed[start : start + piece] for start in range(0, len(framed), piece))
    [answer], _, _ = asked(pieces)
    assert answer.content == b"hello"


def test_a_connection_that_the_server_ends_is_not_used_again() -> None:
    closing = OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello"
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
