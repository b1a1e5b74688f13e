"""The app of one study's rater pages, to be served by any ASGI server."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from empathylab.errors import LabError, UserError
from empathylab.study.definition import Study
from empathylab.study.web.assets import send_asset
from empathylab.study.web.forms import MOST_BYTES
from empathylab.study.web.pages import RaterPages, RaterService
from empathylab.study.web.recruitment import MTURK_HOSTS
from empathylab.study.web.rendering import plain_page
from empathylab.study.web.security import Guard

_NAMES = {404: "missing", 408: "too-slow", 413: "too-long"}


def create_app(
    service_factory: Callable[[], RaterService],
    *,
    study: Study,
    secret: bytes,
    trust_proxy: bool = False,
    most_bytes: int = MOST_BYTES,
) -> Starlette:
    """The app for a study; `service_factory` is called at the first request.

    `secret` is the study's own and the same in every process that serves it. `trust_proxy` says
    that a proxy stands before the server and writes `X-Forwarded-Proto`.
    """
    pages = RaterPages(service_factory, study, secret, trust_proxy, most_bytes)

    def failed(request: Request) -> Response:
        return HTMLResponse(plain_page(pages.frame(request), "failed"), status_code=500)

    def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        name = _NAMES.get(status, "refused-request")
        page = plain_page(pages.frame(request), name)
        return HTMLResponse(page, status_code=status, headers=headers)

    def unavailable(request: Request, error: Exception) -> Response:
        page = plain_page(pages.frame(request), "unavailable")
        return HTMLResponse(page, status_code=503, headers={"Retry-After": "5"})

    def unknown(request: Request, error: Exception) -> Response:
        page = plain_page(pages.frame(request), "unknown", way=False)
        return HTMLResponse(page, status_code=403)

    frames = MTURK_HOSTS if study.recruitment.platform == "mturk" else ()
    app = Starlette(
        routes=[
            Route("/", pages.arrive),
            Route("/page", pages.show, methods=["GET"]),
            Route("/page", pages.submit, methods=["POST"]),
            Route("/back", pages.back, methods=["GET"]),
            Route("/draft", pages.keep_draft, methods=["POST"]),
            Route("/leave", pages.ask_to_leave, methods=["GET"]),
            Route("/leave", pages.leave, methods=["POST"]),
            Route("/left", pages.left, methods=["GET"]),
            Route("/static/{name}", send_asset, methods=["GET"]),
            Route("/health", pages.health, methods=["GET"]),
            Route("/ready", pages.readiness, methods=["GET"]),
        ],
        middleware=[
            Middleware(Guard, failure=failed, frames=frames, trust_proxy=trust_proxy),
        ],
        exception_handlers={HTTPException: refused, LabError: unavailable, UserError: unknown},
    )
    # It would send people to whatever host a request claims to be for.
    app.router.redirect_slashes = False
    return app
