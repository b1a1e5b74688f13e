"""Every page of a study's file in the browser, before anything is launched.

The pages are those of the participants: the same handlers and templates, filled from the file. The
frame around them chooses arm, language and page, and loads again when the file is saved. Nothing is
stored, and every address holds a token, so that no other page in the browser can reach it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NoReturn, cast, get_args
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from empathylab.errors import UserError
from empathylab.study.assignment.blinding import same_id
from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.checks import Checked
from empathylab.study.design.definition import Study
from empathylab.study.design.preview import Preview
from empathylab.study.session.visits import (
    Closed,
    ClosedReason,
    Finished,
    Page,
    View,
    completion_for,
)
from empathylab.study.web.assets import send_asset
from empathylab.study.web.forms import read_form
from empathylab.study.web.pages import RaterPages
from empathylab.study.web.rendering import leave_page, separate_page
from empathylab.study.web.security import Guard, policy
from empathylab.study.web.sessions import Session
from empathylab.study.web.site import Lazy, StudySite

FRAMES = {"both": "Phone and desktop", "phone": "Phone", "desktop": "Desktop"}
_SECRET = b"a preview knows nobody"
_CLOSED: tuple[ClosedReason, ...] = (
    "full",
    "quota",
    "paused",
    "closed",
    "given-on",
    "returned",
    "repeated",
)
_SELF = ("'self'",)


@dataclass(frozen=True, slots=True)
class Previewed:
    """A study's file as it was read last."""

    version: str
    """Changes with the file."""
    checked: Checked | None = field(default=None, hash=False)
    error: str = ""
    """Why the file cannot be shown."""


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """A page that can be chosen in the preview."""

    key: str
    label: str
    group: str


class PreviewFile:
    """A study's file, read again whenever it has changed."""

    def __init__(self, file: Path, read: Callable[[Path], Checked]) -> None:
        self._file = file
        self._check = read
        self._lock = threading.Lock()
        self._last: Previewed | None = None

    def read(self) -> Previewed:
        """The file as it is now, or what is wrong with it."""
        with self._lock:
            try:
                version = hashlib.sha256(self._file.read_bytes()).hexdigest()[:16]
            except OSError as error:
                version = f"unreadable-{error.errno}"
            if self._last is None or self._last.version != version:
                self._last = self._read(version)
            return self._last

    def _read(self, version: str) -> Previewed:
        try:
            return Previewed(version, self._check(self._file))
        except UserError as error:
            return Previewed(version, error=str(error))


def create_preview(file: PreviewFile, token: str) -> Starlette:
    """The app that shows the file, below a path that begins with the token."""
    handlers = _Handlers(file, token)
    page = "/{token}/{arm}/{language}"

    def failed(request: Request) -> Response:
        return PlainTextResponse("This page could not be shown.\n", status_code=500)

    def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return PlainTextResponse("There is no such page in this preview.\n", status_code=status)

    return Starlette(
        routes=[
            Route("/{token}/", handlers.show, methods=["GET"]),
            Route("/{token}/version", handlers.version, methods=["GET"]),
            Route("/{token}/static/{name}", handlers.asset, methods=["GET"]),
            Route(page + "/static/{name}", handlers.asset, methods=["GET"]),
            Route(page + "/page", handlers.page, methods=["GET"]),
            Route(page + "/page", handlers.next, methods=["POST"]),
            Route(page + "/back", handlers.back, methods=["GET"]),
            Route(page + "/leave", handlers.leave, methods=["GET"]),
            Route(page + "/leave", handlers.left, methods=["POST"]),
            Route(page + "/language", handlers.language, methods=["POST"]),
            Route(page + "/draft", handlers.draft, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, failure=failed, frames=_SELF)],
        exception_handlers={HTTPException: refused},
    )


class _Handlers:
    def __init__(self, file: PreviewFile, token: str) -> None:
        self._file = file
        self._token = token

    def show(self, request: Request) -> Response:
        """The frame with the chosen page in it, or what is wrong with the file."""
        self._require_token(request)
        read, asked = self._file.read(), request.query_params
        frames = asked.get("frames", "")
        chosen = {"frames": frames if frames in FRAMES else "both", "arm": "", "language": ""}
        listed: list[PreviewPage] = []
        if read.checked is not None and read.checked.pages:
            pages = read.checked.pages
            chosen["arm"] = _one_of(asked.get("arm", ""), pages)
            chosen["language"] = _one_of(asked.get("language", ""), pages[chosen["arm"]])
            listed = _listed(read.checked, pages[chosen["arm"]][chosen["language"]])
            chosen["step"] = _one_of(asked.get("step", ""), {shown.key: shown for shown in listed})
        root = f"/{self._token}"
        groups = [
            (group, list(pages)) for group, pages in groupby(listed, lambda shown: shown.group)
        ]
        html = separate_page(
            "preview",
            root=root,
            read=read,
            chosen=chosen,
            groups=groups,
            frames=FRAMES,
            address=_page_url(root, chosen),
        )
        headers = {"Content-Security-Policy": f"{policy(_SELF)}; frame-src 'self'"}
        return HTMLResponse(html, headers=headers)

    def version(self, request: Request) -> Response:
        """Changes when the file has been saved."""
        self._require_token(request)
        return JSONResponse({"version": self._file.read().version})

    async def asset(self, request: Request) -> Response:
        """A style sheet or script."""
        self._require_token(request)
        return await send_asset(request)

    async def page(self, request: Request) -> Response:
        """One page, as participants get it."""
        pages, session, preview = self._opened(request)
        key = request.query_params.get("step") or preview.rows[0].step
        view = _view(pages.site.study, preview, session.language, key)
        if view is None:
            return self._to(request, preview.rows[0].step)
        return await pages.shown(request, session, view)

    async def next(self, request: Request) -> Response:
        """The page after the one whose form was sent; no answer is looked at."""
        _, _, preview = self._opened(request)
        return self._to(request, _beside(preview, (await read_form(request)).step, 1))

    def back(self, request: Request) -> Response:
        """The page before."""
        _, _, preview = self._opened(request)
        return self._to(request, _beside(preview, request.query_params.get("from", ""), -1))

    def leave(self, request: Request) -> Response:
        """The choice to leave."""
        pages, session, _ = self._opened(request)
        return HTMLResponse(leave_page(pages.site.frame(request, session)))

    async def left(self, request: Request) -> Response:
        """What those see who have left."""
        self._opened(request)
        await read_form(request)
        return self._to(request, "end/withdrawn")

    async def language(self, request: Request) -> Response:
        """The first page in another language; the frame around it keeps the page."""
        self._opened(request)
        language = (await read_form(request)).fields.get("language", "")
        arm = quote(request.path_params["arm"], safe="")
        return RedirectResponse(f"/{self._token}/{arm}/{quote(language)}/page", status_code=303)

    async def draft(self, request: Request) -> Response:
        """Nothing is kept."""
        self._opened(request)
        await read_form(request)
        return Response(status_code=204)

    def _opened(self, request: Request) -> tuple[RaterPages, Session, Preview]:
        self._require_token(request)
        arm, language = request.path_params["arm"], request.path_params["language"]
        checked = self._file.read().checked
        preview = None if checked is None else checked.pages.get(arm, {}).get(language)
        if checked is None or preview is None:
            raise HTTPException(404)
        request.scope["root_path"] = f"/{self._token}/{quote(arm, safe='')}/{language}"
        session = Session("preview", "preview", language)
        return RaterPages(StudySite(Lazy(_no_service), checked.study, _SECRET)), session, preview

    def _to(self, request: Request, step: str) -> Response:
        address = f"{request.scope['root_path']}/page?{urlencode({'step': step})}"
        return RedirectResponse(address, status_code=303)

    def _require_token(self, request: Request) -> None:
        if not same_id(request.path_params["token"], self._token):
            raise HTTPException(404)


def _no_service() -> NoReturn:
    raise RuntimeError("a preview has no records")


def _listed(checked: Checked, preview: Preview) -> list[PreviewPage]:
    """The pages in their order, then every way in which it can end."""
    pages = [PreviewPage(row.step, f"{row.number}. {row.page}", row.block) for row in preview.rows]
    study = checked.study
    early = dict.fromkeys(
        early_outcome for block in study.blocks for early_outcome in block.early_outcomes
    )
    outcomes: list[Outcome] = [*early, "screened-out", "withdrawn"]
    if study.time_limits.finish_within is not None:
        outcomes.append("timed-out")
    ends = [
        PreviewPage(f"end/{outcome}", outcome, "Other endings")
        for outcome in dict.fromkeys(outcomes)
    ]
    return pages + ends + [PreviewPage(f"closed/{item}", item, "Not let in") for item in _CLOSED]


def _view(study: Study, preview: Preview, language: str, key: str) -> View | None:
    kind, _, name = key.partition("/")
    if kind == "end" and name in get_args(Outcome):
        outcome = cast("Outcome", name)
        return Finished(outcome, None, completion_for(study, outcome), language)
    if kind == "closed" and name in _CLOSED:
        outcome = "screened-out" if name in ("quota", "repeated") else "full"
        return Closed(name, completion_for(study, outcome), language)
    for row in preview.rows:
        if row.step == key and row is preview.rows[-1]:
            return Finished("completed", row.content, completion_for(study, "completed"), language)
        if row.step == key:
            progress = (row.number - 1) / len(preview.rows)
            return Page(key, row.content, progress, row.can_go_back, language=language)
    return None


def _beside(preview: Preview, step: str, by: int) -> str:
    keys = [row.step for row in preview.rows]
    place = keys.index(step) + by if step in keys else 0
    return keys[min(max(place, 0), len(keys) - 1)]


def _page_url(root: str, chosen: Mapping[str, str]) -> str:
    if not chosen.get("step"):
        return ""
    arm, language = quote(chosen["arm"], safe=""), chosen["language"]
    return f"{root}/{arm}/{language}/page?{urlencode({'step': chosen['step']})}"


def _one_of(asked: str, known: Mapping[str, object]) -> str:
    return asked if asked in known else next(iter(known))
