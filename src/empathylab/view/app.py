"""The viewer's app, for any ASGI server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from empathylab.errors import LabError, UserError
from empathylab.study.web.security import Guard
from empathylab.view.access import Access
from empathylab.view.pages import ROUTES
from empathylab.view.rendering import ASSETS, Page, asset, asset_paths, render, section
from empathylab.view.tables import Table, table_page
from empathylab.view.viewed_lab import ViewedLab
from empathylab.view.visits import Visit, required

_ERRORS = {
    404: ("There is no such page", "It may have been deleted from the lab since you opened it."),
    405: ("That did not work", "The viewer is read-only."),
}


def create_app(lab: ViewedLab, *, token: str, cookie: str = "empathylab-view") -> Starlette:
    """The app for a lab; `token` lets a browser in, and `cookie` is the name it is kept under."""
    app = Starlette(
        routes=[
            *(
                Route(path, partial(_show, lab, handler), methods=["GET"])
                for path, handler in ROUTES
            ),
            Route("/static/{name}", _send_asset, methods=["GET"]),
        ],
        middleware=[
            Middleware(Guard, failure=_failed, frames=()),
            Middleware(Access, token=token, cookie=cookie),
        ],
        exception_handlers={HTTPException: _refused, LabError: _unavailable, UserError: _wrong},
    )
    # It would send people to whatever host a request claims to be for.
    app.router.redirect_slashes = False
    app.state.folder = lab.folder
    return app


def _show(lab: ViewedLab, handler: Callable[[Visit], Page], request: Request) -> Response:
    # PostgreSQL takes no NUL; a browser writes it in this way, too.
    query = {name: value.replace("\0", "\ufffd") for name, value in request.query_params.items()}
    with lab.reading() as (opened, connection):
        visit = Visit(opened, connection, query, dict(request.path_params), lab.index_replies)
        page = handler(visit)
        if "csv" in query:
            return _send_csv(lab, _table(page, query["csv"]))
        path = request.url.path
        tables = {table.name: table_page(connection, table, path, query) for table in page.tables}
    text = render(
        page.template,
        title=page.title,
        here=section(path),
        lab_name=lab.folder.resolve().name,
        live=page.live,
        tables=tables,
        query=query,
        **page.values,
    )
    return HTMLResponse(text, status_code=page.status)


def _table(page: Page, name: str) -> Table:
    return required(next((table for table in page.tables if table.name == name), None))


def _send_csv(lab: ViewedLab, table: Table) -> Response:
    def lines() -> Iterator[bytes]:
        with lab.reading() as (_, connection):
            for part in table.csv_lines(connection):
                yield part.encode()

    name = f'attachment; filename="{table.name}.csv"'
    headers = {"Content-Disposition": name}
    return StreamingResponse(lines(), media_type="text/csv; charset=utf-8", headers=headers)


async def _send_asset(request: Request) -> Response:
    asked = request.path_params["name"]
    names = {served: own for own, served in asset_paths().items()} | {"icon.svg": "view.svg"}
    name = names.get(asked)
    if name is None:
        raise HTTPException(404)
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(asset(name), media_type=ASSETS[name], headers=headers)


def _error_page(title: str, sentence: str, status: int) -> Response:
    text = render(
        "error", title=title, sentence=sentence, here="", lab_name="", live=False, query={}
    )
    return HTMLResponse(text, status_code=status)


def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    title, sentence = _ERRORS.get(status, ("That did not work", "The request cannot be answered."))
    if isinstance(error, HTTPException) and status not in _ERRORS and error.detail:
        sentence = error.detail
    return _error_page(title, sentence, status)


def _unavailable(_request: Request, error: Exception) -> Response:
    return _error_page("The lab cannot be read", str(error), 503)


def _wrong(_request: Request, error: Exception) -> Response:
    return _error_page("This cannot be shown", str(error), 422)


def _failed(_request: Request) -> Response:
    return _error_page("Something went wrong", "See the terminal in which the viewer runs.", 500)
