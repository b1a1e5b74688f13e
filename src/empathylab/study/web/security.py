"""Headers that keep a rater's pages to themselves, and the last line against failures."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from empathylab.study.web.logs import log_request

log = logging.getLogger("empathylab.study.web")


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


def is_secure(request: Request, *, trust_proxy: bool) -> bool:
    """Whether the rater's browser speaks TLS; a proxy is believed only where it is trusted."""
    if trust_proxy:
        told = request.headers.get("x-forwarded-proto", "")
        # The proxy next to us writes last.
        return told.rpartition(",")[2].strip().lower() == "https"
    return request.url.scheme == "https"


class Guard:
    """Puts the headers on every answer, turns any failure into a calm page, and writes the log."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        failure: Callable[[Request], Response],
        frames: tuple[str, ...],
        trust_proxy: bool,
    ) -> None:
        self._app = app
        self._failure = failure
        self._policy = policy(frames)
        self._framed = bool(frames)
        self._trust_proxy = trust_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        secure = is_secure(request, trust_proxy=self._trust_proxy)
        began = time.monotonic()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), secure=secure)
            await send(message)

        try:
            await self._app(scope, receive, send_guarded)
        except Exception as error:
            # Only where it happened: what a database says of an error may hold somebody's words.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("a page failed: %s\n%s", type(error).__name__, where)
            if status:
                raise
            await self._failure(request)(scope, receive, send_guarded)
        finally:
            log_request(scope, status, time.monotonic() - began)

    def _add_headers(self, headers: MutableHeaders, *, secure: bool) -> None:
        headers.setdefault("Content-Security-Policy", self._policy)
        headers.setdefault("Cache-Control", "no-store")
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"
        headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
        headers["X-Robots-Tag"] = "noindex, nofollow"
        if not self._framed:
            headers["X-Frame-Options"] = "DENY"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
        if secure:
            headers["Strict-Transport-Security"] = "max-age=31536000"
