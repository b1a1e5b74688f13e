"""A small HTTP/1.1 client: requests to one host, over connections that are kept open.

A thousand requests under way need little more than the bytes they send: a general library spends
several times as long on each as the runner spends on everything else. Redirects, cookies, proxies
and compression are left out on purpose. See docs/decisions/0019-http-without-a-library.md.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections import deque
from typing import Any, NamedTuple
from urllib.parse import SplitResult

_CONNECT_SECONDS = 15.0
_IDLE_SECONDS = 15.0  # servers close connections that were idle for longer
_RESOLVED_SECONDS = 60.0
_LONGEST_HEAD = 64 * 1024


class Answer(NamedTuple):
    """What a server sent back."""

    status: int
    headers: dict[str, str]
    """By their names in small letters."""
    content: bytes


class CannotConnect(Exception):
    """No connection could be made."""


class BrokenConnection(Exception):
    """The connection ended, or what came over it was no HTTP."""


class HttpClient:
    """Requests to one host; as many connections as there are requests under way."""

    def __init__(self, address: SplitResult, headers: dict[str, str]) -> None:
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._host = address.hostname or ""
        self._port = address.port or (443 if self._tls else 80)
        named = f"[{self._host}]" if ":" in self._host else self._host
        host = named if address.port is None else f"{named}:{address.port}"
        common = {"Host": host, "Accept": "application/json", "User-Agent": "empathylab"} | headers
        self._head = "".join(f"{name}: {value}\r\n" for name, value in common.items())
        self._idle: deque[_Connection] = deque()
        self._open: set[_Connection] = set()
        self._addresses: list[Any] = []
        self._resolved_at = float("-inf")
        self._resolving = asyncio.Lock()

    async def request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> Answer:
        """The answer to one request."""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}"
        if body:
            head += f"Content-Type: {kind}\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        connection = await self._connection()
        try:
            answer = await connection.exchange(head.encode("latin-1") + body)
        except BaseException:  # also when it was cancelled: an answer may still be on its way
            connection.close()
            raise
        if connection.reusable:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def close(self) -> None:
        """Ends all connections."""
        for connection in list(self._open):
            connection.close()
        self._idle.clear()

    async def _connection(self) -> _Connection:
        oldest = time.monotonic() - _IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and connection.idle_since > oldest:
                return connection
            connection.close()
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await self._connect()
        except TimeoutError as error:
            raise CannotConnect(f"no connection within {_CONNECT_SECONDS:g} s") from error
        except (OSError, ssl.SSLError) as error:
            raise CannotConnect(f"{self._host}:{self._port}: {error}") from error

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        refused: OSError = OSError(f"{self._host} has no address")
        for family, _, _, _, place in await self._resolve():
            try:
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open),
                    place[0],
                    place[1],
                    family=family,
                    ssl=self._tls,
                    server_hostname=self._host if self._tls else None,
                )
            except OSError as error:
                refused = error
            else:
                return connection
        raise refused

    async def _resolve(self) -> list[Any]:
        """The host's addresses, looked up once a minute."""
        async with self._resolving:
            if time.monotonic() - self._resolved_at > _RESOLVED_SECONDS:
                loop = asyncio.get_running_loop()
                literal = _is_literal(self._host)
                flags = socket.AI_NUMERICHOST if literal else 0
                self._addresses = await loop.getaddrinfo(
                    self._host, self._port, type=socket.SOCK_STREAM, flags=flags
                )
                self._resolved_at = time.monotonic()
            return self._addresses


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class _Connection(asyncio.Protocol):
    """One connection: a request, its answer, and then the next."""

    def __init__(self, known: set[_Connection]) -> None:
        self._known = known
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Answer] | None = None
        self._buffer = bytearray()
        self._status = 0
        self._headers: dict[str, str] | None = None
        self._keeps_open = True
        self.idle_since = 0.0

    @property
    def reusable(self) -> bool:
        return self._transport is not None and self._keeps_open and not self._buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP gives nothing else
        self._transport = transport
        self._known.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._known.discard(self)
        self._transport = None
        if self._waiting is None or self._waiting.done():
            return
        until_close = self._headers is not None and not {
            "content-length",
            "transfer-encoding",
        } & set(self._headers)
        if until_close and error is None:
            self._finish(bytes(self._buffer))
        else:
            said = str(error) if error else "the server closed the connection"
            self._waiting.set_exception(BrokenConnection(said))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, request: bytes) -> Answer:
        if self._transport is None:
            raise BrokenConnection("the server closed the connection")
        self._buffer.clear()
        self._headers = None
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._waiting
        finally:
            self._waiting = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._waiting is None or self._waiting.done():
            self._keeps_open = False  # nobody asked for this
            return
        try:
            self._read()
        except (ValueError, IndexError) as error:
            self._keeps_open = False
            self._waiting.set_exception(BrokenConnection(f"not an HTTP answer: {error}"))

    def _read(self) -> None:
        if self._headers is None and not self._read_head():
            return
        assert self._headers is not None  # noqa: S101 - the head has been read
        if "chunked" in self._headers.get("transfer-encoding", "").lower():
            content = _unchunked(self._buffer)
            if content is not None:
                self._finish(content)
        elif (length := self._headers.get("content-length")) is not None:
            if len(self._buffer) >= int(length):
                self._finish(bytes(self._buffer[: int(length)]), int(length))
        elif self._status in (204, 304):
            self._finish(b"", 0)
        else:
            self._keeps_open = False  # the content ends with the connection

    def _read_head(self) -> bool:
        """Whether the head of the final answer has come."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > _LONGEST_HEAD:
                    raise ValueError("the head is too long")
                return False
            first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
            del self._buffer[: end + 4]
            version, _, rest = first.partition(" ")
            if not version.startswith("HTTP/1."):
                raise ValueError(repr(first[:60]))
            self._status = int(rest[:3])
            if self._status >= 200:
                break
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        self._headers = headers
        told = headers.get("connection", "").lower()
        self._keeps_open = told != "close" and (version == "HTTP/1.1" or told == "keep-alive")
        return True

    def _finish(self, content: bytes, used: int | None = None) -> None:
        if used is None:
            self._buffer.clear()
        else:
            del self._buffer[:used]
        assert self._waiting is not None  # noqa: S101 - only called while someone waits
        self._waiting.set_result(Answer(self._status, self._headers or {}, content))


def _unchunked(buffer: bytearray) -> bytes | None:
    """The content of a chunked body; None while chunks are missing."""
    parts: list[bytes] = []
    place = 0
    while True:
        end = buffer.find(b"\r\n", place)
        if end < 0:
            return None
        size = int(bytes(buffer[place:end]).split(b";")[0], 16)
        place = end + 2
        if size == 0:
            # Trailers may follow; they end with an empty line.
            if buffer.find(b"\r\n", place) == place or buffer.find(b"\r\n\r\n", place) >= 0:
                return b"".join(parts)
            return None
        if len(buffer) < place + size + 2:
            return None
        parts.append(bytes(buffer[place : place + size]))
        place += size + 2
