"""The server's log: one JSON line for each request, with nothing in it that tells who asked.

A line names the route as it was written (`/page`, `/static/{name}`), never the path that came: no
parameters, no ids, no cookies, no addresses, no texts. Lines of requests that end at
about one time are written together: each write would let other threads go first.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from starlette.types import Scope

REQUESTS = "empathylab.study.web.requests"
_SAME_MESSAGE_SECONDS = 60.0
_OTHER = "other"
"""The route of a path that nobody wrote a page for: it may hold anything."""
_requests = logging.getLogger(REQUESTS)
_waiting: list[str] = []


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Writes the line of one request, if anybody reads them, before the event loop rests."""
    if not _requests.isEnabledFor(logging.INFO):
        return
    line = {
        **_beginning(datetime.now(UTC)),
        "method": scope["method"][:10],
        "route": route_of(scope),
        "status": status,
        "milliseconds": round(1000 * seconds, 1),
    }
    _waiting.append(json.dumps(line))
    try:
        asyncio.get_running_loop().call_soon(_write_waiting)
    except RuntimeError:  # nobody to wait for
        _write_waiting()


def _write_waiting() -> None:
    lines = list(_waiting)
    if lines:
        del _waiting[: len(lines)]
        _requests.info("%s", "\n".join(lines), extra={"written": True})


def route_of(scope: Scope) -> str:
    """The route that answered, as it was written; `other` where none did."""
    endpoint = scope.get("endpoint")
    if endpoint is None:
        return _OTHER
    app: Any = scope.get("app")
    written = getattr(app.state, "routes_by_endpoint", None)
    if written is None:
        # By identity: an endpoint may be a method of something that cannot be hashed.
        written = {id(route): path for path, route in _written(app.routes)}
        app.state.routes_by_endpoint = written
    path: str = written.get(id(endpoint), _OTHER)
    return path


def _written(routes: Iterable[Any], before: str = "") -> Iterator[tuple[str, object]]:
    for route in routes:
        path = before + getattr(route, "path", "")
        if inner := getattr(route, "routes", None):
            yield from _written(inner, path)
        elif (endpoint := getattr(route, "endpoint", None)) is not None:
            yield path, endpoint


def start_logging(*, requests: bool) -> None:
    """Sends the process's log to stderr: JSON lines with `requests`, else problems as sentences."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if requests else _Sentences())
    for name in ("uvicorn", "empathylab"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    _requests.setLevel(logging.INFO if requests else logging.WARNING)
    # The event loop repeats what troubles it as often as a connection comes.
    loop = logging.getLogger("asyncio")
    loop.handlers, loop.propagate = [handler], False
    loop.filters = [RepeatedMessages()]
    # A server says much that only its developers understand; what it says at start and end is ours.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)


class RepeatedMessages(logging.Filter):
    """Lets the same message pass once a minute: a flood must not fill the disk with its log."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the message is to be written."""
        now = time.monotonic()
        key = str(record.msg).partition("\n")[0][:200]
        if now - self._last.get(key, -_SAME_MESSAGE_SECONDS) < _SAME_MESSAGE_SECONDS:
            return False
        if len(self._last) > 1000:
            self._last.clear()
        self._last[key] = now
        return True


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if getattr(record, "written", False):
            return record.getMessage()
        at = datetime.fromtimestamp(record.created, UTC)
        line = {"level": record.levelname, "message": _message(record)}
        return json.dumps(_beginning(at) | line)


def _beginning(at: datetime) -> dict[str, Any]:
    return {"time": at.isoformat(timespec="milliseconds"), "worker": os.getpid()}


class _Sentences(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _message(record)


def _message(record: logging.LogRecord) -> str:
    """The message; of an error only where it happened, because its words may be someone's."""
    message = record.getMessage()
    if record.exc_info and record.exc_info[0] is not None:
        where = "".join(traceback.format_tb(record.exc_info[2]))
        message = f"{message.strip()}: {record.exc_info[0].__name__}\n{where}"
    return message
