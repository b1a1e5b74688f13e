"""Headers that keep a rater's pages to themselves, and the last line against failures."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from empathylab.study.web.logs import log_request

log = logging.getLogger("empathylab.study.web")

Header = tuple[bytes, bytes]
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
}
_UNFRAMED = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SECURE: Header = (b"strict-transport-security", b"max-age=31536000")


def policy(frames: tuple[str, ...] = (), forms: tuple[str, ...] = ()) -> str:
    """The content security policy; `frames` may show our pages, `forms` may be sent to."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            " ".join(("form-action 'self'", *forms)),
            " ".join(("frame-ancestors", *(frames or ("'none'",)))),
            "base-uri 'none'",
        )
    )


def is_secure(request: Request) -> bool:
    """Whether the rater's browser speaks TLS; the server has asked the proxies that it trusts."""
    return bool(request.scope["scheme"] == "https")


def _raw(headers: Mapping[str, str]) -> list[Header]:
    """Headers as they are sent: made once, because every answer bears them."""
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


class Guard:
    """Puts the headers on every answer, turns any failure into a calm page, and writes the log."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        failure: Callable[[Request], Response],
        frames: tuple[str, ...],
        trouble: Callable[[], None] = lambda: None,
    ) -> None:
        self._app = app
        self._failure = failure
        self._trouble = trouble
        self._defaults = _raw(
            {"Content-Security-Policy": policy(frames), "Cache-Control": "no-store"}
        )
        self._headers = _raw(_ALWAYS if frames else _ALWAYS | _UNFRAMED)
        self._names = {name for name, _ in self._headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        secure = is_secure(request)
        began = time.monotonic()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = self._with_ours(message.get("headers", ()), secure=secure)
            await send(message)

        try:
            await self._app(scope, receive, send_guarded)
        except Exception as error:
            # Only where it happened: what a database says of an error may hold someone's words.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("a page failed: %s\n%s", type(error).__name__, where)
            if status:
                raise
            await self._failure(request)(scope, receive, send_guarded)
        finally:
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                self._trouble()
            log_request(scope, status, time.monotonic() - began)

    def _with_ours(self, headers: Iterable[Header], *, secure: bool) -> list[Header]:
        """The headers of an answer and ours, which go before its own but for the defaults."""
        headers = [header for header in headers if header[0] not in self._names]
        names = {name for name, _ in headers}
        headers += (default for default in self._defaults if default[0] not in names)
        headers += self._headers
        if secure:
            headers.append(_SECURE)
        return headers
