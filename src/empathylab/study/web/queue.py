"""The page of trained confederates, who answer participants: entered by a signed link."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.blocks.forms import clean_text
from empathylab.study.live.confederates import ConfederateQueue, Queue, confederate_of
from empathylab.study.web.forms import read_form
from empathylab.study.web.rendering import separate_page
from empathylab.study.web.sealing import seal, unseal
from empathylab.study.web.security import is_secure

_PURPOSE = "queue"
_DAYS = 30
_MOST_COOKIE = 500


@dataclass(frozen=True)
class QueuePages:
    """The handlers of one study's queue."""

    queue: Callable[[], ConfederateQueue]
    secret: bytes

    @property
    def routes(self) -> tuple[Route, ...]:
        """All that a confederate can ask for."""
        return (
            Route("/queue", self.show, methods=["GET"]),
            Route("/queue", self.act, methods=["POST"]),
            Route("/queue/news", self.news, methods=["GET"]),
        )

    async def show(self, request: Request) -> Response:
        """The conversations of the confederate; a link leaves the address at once."""
        if link := request.query_params.get("link"):
            return self._let_in(request, link)
        who = self._who(request)
        queue = await run_in_threadpool(lambda: self.queue().view(who))
        html = separate_page(
            "queue",
            root=request.scope.get("root_path", ""),
            who=who,
            queue=queue,
            asked=sum(talk.asked_at is not None for talk in queue.taken),
            form=self._token(who),
            version=_version(queue),
            problem=request.query_params.get("problem", "")[:200],
        )
        return HTMLResponse(html)

    def _let_in(self, request: Request, link: str) -> Response:
        who = confederate_of(self.secret, link)
        if who is None:
            raise HTTPException(403)
        response = self._back(request)
        response.set_cookie(
            self._cookie,
            seal({"who": who}, self.secret, _PURPOSE),
            max_age=_DAYS * 24 * 3600,
            path=request.scope.get("root_path", "") or "/",
            secure=is_secure(request),
            httponly=True,
            samesite="lax",
        )
        return response

    async def act(self, request: Request) -> Response:
        """Takes the next conversation, or replies in one."""
        who = self._who(request)
        form = await read_form(request)
        if not same_id(form.token, self._token(who)):
            raise HTTPException(403)
        problem = ""
        if form.fields.get("act") == "take":
            await run_in_threadpool(lambda: self.queue().take_next(who))
        else:
            number, text = form.fields.get("conversation", ""), form.fields.get("text", "")
            if not number.isdecimal():
                raise HTTPException(400)
            reply = int(number[:18]), clean_text(text)
            problem = await run_in_threadpool(lambda: self.queue().reply(who, *reply))
        return self._back(request, problem)

    async def news(self, request: Request) -> Response:
        """Whether the page would look different now, for its script."""
        who = self._who(request)
        queue = await run_in_threadpool(lambda: self.queue().view(who))
        return JSONResponse({"version": _version(queue)})

    def _who(self, request: Request) -> str:
        cookie = request.cookies.get(self._cookie)
        content = unseal(cookie, self.secret, _PURPOSE, most=_MOST_COOKIE)
        if content is None:
            raise HTTPException(403)
        return str(content["who"])

    @property
    def _cookie(self) -> str:
        return f"queue-{opaque_id(self.secret, 'queue cookie')[:8]}"

    def _token(self, who: str) -> str:
        return opaque_id(self.secret, "queue form", who)

    def _back(self, request: Request, problem: str = "") -> Response:
        asked = f"?{urlencode({'problem': problem})}" if problem else ""
        return RedirectResponse(f"{request.scope.get('root_path', '')}/queue{asked}", 303)


def _version(queue: Queue) -> str:
    """A digest that differs between states of the page."""
    state = [(item.number, len(item.turns), item.asked_at is None) for item in queue.taken]
    return hashlib.sha256(repr((queue.waiting, state)).encode()).hexdigest()[:16]
