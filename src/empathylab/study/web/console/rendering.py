"""The console's pages as HTML."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from importlib.resources import files
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from empathylab.study.session.visits import shown_status
from empathylab.study.web.assets import asset_paths
from empathylab.study.web.console.visits import Least, Visit

_ERRORS = {
    400: ("That did not work", "The request could not be read. Nothing was changed."),
    401: ("You are signed out", "Nothing was changed. Please sign in again."),
    403: ("You may not do that", "Your role does not allow it. Nothing was changed."),
    404: ("There is no such page", "Perhaps the address was shortened."),
    405: ("That did not work", "This page cannot be asked for in that way."),
    408: ("That took too long", "The form did not arrive in time. Nothing was changed."),
    413: ("That was too long", "The form is longer than can be read. Nothing was changed."),
    415: ("That did not work", "Only a plain form can be sent here. Nothing was changed."),
    422: ("That cannot be done", "Nothing was changed."),
    503: ("The records cannot be reached", "Nothing was changed. Please try again in a minute."),
}
_FAILED = ("Something went wrong", "What you just did may not have been done. Please look again.")


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation."""

    path: str
    label: str
    least: Least


NAVIGATION: tuple[Entry, ...] = (
    Entry("/console", "Overview", "viewer"),
    Entry("/console/participants", "Participants", "viewer"),
    Entry("/console/comments", "Comments", "viewer"),
    Entry("/console/steer", "Steer", "researcher"),
    Entry("/console/results", "Results", "viewer"),
    Entry("/console/downloads", "Downloads", "researcher"),
    Entry("/console/audit", "Audit log", "viewer"),
    Entry("/console/accounts", "Accounts", "owner"),
)


def page(visit: Visit, template: str, title: str, *, status: int = 200, **more: Any) -> Response:
    """A page of the console around what the template shows.

    `error` and `typed` are those of a form that was refused before.
    """
    entries: Sequence[Entry] = [one for one in NAVIGATION if visit.may(one.least)]
    text = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(
            title=title,
            root=visit.root,
            form=visit.token,
            researcher=visit.researcher,
            may=visit.may,
            navigation=entries if visit.researcher else (),
            here=visit.request.url.path.removeprefix(visit.root),
            study=visit.console.launched.study,
            state=visit.console.status() if visit.researcher else "",
            assets=asset_paths(),
            **{"error": visit.error, "typed": visit.typed, **more},
        )
    )
    return HTMLResponse(text, status_code=status)


def error_page(request: Request, status: int, sentence: str = "") -> Response:
    """A page that says what is wrong, for whoever asked; needs no lab."""
    title, usual = _ERRORS.get(status, _FAILED)
    text = (
        _environment()
        .get_template("error.html.j2")
        .render(
            title=title,
            sentence=sentence or usual,
            root=request.scope.get("root_path", ""),
            signed_out=status == HTTPStatus.UNAUTHORIZED,
            researcher=None,
            navigation=(),
            study=None,
            state="",
            assets=asset_paths(),
        )
    )
    headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return HTMLResponse(text, status_code=status, headers=headers)


def moment(at: datetime | None) -> str:
    """A time as it is written, in UTC."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M}"


def number(value: float, digits: int = 1) -> str:
    """A number as it is written; a dash where there is none."""
    return "–" if value != value else f"{value:.{digits}f}"


def duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None or seconds != seconds:
        return "–"
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min"


@functools.cache
def _environment() -> jinja2.Environment:
    folder = files("empathylab.study.web.console").joinpath("templates")
    sources = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir()}
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(sources),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "moment": moment,
        "number": number,
        "duration": duration,
        "status": shown_status,
    }
    return environment
