"""How participants end: they leave, they stop because they need help, or they have finished."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from empathylab.study.design.definition import Study
from empathylab.study.session.visits import Closed, Finished, Page
from empathylab.study.web.interface_texts import PageText
from empathylab.study.web.markdown import block_html
from empathylab.study.web.recruitment import MTURK_HOSTS
from empathylab.study.web.rendering import Handing, end_page, leave_page, message_page
from empathylab.study.web.security import policy
from empathylab.study.web.sessions import Session
from empathylab.study.web.site import StudySite


@dataclass(frozen=True)
class ExitPages:
    """The handlers with which a participant's part ends."""

    site: StudySite

    async def ask_to_stop(self, request: Request) -> Response:
        """Where to find help, and the choice to stop."""
        session = await self.site.with_owner(self.site.require_session(request))
        frame = self.site.frame(request, session)
        return HTMLResponse(message_page(frame, "need-help", "stop", guest=session.guest))

    async def stop(self, request: Request) -> Response:
        """The participant stops because they need help."""
        _, session = await self.site.sent_form(request)
        if (await self.site.with_owner(session)).guest:
            raise HTTPException(403)
        service = await self.site.service()
        await run_in_threadpool(service.stop, session.person)
        return self.site.to(request, "/page")

    async def ask_to_leave(self, request: Request) -> Response:
        """The choice to leave, with or without one's answers."""
        session = await self.site.with_owner(self.site.require_session(request))
        closed = await run_in_threadpool((await self.site.service()).is_closed)
        frame = self.site.frame(request, session)
        return HTMLResponse(leave_page(frame, guest=session.guest, closed=closed))

    async def leave(self, request: Request) -> Response:
        """The rater leaves."""
        form, session = await self.site.sent_form(request)
        choice = form.fields.get("answers")
        if choice not in ("keep", "delete"):
            raise HTTPException(400)
        if (await self.site.with_owner(session)).guest:
            raise HTTPException(403)
        service = await self.site.service()
        await run_in_threadpool(service.leave, session.person, delete=choice == "delete")
        response = self.site.to(request, "/left")
        ended = dataclasses.replace(session, left="deleted" if choice == "delete" else "kept")
        self.site.keep(request, response, ended)
        return response

    async def left(self, request: Request) -> Response:
        """What those see who have left, with what the platform wants to hear of it."""
        session = self.site.session(request)
        if session is None or not session.left:
            return self.site.to(request, "/page")
        service = await self.site.service()
        view = await run_in_threadpool(service.view, session.person)
        if isinstance(view, Page):
            return self.site.to(request, "/page")
        session = await self.site.with_owner(session)
        words = self.site.frame(request, session, session.language).words
        return self._end(request, session, view, words.pages[f"left-{session.left}"])

    async def end(self, request: Request, session: Session, view: Finished | Closed) -> Response:
        """The last page: the debriefing, or why there is none."""
        if isinstance(view, Closed) and view.reason == "unknown":
            return await self.site.turned_away(request, "unknown")
        words = self.site.frame(request, session, view.language).words
        if isinstance(view, Closed):
            page_text = words.closed[view.reason]
        elif view.content is None:
            page_text = words.pages[view.outcome]
        else:
            page_text = PageText(view.content.title, view.content.text)
        return self._end(request, session, view, page_text)

    def _end(
        self, request: Request, session: Session, view: Finished | Closed, page_text: PageText
    ) -> Response:
        frame = self.site.frame(request, session, view.language)
        handing, text = _handing(session, view), page_text.text
        in_crisis = isinstance(view, Finished) and view.outcome == "safety"
        if isinstance(view, Finished) and view.deleted:
            text = f"{frame.words.pages['data-withdrawn'].text}\n\n{text}"
        if session.guest:
            # The code pays: anyone who knows another's id must not get it.
            handing, text = Handing(), f"{text}\n\n{frame.words.for_guests}"
        elif _has_submission(self.site.study, view) and not handing.url:
            text = f"{text}\n\n{frame.words.pages['return-submission'].text}"
        response = HTMLResponse(
            end_page(frame, page_text.title, block_html(text), handing, with_help=in_crisis)
        )
        if handing.submit_to:
            response.headers["Content-Security-Policy"] = policy(MTURK_HOSTS, MTURK_HOSTS)
        return response


def _has_submission(study: Study, view: Finished | Closed) -> bool:
    """Whether Prolific waits for what becomes of the person's submission."""
    returned = isinstance(view, Closed) and view.reason == "returned"
    return study.recruitment.platform == "prolific" and not returned


def _handing(session: Session, view: Finished | Closed) -> Handing:
    code = view.completion.code or ""
    if session.submit_to:
        done = isinstance(view, Finished) and view.outcome == "completed"
        if not (done or code):
            return Handing()
        return Handing(code, "", session.submit_to, session.assignment)
    url = view.completion.url or ""
    return Handing(code, url.replace("{survey_code}", quote(session.assignment, safe="")))
