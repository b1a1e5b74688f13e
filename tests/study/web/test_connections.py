"""Connections that send nothing must not stop the server or fill the disk with its log."""

from __future__ import annotations

import contextlib
import http.client
import logging
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from empathylab.store import Lab
from empathylab.study.web.connections import LARGEST_HEAD, connection_limit, raise_file_limit
from empathylab.study.web.logs import RepeatedMessages
from tests.study.examples import between
from tests.study.web.labs import launched
from tests.study.web.processes import free_port

FILES = 170
SILENT = 260
_SERVE = """\
import sys
from pathlib import Path
from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from empathylab.study.web import connections
from empathylab.study.web.serving import Serving, listening, serve_study
connections.FIRST_REQUEST_SECONDS = 2.0
folder = Path(sys.argv[1])
with Lab.open(folder, create=False) as lab:
    service = StudyService(lab, sys.argv[2])
    study, secret = service.study, service.secret
serve_study(Serving(folder, study, secret), listening("127.0.0.1", int(sys.argv[3])))
"""


def lower_limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


def answer(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status
    finally:
        connection.close()


def eventually(port: int, seconds: float) -> int:
    """The status once the server answers; 0 where it does not within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if (status := answer(port)) == 200:
                return status
        time.sleep(0.2)
    return 0


def exchange(port: int, *parts: bytes) -> bytes:
    """What the server answers to these bytes until it closes the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with contextlib.suppress(OSError):
            for part in parts:
                connection.sendall(part)
            while data := connection.recv(65536):
                received += data
    return received


@pytest.mark.slow
def test_silent_connections_stop_neither_the_server_nor_fill_its_log(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service = launched(sqlite_lab, between())
    port, log = free_port(), tmp_path / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(sqlite_lab.folder), service.study.name, str(port)],
            stderr=written,
            preexec_fn=lower_limit,
        )
    silent: list[socket.socket] = []
    try:
        assert eventually(port, 60) == 200
        endless = b"GET /health HTTP/1.1\r\nHost: x\r\nX-Long: "
        assert exchange(port, endless, b"a" * LARGEST_HEAD).startswith(b"HTTP/1.1 400")
        many = b"X-Short: 1\r\n" * (LARGEST_HEAD // 12)
        assert exchange(port, endless + b"1\r\n", many).startswith(b"HTTP/1.1 400")
        first = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert exchange(port, first + last).count(b"HTTP/1.1 200") == 2
        short = b"POST /page HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        trailers = exchange(port, short, *[b"X-Trailer: %s\r\n" % (b"a" * 60_000)] * 100)
        assert b"HTTP/1.1 2" not in trailers
        for _ in range(SILENT):
            with contextlib.suppress(OSError):
                silent.append(socket.create_connection(("127.0.0.1", port), timeout=2))
        time.sleep(1)
        assert eventually(port, 60) == 200  # they are still held open from this side
        assert process.poll() is None
        assert log.stat().st_size < 100_000
        closed = 0
        for item in silent:
            item.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                closed += item.recv(1) == b""
                continue
            closed += 1
        assert closed == len(silent)
    finally:
        for item in silent:
            item.close()
        process.kill()
        process.wait()


def test_the_limit_of_connections_leaves_files_for_everything_else() -> None:
    assert 16 <= connection_limit() <= raise_file_limit()
    assert connection_limit() <= 2500


def test_the_same_message_is_written_once_a_minute() -> None:
    repeated = RepeatedMessages()
    records = [logging.LogRecord("asyncio", 40, "", 1, text, None, None) for text in "aab"]
    assert [repeated.filter(record) for record in records] == [True, False, True]
