"""The rater's pages: each request asks the service what to show, and shows that."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

from empathylab.errors import LabError, UserError
from empathylab.study.assignment.allocation import World
from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.assignment.quotas import told_by_link
from empathylab.study.blocks.forms import Given, Refused
from empathylab.study.design.definition import Study
from empathylab.study.group_commit.next_pages import NextPages
from empathylab.study.group_commit.waiting import Waiting
from empathylab.study.live.turns import Conversation
from empathylab.study.session.visits import Closed, Finished, Moved, Page, PlatformIds, Saved, View
from empathylab.study.web.forms import MOST_BYTES, Form, read_form
from empathylab.study.web.interface_texts import Said, asked_language
from empathylab.study.web.markdown import block_html
from empathylab.study.web.recruitment import MTURK_HOSTS, BadLink, Preview, Visit, read_link
from empathylab.study.web.rendering import (
    Filled,
    Frame,
    Handing,
    end_page,
    leave_page,
    plain_page,
    retry_page,
    stop_page,
    study_page,
)
from empathylab.study.web.security import is_secure, policy
from empathylab.study.web.sessions import (
    DAYS,
    Session,
    cookie_name,
    form_token,
    known_from,
    new_session,
    seal,
    unseal,
)

_AFTER = "after"
"""The parameter that names the page from whose answer someone comes."""
_RETURNS = {"leave": "/leave", "stop": "/stop"}
"""Where a change of language leads, by the page it was made on; to the page that is due if none."""
_UNSIGNED = ("mturk", "prolific", "sona")
"""Platforms whose links name a person by an id that others may know or guess."""


class RaterService(Protocol):
    """What the pages need of `empathylab.study.session.service.StudyService`."""

    def arrive(
        self, ids: PlatformIds, *, world: World = "person", language: str | None = None
    ) -> str: ...
    def is_known(self, ids: PlatformIds) -> bool: ...
    def change_language(self, person: str, language: str) -> None: ...
    def view(self, person: str) -> View: ...
    def submit_soon(
        self,
        person: str,
        step_key: str,
        values: Given,
        timing: Mapping[str, float],
        *,
        corrects: bool = True,
        browser: str = "",
        answered: str | None = None,
        visit: str = "",
    ) -> Future[Saved | Refused | Moved]: ...
    def is_begun_by(self, person: str, browser: str) -> bool: ...
    def is_closed(self) -> bool: ...
    def back(self, person: str, step_key: str) -> Page | None: ...
    def save_draft(self, person: str, step_key: str, values: Given) -> None: ...
    def leave(self, person: str, *, delete: bool) -> None: ...
    def stop(self, person: str) -> None: ...
    def conversation(self, person: str) -> Conversation | None: ...


@dataclass(frozen=True)
class RaterPages:
    """The handlers of one study."""

    service_factory: Callable[[], RaterService]
    study: Study
    secret: bytes
    trust_proxy: bool = False
    most_bytes: int = MOST_BYTES
    wake: Callable[[], None] = lambda: None
    """Called when a participant begins to wait for a live reply."""
    _next_pages: NextPages = field(default_factory=NextPages)
    _waiting: Waiting = field(default_factory=Waiting)
    _service: list[RaterService] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def arrive(self, request: Request) -> Response:
        """By a link: who comes is known from now on, and the link's ids leave the address."""
        session = self._session(request)
        if request.method == "HEAD":
            return Response()  # a link checker is nobody
        platform = self.study.recruitment.platform
        if not request.query_params and session is not None and platform != "open":
            return self._to(request, "/page")
        telling = told_by_link(self.study)
        visit = read_link(platform, request.query_params, self.secret, telling)
        if isinstance(visit, Preview):
            return await self._turned_away(request, "preview", 200)
        if isinstance(visit, BadLink):
            return await self._turned_away(request, visit.reason, 400, way=True)
        if platform == "open" and visit.world == "person":
            if session is not None and not await self._is_forgotten(session):
                return self._to(request, "/page")
            before = known_from(request.cookies, self.secret)
            visit = dataclasses.replace(visit, participant=before or visit.participant)
        return await self._begin(request, visit)

    async def _is_forgotten(self, session: Session) -> bool:
        """Whether a researcher has deleted all of a person who never left."""
        if session.left:
            return False
        service = await self.service()
        view = await run_in_threadpool(service.view, session.person)
        return isinstance(view, Closed) and view.reason == "unknown"

    async def _begin(self, request: Request, visit: Visit) -> Response:
        language = asked_language(request, self.study.languages)
        platform, before = self.study.recruitment.platform, self._session(request)
        ids = PlatformIds(platform, visit.participant, visit.study, visit.session, visit.told)
        service = await self.service()
        named = platform in _UNSIGNED and visit.world == "person"
        known = named and await run_in_threadpool(service.is_known, ids)
        try:
            person = await run_in_threadpool(
                service.arrive, ids, world=visit.world, language=language
            )
        except LabError:
            raise
        except UserError:
            return await self._turned_away(request, "refused")
        session = new_session(
            person,
            language,
            assignment=(visit.participant if platform == "sona" else visit.session) or "",
            submit_to=visit.submit_to,
            known_as=visit.participant if platform == "open" else "",
        )
        if before is not None and before.person == person:
            # Pages that they have open in another tab stay good.
            session = dataclasses.replace(session, nonce=before.nonce, guest=before.guest)
        elif known:
            session = dataclasses.replace(session, guest=True)
        response = self._to(request, "/page")
        self._keep(request, response, session)
        return response

    async def show(self, request: Request) -> Response:
        """The page that is due."""
        session = self._session(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        asked = request.query_params
        view = self._next_pages.take(session.person, asked.get(_AFTER, ""))
        if view is None:
            service = await self.service()
            view = await run_in_threadpool(service.view, session.person)
        if not isinstance(view, Page) or view.draft:
            session = await self._with_owner(session)
        # Of a page that is no longer due nothing can be said but where to go on.
        moved = "moved" in asked or "refused" in asked
        return await self.shown(request, session, view, moved=moved)

    async def submit(self, request: Request) -> Response:
        """An answer: acknowledged by the next page, and only once it is on the disk."""
        form, session = await self._form(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        if not same_id(form.token, form_token(session, self.secret)):
            return self._out_of_date(request)
        try:
            service = await self.service()
            # A guest may be anybody who knows the owner's id: what was answered is not theirs.
            coming = service.submit_soon(
                session.person,
                form.step,
                form.values,
                form.timing | form.signals,
                corrects=not session.guest,
                browser=self._browser(session),
                answered=form.answered,
                visit=self._visit(session),
            )
            done = await self._waiting.for_result(coming)
        except LabError:
            page = retry_page(self.frame(request, session), form.fields)
            return HTMLResponse(page, status_code=503, headers={"Retry-After": "5"})
        if isinstance(done, Refused):
            # A redirect, so that the browser's Back button never asks to send the form again.
            earlier = f"/back?from={quote(form.came_from)}" if form.came_from else "/page?refused"
            return self._to(request, earlier)
        if isinstance(done, Moved):
            return self._to(request, "/page?moved")
        if done.following is None:
            return self._to(request, "/page")
        self._note_waiting(done.following)
        self._next_pages.give(session.person, done.step, done.following)
        return self._to(request, f"/page?{_AFTER}={quote(done.step)}")

    async def back(self, request: Request) -> Response:
        """The page before the one named, where one may go back to it."""
        session = self._session(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        asked = request.query_params.get("from", "")
        service = await self.service()
        page = None
        session = await self._with_owner(session)
        if not session.guest:
            page = await run_in_threadpool(service.back, session.person, asked)
        if page is None:
            return self._to(request, "/page?moved")
        return self._page(request, session, page, came_from=asked)

    async def keep_draft(self, request: Request) -> Response:
        """An unfinished page, kept by the script."""
        form, session = await self._form(request)
        if session is None or not same_id(form.token, form_token(session, self.secret)):
            return Response(status_code=403)
        service = await self.service()
        await run_in_threadpool(service.save_draft, session.person, form.step, form.values)
        return Response(status_code=204)

    async def change_language(self, request: Request) -> Response:
        """The same page in another of the study's languages."""
        form, session = await self._form(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        if not same_id(form.token, form_token(session, self.secret)):
            return self._out_of_date(request)
        language = form.fields.get("language", "")
        if language not in self.study.languages:
            raise HTTPException(400)
        if session.guest:
            raise HTTPException(403)
        service = await self.service()
        await run_in_threadpool(service.change_language, session.person, language)
        response = self._to(request, _RETURNS.get(request.query_params.get("at", ""), "/page"))
        self._keep(request, response, dataclasses.replace(session, language=language))
        return response

    def _note_waiting(self, view: View) -> None:
        if isinstance(view, Page) and view.content.live is not None and view.content.live.waiting:
            self.wake()

    async def follow(self, request: Request) -> Response:
        """How the conversation on the person's page stands, for the page's script."""
        session = self._session(request)
        if session is None:
            return Response(status_code=403)
        service = await self.service()
        found = await run_in_threadpool(service.conversation, session.person)
        if found is None:
            return JSONResponse({"shown": 0, "waiting": False, "seconds": 0})
        seconds = round(found.seconds, 1)
        return JSONResponse(
            {"shown": len(found.turns), "waiting": found.waiting, "seconds": seconds}
        )

    async def ask_to_stop(self, request: Request) -> Response:
        """Where to find help, and the choice to stop."""
        session = self._session(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        session = await self._with_owner(session)
        return HTMLResponse(stop_page(self.frame(request, session), guest=session.guest))

    async def stop(self, request: Request) -> Response:
        """The participant stops because they need help."""
        form, session = await self._form(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        if not same_id(form.token, form_token(session, self.secret)):
            return self._out_of_date(request)
        if (await self._with_owner(session)).guest:
            raise HTTPException(403)
        service = await self.service()
        await run_in_threadpool(service.stop, session.person)
        return self._to(request, "/page")

    async def ask_to_leave(self, request: Request) -> Response:
        """The choice to leave, with or without one's answers."""
        session = self._session(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        session = await self._with_owner(session)
        closed = await run_in_threadpool((await self.service()).is_closed)
        frame = self.frame(request, session)
        return HTMLResponse(leave_page(frame, guest=session.guest, closed=closed))

    async def leave(self, request: Request) -> Response:
        """The rater leaves."""
        form, session = await self._form(request)
        if session is None:
            return await self._turned_away(request, "unknown")
        choice = form.fields.get("answers")
        if not same_id(form.token, form_token(session, self.secret)):
            return self._out_of_date(request)
        if choice not in ("keep", "delete"):
            raise HTTPException(400)
        if (await self._with_owner(session)).guest:
            raise HTTPException(403)
        service = await self.service()
        await run_in_threadpool(service.leave, session.person, delete=choice == "delete")
        response = self._to(request, "/left")
        gone = dataclasses.replace(session, left="deleted" if choice == "delete" else "kept")
        self._keep(request, response, gone)
        return response

    async def left(self, request: Request) -> Response:
        """What those see who have left, with what the platform wants to hear of it."""
        session = self._session(request)
        if session is None or not session.left:
            return self._to(request, "/page")
        service = await self.service()
        view = await run_in_threadpool(service.view, session.person)
        if isinstance(view, Page):
            return self._to(request, "/page")
        session = await self._with_owner(session)
        words = self.frame(request, session, session.language).words
        return self._end(request, session, view, words.pages[f"left-{session.left}"])

    def _visit(self, session: Session) -> str:
        return _browser_id(self.secret, session.nonce)

    def _browser(self, session: Session) -> str:
        """Which browser it is, where links do not prove who comes; empty for guests."""
        if session.guest or self.study.recruitment.platform not in _UNSIGNED:
            return ""
        return self._visit(session)

    async def _with_owner(self, session: Session) -> Session:
        """The session, as a guest's where another browser gave the first answer."""
        browser = self._browser(session)
        if not browser:
            return session
        service = await self.service()
        if await run_in_threadpool(service.is_begun_by, session.person, browser):
            return session
        return dataclasses.replace(session, guest=True)

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

    async def service(self) -> RaterService:
        """The service, opened at the first request and kept."""
        if self._service:
            return self._service[0]
        return await run_in_threadpool(self._open)

    @property
    def opened(self) -> RaterService | None:
        """The service, where a request has opened it."""
        return self._service[0] if self._service else None

    def _open(self) -> RaterService:
        with self._lock:
            if not self._service:
                self._service.append(self.service_factory())
            return self._service[0]

    def frame(
        self, request: Request, session: Session | None = None, language: str | None = None
    ) -> Frame:
        """What stands around a page for anyone who asks."""
        session = session or self._session(request)
        spoken = language or (session.language if session else None)
        spoken = spoken or asked_language(request, self.study.languages)
        token = form_token(session, self.secret) if session else ""
        root = request.scope.get("root_path", "")
        guest = session is not None and session.guest
        here = _address(request) if len(self.study.languages) > 1 else ""
        return Frame(self.study, spoken, root, token, guest, here)

    async def shown(
        self, request: Request, session: Session, view: View, *, moved: bool = False
    ) -> Response:
        """What the session's browser is shown of a view."""
        if session.left and not isinstance(view, Page):
            return self._to(request, "/left")
        if isinstance(view, Page):
            return self._page(request, session, view, moved=moved)
        if isinstance(view, Closed):
            return await self._closed(request, session, view)
        debrief = view.content
        if debrief is None:
            said = self.frame(request, session, view.language).words.pages[view.outcome]
            return self._end(request, session, view, said)
        return self._end(request, session, view, Said(debrief.title, debrief.text))

    def _page(
        self,
        request: Request,
        session: Session,
        page: Page,
        *,
        came_from: str = "",
        moved: bool = False,
    ) -> Response:
        """A page with what was refused on it and why, or else what was begun."""
        self._note_waiting(page)
        frame = self.frame(request, session, page.language)
        if session.guest:
            page = dataclasses.replace(page, can_go_back=False)
        refused = page.refused
        if refused is not None and same_id(refused.visit, self._visit(session)):
            said = {name: frame.words.problem_said(one) for name, one in refused.problems.items()}
            filled = Filled(refused.values, said, came_from)
        else:
            begun = {} if session.guest else page.draft
            filled = Filled(begun, {}, came_from, frame.words.moved if moved else "")
        return HTMLResponse(study_page(frame, page, filled))

    async def _closed(self, request: Request, session: Session, closed: Closed) -> Response:
        if closed.reason == "unknown":
            return await self._turned_away(request, "unknown")
        words = self.frame(request, session, closed.language).words
        return self._end(request, session, closed, words.closed[closed.reason])

    def _end(
        self, request: Request, session: Session, view: Finished | Closed, said: Said
    ) -> Response:
        frame = self.frame(request, session, view.language)
        handing, text = self._handing(session, view), said.text
        if isinstance(view, Finished) and view.outcome == "safety":
            text = f"{text}\n\n{frame.said(self.study.help)}"
        if isinstance(view, Finished) and view.deleted:
            text = f"{frame.words.pages['data-withdrawn'].text}\n\n{text}"
        if session.guest:
            # The code pays: anyone who knows another's id must not get it.
            handing, text = Handing(), f"{text}\n\n{frame.words.pages['leave-guest'].text}"
        elif self.study.recruitment.platform == "prolific" and not handing.url:
            text = f"{text}\n\n{frame.words.pages['return-submission'].text}"
        response = HTMLResponse(end_page(frame, said.title, block_html(text), handing))
        if handing.submit_to:
            response.headers["Content-Security-Policy"] = policy(MTURK_HOSTS, MTURK_HOSTS)
        return response

    def _handing(self, session: Session, view: Finished | Closed) -> Handing:
        code = view.completion.code or ""
        if session.submit_to:
            done = isinstance(view, Finished) and view.outcome == "completed"
            if not (done or code):
                return Handing()
            return Handing(code, "", session.submit_to, session.assignment)
        url = view.completion.url or ""
        return Handing(code, url.replace("{survey_code}", quote(session.assignment, safe="")))

    async def _form(self, request: Request) -> tuple[Form, Session | None]:
        return await read_form(request, self.most_bytes), self._session(request)

    async def _turned_away(
        self, request: Request, name: str, status: int = 403, *, way: bool = False
    ) -> Response:
        """Why someone is not let in: that the study is closed, where it is."""
        service = await self.service()
        if await run_in_threadpool(service.is_closed):
            name, way = "closed", False
        return HTMLResponse(plain_page(self.frame(request), name, way=way), status_code=status)

    def _out_of_date(self, request: Request) -> Response:
        return HTMLResponse(plain_page(self.frame(request), "old-form"), status_code=403)

    def _session(self, request: Request) -> Session | None:
        return unseal(request.cookies.get(self._cookie), self.secret)

    @property
    def _cookie(self) -> str:
        return cookie_name(self.secret, self.study.version)

    def _keep(self, request: Request, response: Response, session: Session) -> None:
        framed = self.study.recruitment.platform == "mturk"
        secure = is_secure(request, trust_proxy=self.trust_proxy)
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

    def _to(self, request: Request, path: str) -> Response:
        return RedirectResponse(request.scope.get("root_path", "") + path, status_code=303)


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
