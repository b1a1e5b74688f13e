"""Connections of the server: how many there may be, and how long one may stay silent."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_CONNECTIONS = 2500
FIRST_REQUEST_SECONDS = 20.0
"""To send a request's headers, from connecting or from the last answer."""
LARGEST_HEAD = 32 * 1024
"""Bytes of a request's first line and headers."""
LARGEST_REQUEST = 4 * 1024 * 1024
"""Bytes of a whole request; the pages set lower limits of their own and say so."""
_RESERVED_FILES = 100
"""Files that the process needs beside connections: the database, logs, modules, sockets."""
_FEWEST = 16
_WANTED_FILES = 8192


def raise_file_limit() -> int:
    """The number of files that the process may open, raised as far as it is allowed to."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _WANTED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited:
        return _WANTED_FILES
    target = _WANTED_FILES if hard == unlimited else min(_WANTED_FILES, hard)
    if target > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        except (ValueError, OSError):
            return soft
    return max(soft, target)


def connection_limit() -> int:
    """How many connections the process can hold without running out of files."""
    return max(_FEWEST, min(MOST_CONNECTIONS, raise_file_limit() - _RESERVED_FILES))


class TimedProtocol(HttpToolsProtocol):
    """HTTP that closes connections which send no request in time, or are too many or too large.

    Above the limit of the settings a request is answered 503. Connections that only connect are
    closed at a tenth more, so that there are always files left to accept the next one.
    """

    _deadline: asyncio.TimerHandle | None = None
    _in_head = True
    _received = 0
    """Bytes since the last request was complete."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the time for the first request."""
        super().connection_made(transport)
        most = self.limit_concurrency
        if most is not None and len(self.connections) > most + most // 10:
            transport.abort()
            return
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses what came; the parser itself has no limit on a request's size."""
        self._received += len(data)
        super().data_received(data)
        most = LARGEST_HEAD if self._in_head else LARGEST_REQUEST
        if self._received > most and not self.transport.is_closing():
            if self._under_way():  # an answer may be half written
                self.transport.abort()
            else:
                self.send_400_response("The request is too large.")

    def on_headers_complete(self) -> None:
        """Starts the request; it has limits of its own from here on."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Counts from the beginning for the next request."""
        self._in_head = True
        self._received = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Starts the time for the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self._under_way():
            self._expect_request()

    def _expect_request(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(FIRST_REQUEST_SECONDS, self._close_silent)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_silent(self) -> None:
        if not self._under_way() and not self.transport.is_closing():
            self.transport.abort()

    def _under_way(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete
