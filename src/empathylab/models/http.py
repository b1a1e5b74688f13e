"""A small HTTP/1.1 client: requests to one host, over connections that are kept open.

A thousand requests under way need little more than the bytes they send: a general library spends
several times as long on each as the runner spends on everything else. Redirects and cookies are
left out on purpose. See docs/decisions/0019-own-http-client.md.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import re
import socket
import ssl
import time
import urllib.request
from collections import deque
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from empathylab.models.http_answers import Answer, AnswerReader

_CONNECT_SECONDS = 15.0
_NEXT_ADDRESS_SECONDS = 4.0  # a host's first address may lead nowhere, often that of IPv6
_IDLE_SECONDS = 15.0  # servers close connections that were idle for longer
_RESOLVED_SECONDS = 60.0

__all__ = ["Answer", "BrokenConnection", "CannotConnect", "HttpClient"]


class CannotConnect(Exception):
    """No connection could be made."""


class BrokenConnection(Exception):
    """The connection ended, or what came over it was no HTTP."""


class _ClosedUnread(BrokenConnection):
    """The server ended a connection before it sent any of the answer."""


class HttpClient:
    """Requests to one host; as many connections as there are requests under way."""

    def __init__(self, address: SplitResult, headers: dict[str, str]) -> None:
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._host = address.hostname or ""
        self._port = address.port or (443 if self._tls else 80)
        named = f"[{self._host}]" if ":" in self._host else self._host
        host = named if address.port is None else f"{named}:{address.port}"
        common = {"Host": host, "Accept": "application/json", "User-Agent": "empathylab"} | headers
        self._head = "".join(map(_header, common.items()))
        self._proxy = proxy_for(address)
        self._place = f"{address.scheme}://{host}"
        self._authority = f"{named}:{self._port}"
        self._idle: deque[_Connection] = deque()
        self._open: set[_Connection] = set()
        self._addresses: list[Any] = []
        self._resolved_at = float("-inf")
        self._resolving = asyncio.Lock()

    async def request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> Answer:
        """The answer to one request."""
        head = self._head
        if self._proxy is not None and self._tls is None:
            path, head = f"{self._place}{path}", f"{head}{self._proxy.authorization}"
        head = f"{method} {path} HTTP/1.1\r\n{head}"
        if body:
            head += f"Content-Type: {kind}\r\n"
        sent = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body
        kept = self._kept()
        if kept is not None:
            try:
                return await self._exchange(kept, sent)
            except _ClosedUnread:
                pass  # the server closed it while it was idle, so it has not seen the request
        return await self._exchange(await self._connection(), sent)

    async def _exchange(self, connection: _Connection, request: bytes) -> Answer:
        try:
            answer = await connection.exchange(request)
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

    def _kept(self) -> _Connection | None:
        """An open connection that waits for a request."""
        oldest = time.monotonic() - _IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and connection.idle_since > oldest:
                return connection
            connection.close()
        return None

    async def _connection(self) -> _Connection:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                if self._proxy is None:
                    return await self._connect(self._host, self._port, self._tls)
                return await self._through(self._proxy)
        except TimeoutError as error:
            raise CannotConnect(f"no connection within {_CONNECT_SECONDS:g} s") from error
        except (OSError, ssl.SSLError, BrokenConnection) as error:
            reached = f"{self._host}:{self._port}"
            if self._proxy is not None:
                reached += f" through the proxy {self._proxy.host}:{self._proxy.port}"
            raise CannotConnect(f"{reached}: {_described(error)}") from error

    async def _through(self, proxy: Proxy) -> _Connection:
        """A connection over the proxy: to it, or with TLS through a tunnel."""
        outer = ssl.create_default_context() if proxy.tls else None
        connection = await self._connect(proxy.host, proxy.port, outer)
        if self._tls is None:
            return connection
        head = f"CONNECT {self._authority} HTTP/1.1\r\nHost: {self._authority}\r\n"
        try:
            tunnel = f"{head}{proxy.authorization}\r\n".encode("latin-1")
            answer = await connection.exchange(tunnel, tunnel=True)
            if not 200 <= answer.status < 300:
                raise OSError(f"it answered HTTP {answer.status}")
            await connection.start_tls(self._tls, self._host)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _connect(self, host: str, port: int, tls: ssl.SSLContext | None) -> _Connection:
        loop = asyncio.get_running_loop()
        refused: OSError = OSError(f"{host} has no address")
        places = await self._resolve(host, port)
        for place in list(places):
            family, address = place[0], place[4]
            limit = None if place == places[-1] else _NEXT_ADDRESS_SECONDS
            try:
                async with asyncio.timeout(limit):
                    _, connection = await loop.create_connection(
                        lambda: _Connection(self._open),
                        address[0],
                        address[1],
                        family=family,
                        ssl=tls,
                        server_hostname=host if tls else None,
                    )
            except TimeoutError as error:
                if limit is None:
                    raise
                refused = error
            except OSError as error:
                refused = error
            else:
                if place != places[0]:
                    self._addresses = [place, *(other for other in places if other != place)]
                return connection
        raise refused

    async def _resolve(self, host: str, port: int) -> list[Any]:
        """The host's addresses, looked up once a minute; the one that answered last comes first."""
        async with self._resolving:
            if time.monotonic() - self._resolved_at > _RESOLVED_SECONDS:
                flags = socket.AI_NUMERICHOST if _literal(host) else 0
                self._addresses = await asyncio.get_running_loop().getaddrinfo(
                    host, port, type=socket.SOCK_STREAM, flags=flags
                )
                self._resolved_at = time.monotonic()
            return self._addresses


def _header(header: tuple[str, str]) -> str:
    name, value = header
    if not re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", value):
        raise ValueError(f"the header {name} has characters that cannot be sent")
    return f"{name}: {value}\r\n"


def _described(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "the connection is refused"
    if isinstance(error, socket.gaierror):
        return "the host's name cannot be resolved"
    return str(error)


# -- proxies ------------------------------------------------------------------------------------


class Proxy(NamedTuple):
    """A proxy, and the header that it wants."""

    host: str
    port: int
    tls: bool
    authorization: str


def proxy_for(address: SplitResult) -> Proxy | None:
    """The proxy that the environment names for the address; none for this machine itself.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are read, in capital or small letters.
    """
    host = address.hostname or ""
    if is_this_machine(host):
        return None
    known = urllib.request.getproxies()
    named = known.get(address.scheme) or known.get("all")
    if not named or urllib.request.proxy_bypass(host):
        return None
    parts = urlsplit(named if "://" in named else f"http://{named}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"the proxy for {address.scheme} must be an http or https address")
    tls = parts.scheme == "https"
    authorization = ""
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        basic = base64.b64encode(user).decode("ascii")
        authorization = f"Proxy-Authorization: Basic {basic}\r\n"
    return Proxy(parts.hostname, parts.port or (443 if tls else 80), tls, authorization)


def is_this_machine(host: str) -> bool:
    """Whether the name or address is that of this machine alone."""
    literal = _literal(host)
    return host == "localhost" or (literal is not None and literal.is_loopback)


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


# -- connections --------------------------------------------------------------------------------


class _Connection(asyncio.Protocol):
    """One connection: a request, its answer, and then the next."""

    def __init__(self, known: set[_Connection]) -> None:
        self._known = known
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Answer] | None = None
        self._reader: AnswerReader | None = None
        self._keeps_open = True
        self.idle_since = 0.0

    @property
    def reusable(self) -> bool:
        return self._transport is not None and self._keeps_open

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP gives nothing else
        self._transport = transport
        self._known.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._known.discard(self)
        self._transport = None
        if self._waiting is None or self._waiting.done() or self._reader is None:
            return
        problem = str(error) if error else "the server closed the connection"
        try:
            answer = self._reader.ended() if error is None else None
        except ValueError as broken:
            answer, problem = None, str(broken)
        if answer is not None:
            self._waiting.set_result(answer)
            return
        kind = BrokenConnection if self._reader.began else _ClosedUnread
        self._waiting.set_exception(kind(problem))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, request: bytes, *, tunnel: bool = False) -> Answer:
        if self._transport is None:
            raise _ClosedUnread("the server closed the connection")
        self._reader = AnswerReader(bodyless=tunnel)
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._waiting
        finally:
            self._waiting = None

    async def start_tls(self, tls: ssl.SSLContext, host: str) -> None:
        """Speaks TLS from now on, as behind a proxy's tunnel."""
        if self._transport is None:
            raise OSError("the proxy closed the connection")
        loop = asyncio.get_running_loop()
        self._transport = await loop.start_tls(self._transport, self, tls, server_hostname=host)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None or self._waiting.done() or self._reader is None:
            self._keeps_open = False  # nobody asked for this
            return
        try:
            answer = self._reader.feed(data)
        except (ValueError, IndexError) as error:
            self._keeps_open = False
            self._waiting.set_exception(BrokenConnection(f"not an HTTP answer: {error}"))
            return
        if answer is not None:
            self._keeps_open = self._reader.keeps_open
            self._waiting.set_result(answer)
