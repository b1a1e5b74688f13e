"""What all pages of a study share: the service behind them, who asks, and the frame around them."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from empathylab.errors import LabError, UserError
from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.design.definition import Study
from empathylab.study.session.service import StudyService
from empathylab.study.web.forms import Form, read_form
from empathylab.study.web.interface_texts import asked_language
from empathylab.study.web.rendering import Frame, message_page
from empathylab.study.web.security import is_secure
from empathylab.study.web.sessions import DAYS, Session, cookie_name, form_token, seal, unseal

UNSIGNED = ("mturk", "prolific", "sona")
"""Platforms whose links name a person by an id that others may know or guess."""


OLD_FORM = "old-form"
"""The name of the page for a form that was made for another session."""
Opened = TypeVar("Opened")


class UnknownVisitor(Exception):
    """The browser has no valid cookie."""


class Lazy(Generic[Opened]):
    """Something that is opened at the first call and kept."""

    def __init__(self, factory: Callable[[], Opened]) -> None:
        self._factory = factory
        self._lock = threading.Lock()
        self.value: Opened | None = None

    def __call__(self) -> Opened:
        with self._lock:
            if self.value is None:
                self.value = self._factory()
            return self.value


@dataclass(frozen=True)
class StudySite:
    """One study as its pages see it."""

    open_service: Lazy[StudyService]
    study: Study
    secret: bytes

    async def service(self) -> StudyService:
        """The service, opened at the first request and kept."""
        opened = self.open_service.value
        return await run_in_threadpool(self.open_service) if opened is None else opened

    def session(self, request: Request) -> Session | None:
        """Who asks; None where the browser has no valid cookie."""
        return unseal(request.cookies.get(self._cookie), self.secret)

    def require_session(self, request: Request) -> Session:
        """Who asks; raises where the browser has no valid cookie."""
        session = self.session(request)
        if session is None:
            raise UnknownVisitor
        return session

    async def sent_form(self, request: Request) -> tuple[Form, Session]:
        """A form and who sent it; raises where the sender is unknown or the form is old."""
        form = await read_form(request)
        session = self.require_session(request)
        if not self.is_current(form, session):
            raise HTTPException(403, OLD_FORM)
        return form, session

    def is_current(self, form: Form, session: Session) -> bool:
        """Whether the form was made for this session."""
        return same_id(form.token, form_token(session, self.secret))

    def visit(self, session: Session) -> str:
        """A name for the visit, under which refused answers are kept."""
        return _browser_id(self.secret, session.nonce)

    def browser(self, session: Session) -> str:
        """Which browser it is, where links do not prove who comes; empty for guests."""
        if session.guest or self.study.recruitment.platform not in UNSIGNED:
            return ""
        return self.visit(session)

    async def with_owner(self, session: Session) -> Session:
        """The session, as a guest's where another browser gave the first answer."""
        browser = self.browser(session)
        if not browser:
            return session
        service = await self.service()
        if await run_in_threadpool(service.is_begun_by, session.person, browser):
            return session
        return dataclasses.replace(session, guest=True)

    def frame(
        self, request: Request, session: Session | None = None, language: str | None = None
    ) -> Frame:
        """What stands around a page for anyone who asks."""
        session = session or self.session(request)
        spoken = language or (session.language if session else None)
        spoken = spoken or asked_language(request, self.study.languages)
        token = form_token(session, self.secret) if session else ""
        root = request.scope.get("root_path", "")
        guest = session is not None and session.guest
        here = _address(request) if len(self.study.languages) > 1 else ""
        return Frame(self.study, spoken, root, token, guest, here)

    async def turned_away(
        self, request: Request, name: str, status: int = 403, *, way: bool = False
    ) -> Response:
        """Why someone is not let in: that the study is closed, where it is."""
        service = await self.service()
        if await run_in_threadpool(service.is_closed):
            name, way = "closed", False
        return HTMLResponse(message_page(self.frame(request), name, way=way), status_code=status)

    def keep(self, request: Request, response: Response, session: Session) -> None:
        """Keeps the session in the browser."""
        framed = self.study.recruitment.platform == "mturk"
        secure = is_secure(request)
        response.set_cookie(
            self._cookie,
            seal(session, self.secret),
            max_age=DAYS * 24 * 3600,
            path=request.scope.get("root_path", "") or "/",
            secure=secure,
            httponly=True,
            # MTurk shows the study in a frame of its own page, and only over TLS.
            samesite="none" if framed and secure else "lax",
        )
        if framed and secure:
            # Browsers that block the cookies of frames keep this one, for that frame alone;
            # Python's cookies know the word from 3.14 on.
            name, value = response.raw_headers[-1]
            response.raw_headers[-1] = (name, value + b"; Partitioned")

    @property
    def _cookie(self) -> str:
        return cookie_name(self.secret, self.study.version)

    def to(self, request: Request, path: str) -> Response:
        """Sends the browser to another page of the study."""
        return RedirectResponse(request.scope.get("root_path", "") + path, status_code=303)

    async def health(self, request: Request) -> Response:
        """Whether the process answers."""
        return PlainTextResponse("ok\n")

    async def readiness(self, request: Request) -> Response:
        """Whether the study can be reached."""
        try:
            service = await self.service()
            await run_in_threadpool(service.view, "nobody")
        except LabError:
            return PlainTextResponse("not ready\n", status_code=503)
        except UserError:
            pass  # the records answered that there is nobody of that name
        return PlainTextResponse("ready\n")


@functools.lru_cache(maxsize=4096)  # every submission asks for its own
def _browser_id(secret: bytes, nonce: str) -> str:
    return opaque_id(secret, "browser", nonce)


def _address(request: Request) -> str:
    """The query of a request without its language, ready for another one.

    A query alone stays on the path and the host of the page, whatever the request claims.
    """
    asked = request.query_params.multi_items()
    kept = urlencode([pair for pair in asked if pair[0] != "language"])
    return f"?{kept}&" if kept else "?"
