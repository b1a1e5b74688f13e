"""The app of one study: the raters' pages and the researcher's console, for any ASGI server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from empathylab.errors import LabError, UserError
from empathylab.study.admin.alerts import ErrorNotes
from empathylab.study.design.definition import Study
from empathylab.study.live.confederates import ConfederateQueue
from empathylab.study.live.engine import LiveEngine
from empathylab.study.session.service import StudyService
from empathylab.study.web.assets import send_asset
from empathylab.study.web.console import RULES, Console, error_page, guarded, guarded_routes
from empathylab.study.web.exits import ExitPages
from empathylab.study.web.pages import RaterPages
from empathylab.study.web.queue import QueuePages
from empathylab.study.web.recruitment import MTURK_HOSTS
from empathylab.study.web.rendering import message_page
from empathylab.study.web.security import Guard
from empathylab.study.web.site import OLD_FORM, Lazy, StudySite, UnknownVisitor

log = logging.getLogger("empathylab.study.web")
_PAUSE = 5.0
"""Seconds before the lab is asked for again."""
_NAMES = {404: "missing", 408: "too-slow", 413: "too-long"}


def create_app(
    service_factory: Callable[[], StudyService],
    *,
    study: Study,
    secret: bytes,
    public_url: str = "",
) -> Starlette:
    """The app for a study; `service_factory` is called at the first request.

    `secret` is the study's own and the same in every process that serves it. `public_url` is the
    address in links for researchers; without it they have the address of the request. Behind a
    proxy, the server must set scheme and address of requests, as `server_config` has it done.
    """
    service = Lazy(service_factory)
    replies = LiveReplies(service) if study.live is not None else None
    wake = replies.wake if replies is not None else _nothing
    site = StudySite(service, study, secret)
    pages, exits = RaterPages(site, wake), ExitPages(site)
    console = Lazy(lambda: Console(service(), public_url=public_url))
    errors = ErrorNotes()

    def note_error() -> None:
        if service.value is not None:
            errors.note(service.value)

    def failed(request: Request) -> Response:
        if _is_console(request):
            return guarded(error_page(request, 500))
        return HTMLResponse(message_page(site.frame(request), "failed"), status_code=500)

    def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        if _is_console(request):
            return guarded(error_page(request, status))
        is_old = isinstance(error, HTTPException) and error.detail == OLD_FORM
        name = OLD_FORM if is_old else _NAMES.get(status, "refused-request")
        page = message_page(site.frame(request), name)
        return HTMLResponse(page, status_code=status, headers=headers)

    def unavailable(request: Request, error: Exception) -> Response:
        page = message_page(site.frame(request), "unavailable")
        return HTMLResponse(page, status_code=503, headers={"Retry-After": "5"})

    def unknown(request: Request, error: Exception) -> Response:
        page = message_page(site.frame(request), "unknown", way=False)
        return HTMLResponse(page, status_code=403)

    async def nobody(request: Request, error: Exception) -> Response:
        return await site.turned_away(request, "unknown")

    frames = MTURK_HOSTS if study.recruitment.platform == "mturk" else ()
    app = Starlette(
        routes=[
            Route("/", pages.arrive),
            Route("/page", pages.show, methods=["GET"]),
            Route("/page", pages.submit, methods=["POST"]),
            Route("/back", pages.back, methods=["GET"]),
            Route("/draft", pages.keep_draft, methods=["POST"]),
            Route("/language", pages.change_language, methods=["POST"]),
            Route("/leave", exits.ask_to_leave, methods=["GET"]),
            Route("/leave", exits.leave, methods=["POST"]),
            Route("/left", exits.left, methods=["GET"]),
            *(_live_routes(pages, exits) if replies is not None else ()),
            *_queue_routes(service, study, secret),
            Route("/static/{name}", send_asset, methods=["GET"]),
            Route("/health", site.health, methods=["GET"]),
            Route("/ready", site.readiness, methods=["GET"]),
            *guarded_routes(RULES, console),
        ],
        middleware=[
            Middleware(Guard, failure=failed, trouble=note_error, frames=frames),
        ],
        lifespan=replies.lifespan if replies is not None else None,
        exception_handlers={
            HTTPException: refused,
            LabError: unavailable,
            UserError: unknown,
            UnknownVisitor: nobody,
        },
    )
    # It would send people to whatever host a request claims to be for.
    app.router.redirect_slashes = False
    return app


def _live_routes(pages: RaterPages, exits: ExitPages) -> tuple[Route, ...]:
    return (
        Route("/live", pages.follow, methods=["GET"]),
        Route("/stop", exits.ask_to_stop, methods=["GET"]),
        Route("/stop", exits.stop, methods=["POST"]),
    )


def _queue_routes(service: Lazy[StudyService], study: Study, secret: bytes) -> tuple[Route, ...]:
    """The pages of confederates, where a study has such."""
    has_queue = study.live is not None and any(
        author.person == "confederate" for author in study.live.authors.values()
    )
    queue = Lazy(lambda: ConfederateQueue(service()))
    return QueuePages(queue, secret).routes if has_queue else ()


def _nothing() -> None:
    """Nobody waits for a reply in a study without live replies."""


def _is_console(request: Request) -> bool:
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    return path == "/console" or path.startswith("/console/")


class LiveReplies:
    """Runs the engine for as long as the app does; `wake` makes it look for turns at once."""

    def __init__(self, open_service: Callable[[], StudyService]) -> None:
        self._open_service = open_service
        self._engine: LiveEngine | None = None

    def wake(self) -> None:
        """Someone waits for a reply."""
        if self._engine is not None:
            self._engine.wake()

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """From the start of the app to its end."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while True:
            try:
                service = await run_in_threadpool(self._open_service)
            except LabError as error:
                log.warning("live replies wait for the lab: %s", error)
                await asyncio.sleep(_PAUSE)
                continue
            self._engine = LiveEngine(service)
            await self._engine.run()
