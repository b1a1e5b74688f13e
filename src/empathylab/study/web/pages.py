"""The rater's pages: each request asks the service what to show, and shows that."""

from __future__ import annotations

import dataclasses
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from empathylab.errors import LabError, UserError
from empathylab.study.assignment.blinding import same_id
from empathylab.study.assignment.quotas import link_traits
from empathylab.study.blocks.forms import Refused
from empathylab.study.blocks.steps import block_of
from empathylab.study.group_commit.waiting import Waiting
from empathylab.study.session.visits import Closed, Moved, Page, PlatformIds, View
from empathylab.study.web.exits import ExitPages
from empathylab.study.web.forms import read_form
from empathylab.study.web.interface_texts import asked_language
from empathylab.study.web.questions import Filled
from empathylab.study.web.recruitment import BadLink, Preview, Visit, read_link
from empathylab.study.web.rendering import message_page, study_page
from empathylab.study.web.sessions import Session, known_from, new_session
from empathylab.study.web.site import UNSIGNED, StudySite

_SECONDS = 5.0
_MOST = 5_000


class NextPages:
    """By participant, the page that the transaction that stored their answer found to come next.

    It saves the request that follows a second read of the database. It is given out once, and only
    after that very answer; every other request reads the database.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, float, View]] = OrderedDict()

    def give(self, person: str, answered: str, view: View) -> None:
        """Keeps what comes after the page that was answered."""
        self._kept.pop(person, None)
        self._kept[person] = (answered, time.monotonic(), view)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def take(self, person: str, answered: str) -> View | None:
        """What comes after that page; None where it is not known, or no longer fresh."""
        kept = self._kept.pop(person, None)
        if kept is None or kept[0] != answered or time.monotonic() - kept[1] > _SECONDS:
            return None
        return kept[2]


_AFTER = "after"
"""The parameter that names the page from whose answer someone comes."""
_RETURNS = {"leave": "/leave", "stop": "/stop"}
"""Where a change of language leads, by the page it was made on; to the page that is due if none."""


@dataclass(frozen=True)
class RaterPages:
    """The handlers of one study."""

    site: StudySite
    wake: Callable[[], None] = lambda: None
    """Called when a participant begins to wait for a live reply."""
    _next_pages: NextPages = field(default_factory=NextPages)
    _waiting: Waiting = field(default_factory=Waiting)

    async def arrive(self, request: Request) -> Response:
        """By a link: who comes is known from now on, and the link's ids leave the address."""
        session = self.site.session(request)
        if request.method == "HEAD":
            return Response()  # a link checker is nobody
        platform = self.site.study.recruitment.platform
        if not request.query_params and session is not None and platform != "open":
            return self.site.to(request, "/page")
        telling = link_traits(self.site.study)
        visit = read_link(
            platform,
            request.query_params,
            self.site.secret,
            telling,
            signed=self.site.study.follow_up is None,
        )
        if isinstance(visit, Preview):
            return await self.site.turned_away(request, "preview", 200)
        if isinstance(visit, BadLink):
            return await self.site.turned_away(request, visit.reason, 400, way=True)
        if platform == "open" and visit.world == "person":
            if session is not None and not await self._is_forgotten(session):
                return self.site.to(request, "/page")
            before = known_from(request.cookies, self.site.secret)
            visit = dataclasses.replace(visit, participant=before or visit.participant)
        return await self._begin(request, visit)

    async def _is_forgotten(self, session: Session) -> bool:
        """Whether a researcher has deleted all of a person who never left."""
        if session.left:
            return False
        service = await self.site.service()
        view = await run_in_threadpool(service.view, session.person)
        return isinstance(view, Closed) and view.reason == "unknown"

    async def _begin(self, request: Request, visit: Visit) -> Response:
        language = asked_language(request, self.site.study.languages)
        platform, before = self.site.study.recruitment.platform, self.site.session(request)
        ids = PlatformIds(platform, visit.participant, visit.study, visit.session, visit.traits)
        service = await self.site.service()
        named = platform in UNSIGNED and visit.world == "person"
        known = named and await run_in_threadpool(service.is_known, ids)
        try:
            person = await run_in_threadpool(
                service.arrive, ids, world=visit.world, language=language
            )
        except LabError:
            raise
        except UserError:
            return await self.site.turned_away(request, "refused")
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
        response = self.site.to(request, "/page")
        self.site.keep(request, response, session)
        return response

    async def show(self, request: Request) -> Response:
        """The page that is due."""
        session = self.site.require_session(request)
        asked = request.query_params
        view = self._next_pages.take(session.person, asked.get(_AFTER, ""))
        if view is None:
            service = await self.site.service()
            view = await run_in_threadpool(service.view, session.person)
        if not isinstance(view, Page) or view.draft or self._is_private(view):
            session = await self.site.with_owner(session)
        # Of a page that is no longer due nothing can be said but where to go on.
        moved = "moved" in asked or "refused" in asked
        return await self.shown(request, session, view, moved=moved)

    async def submit(self, request: Request) -> Response:
        """An answer: acknowledged by the next page, and only once it is on the disk."""
        form, session = await self.site.sent_form(request)
        try:
            service = await self.site.service()
            # A guest only knows the owner's ID: the answers are not theirs.
            coming = service.submit_soon(
                session.person,
                form.step,
                form.values,
                form.timing | form.signals,
                corrects=not session.guest,
                browser=self.site.browser(session),
                answered=form.answered,
                visit=self.site.visit(session),
            )
            done = await self._waiting.for_result(coming)
        except LabError:
            frame = self.site.frame(request, session)
            page = message_page(frame, "not-saved", "retry", fields=form.fields)
            return HTMLResponse(page, status_code=503, headers={"Retry-After": "5"})
        if isinstance(done, Refused):
            # A redirect, so that the browser's Back button never asks to send the form again.
            earlier = f"/back?from={quote(form.came_from)}" if form.came_from else "/page?refused"
            return self.site.to(request, earlier)
        if isinstance(done, Moved):
            return self.site.to(request, "/page?moved")
        if done.following is None:
            return self.site.to(request, "/page")
        self._note_waiting(done.following)
        self._next_pages.give(session.person, done.step, done.following)
        return self.site.to(request, f"/page?{_AFTER}={quote(done.step)}")

    async def back(self, request: Request) -> Response:
        """The page before the one named, where one may go back to it."""
        session = self.site.require_session(request)
        asked = request.query_params.get("from", "")
        service = await self.site.service()
        page = None
        session = await self.site.with_owner(session)
        if not session.guest:
            page = await run_in_threadpool(service.back, session.person, asked)
        if page is None:
            return self.site.to(request, "/page?moved")
        return self._page(request, session, page, came_from=asked)

    async def keep_draft(self, request: Request) -> Response:
        """An unfinished page, kept by the script."""
        form = await read_form(request)
        session = self.site.session(request)
        if session is None or not self.site.is_current(form, session):
            return Response(status_code=403)
        if (await self.site.with_owner(session)).guest:
            return Response(status_code=204)  # what the owner has begun stays as it is
        service = await self.site.service()
        await run_in_threadpool(service.save_draft, session.person, form.step, form.values)
        return Response(status_code=204)

    async def change_language(self, request: Request) -> Response:
        """The same page in another of the study's languages."""
        form, session = await self.site.sent_form(request)
        language = form.fields.get("language", "")
        if language not in self.site.study.languages:
            raise HTTPException(400)
        if session.guest:
            raise HTTPException(403)
        service = await self.site.service()
        await run_in_threadpool(service.change_language, session.person, language)
        response = self.site.to(request, _RETURNS.get(request.query_params.get("at", ""), "/page"))
        self.site.keep(request, response, dataclasses.replace(session, language=language))
        return response

    def _is_private(self, page: Page) -> bool:
        """Whether the page shows what participants have told, which nobody else may read."""
        return self.site.study.block(block_of(page.step)).is_live

    def _note_waiting(self, view: View) -> None:
        if isinstance(view, Page) and view.content.live is not None and view.content.live.waiting:
            self.wake()

    async def follow(self, request: Request) -> Response:
        """How the conversation on the person's page stands, for the page's script."""
        session = self.site.session(request)
        if session is None:
            return Response(status_code=403)
        service = await self.site.service()
        conversation = await run_in_threadpool(service.conversation, session.person)
        if conversation is None:
            return JSONResponse({"shown": 0, "waiting": False, "seconds": 0})
        seconds = round(conversation.seconds, 1)
        return JSONResponse(
            {"shown": len(conversation.turns), "waiting": conversation.waiting, "seconds": seconds}
        )

    async def shown(
        self, request: Request, session: Session, view: View, *, moved: bool = False
    ) -> Response:
        """What the session's browser is shown of a view."""
        if session.left and not isinstance(view, Page):
            return self.site.to(request, "/left")
        if isinstance(view, Page):
            return self._page(request, session, view, moved=moved)
        return await ExitPages(self.site).end(request, session, view)

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
        frame = self.site.frame(request, session, page.language)
        if session.guest and self._is_private(page):
            return HTMLResponse(message_page(frame, "leave-guest", way=False))
        if session.guest:
            page = dataclasses.replace(page, can_go_back=False)
        notice = frame.words.for_guests if session.guest else ""
        visit = self.site.visit(session)
        refused = next((form for form in page.refused if same_id(form.visit, visit)), None)
        if refused is not None:
            problems = {
                name: frame.words.problem_text(problem)
                for name, problem in refused.problems.items()
            }
            filled = Filled(refused.values, problems, came_from, notice)
        else:
            draft = {} if session.guest else page.draft
            filled = Filled(draft, {}, came_from, frame.words.moved if moved else notice)
        return HTMLResponse(study_page(frame, page, filled))
