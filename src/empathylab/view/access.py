"""Who may see the viewer: only the person who got its link, in a browser on this machine."""

from __future__ import annotations

import secrets
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""A page of another host name that resolves to this machine is refused: DNS rebinding."""

_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="/static/icon.svg">{more}</head>
<body><h1>{title}</h1><p>{sentence}</p></body></html>
"""


class Access:
    """Lets requests through that come with the token, in the link or in the cookie it sets."""

    def __init__(self, app: ASGIApp, *, token: str, cookie: str) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._refusal_or_entry(Request(scope))
        await (answer or self._app)(scope, receive, send)

    def _refusal_or_entry(self, request: Request) -> Response | None:
        """A page that says no, or one that lets the browser in; None where it is in already."""
        host = request.headers.get("host", "").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in HOSTS:
            return _plain(
                403, "Wrong address", "Open the link with 127.0.0.1 that empathylab view printed."
            )
        given = parse_qs(request.url.query).get("token", [""])[-1]
        if request.url.path == "/" and self._is_token(given):
            return self._entry(given)
        if self._is_token(request.cookies.get(self._cookie, "")):
            return None
        return _plain(
            403,
            "This link is not valid",
            "Open the link that empathylab view printed. Each start of the viewer has a new one.",
        )

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token)

    def _entry(self, token: str) -> Response:
        # A page of our own leads on: a strict cookie is not sent along after a link elsewhere.
        answer = _plain(
            200,
            "EmpathyLab",
            '<a href="/">Open the lab</a>',
            '<meta http-equiv="refresh" content="0;url=/">',
        )
        answer.set_cookie(self._cookie, token, httponly=True, samesite="strict", path="/")
        return answer


def _plain(status: int, title: str, sentence: str, more: str = "") -> Response:
    text = _PLAIN.format(title=title, sentence=sentence, more=more)
    return HTMLResponse(text, status_code=status)
