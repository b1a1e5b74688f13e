"""The console's pages as HTML."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from empathylab.html_templates import package_templates, template_environment
from empathylab.study.session.visits import shown_status
from empathylab.study.web.assets import asset_paths
from empathylab.study.web.console.texts import (
    LANGUAGES,
    console_language,
    text,
    translated,
    translated_html,
)
from empathylab.study.web.console.visits import Least, Visit

_ERRORS = {
    400: (text("Bad request"), text("The request could not be read. Nothing was changed.")),
    401: (text("You are signed out"), text("Nothing was changed. Please sign in again.")),
    403: (text("Not allowed"), text("Your role does not allow this. Nothing was changed.")),
    404: (text("Page not found"), text("Check the address.")),
    405: (text("Bad request"), text("This page does not accept this kind of request.")),
    408: (text("Timed out"), text("The form did not arrive in time. Nothing was changed.")),
    413: (text("Form too long"), text("The form is too long. Nothing was changed.")),
    415: (text("Bad request"), text("Only a plain form can be sent here. Nothing was changed.")),
    422: (text("Not possible"), text("Nothing was changed.")),
    503: (
        text("Database unavailable"),
        text("Nothing was changed. Please try again in a minute."),
    ),
}
_FAILED = (
    text("Something went wrong"),
    text("Your last action may not have been carried out. Please check."),
)
OLD_FORM = text("This form is out of date. Nothing was changed.")


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation."""

    path: str
    label: str
    least: Least


CONVERSATIONS = text("Conversations")
NAVIGATION: tuple[Entry, ...] = (
    Entry("/console", text("Overview"), "viewer"),
    Entry("/console/participants", text("Participants"), "viewer"),
    Entry("/console/conversations", CONVERSATIONS, "researcher"),
    Entry("/console/comments", text("Comments"), "viewer"),
    Entry("/console/manage", text("Manage"), "researcher"),
    Entry("/console/alerts", text("Alerts"), "viewer"),
    Entry("/console/results", text("Results"), "viewer"),
    Entry("/console/downloads", text("Downloads"), "researcher"),
    Entry("/console/audit", text("Audit log"), "viewer"),
    Entry("/console/accounts", text("Accounts"), "owner"),
)


def page(visit: Visit, template: str, title: str, *, status: int = 200, **more: Any) -> Response:
    """A page of the console around what the template shows.

    `error` and `typed` are those of a form that was refused before.
    """
    live = visit.console.launched.study.live is not None
    entries: Sequence[Entry] = [
        entry
        for entry in NAVIGATION
        if visit.may(entry.least) and (live or entry.label != CONVERSATIONS)
    ]
    html = (
        _environment(visit.language)
        .get_template(f"{template}.html.j2")
        .render(
            title=visit.translated(title),
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
    return HTMLResponse(html, status_code=status)


def error_page(request: Request, status: int, sentence: str = "") -> Response:
    """A page that says what is wrong; needs no lab."""
    title, usual = _ERRORS.get(status, _FAILED)
    language = console_language(request)
    html = (
        _environment(language)
        .get_template("error.html.j2")
        .render(
            title=translated(language, title),
            sentence=translated(language, sentence or usual),
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
    return HTMLResponse(html, status_code=status, headers=headers)


def moment(at: datetime | None) -> Markup:
    """A time to the minute, in UTC; the script shows it in the viewer's time zone."""
    if at is None:
        return Markup("–")
    return Markup('<time datetime="{0:%Y-%m-%dT%H:%MZ}">{0:%Y-%m-%d %H:%M}</time>').format(at)


def number(value: float, digits: int = 1) -> str:
    """A number as it is written; a dash where there is none."""
    return "–" if value != value else f"{value:.{digits}f}"


def dollars(value: float) -> str:
    """What replies cost; models on the study's own machines cost nothing."""
    return f"${value:.4f}" if 0 < value < 1 else f"${value:.2f}"


def duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None or seconds != seconds:
        return "–"
    if seconds == 0:
        return "< 1 min"  # times of an open study are in whole minutes
    if seconds % 60 == 0:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def _status(row: Any, closed: bool) -> str:
    return status_label(shown_status(row, closed=closed))


def status_label(status: str) -> str:
    """A status in words."""
    return text("in progress") if status == "live" else status


@functools.cache
def _environment(language: str) -> jinja2.Environment:
    environment = template_environment(package_templates("empathylab.study.web.console"))
    environment.globals |= {
        "language": language,
        "languages": LANGUAGES,
        "_": functools.partial(translated, language),
        "_html": functools.partial(translated_html, language),
    }
    environment.filters |= {
        "moment": moment,
        "number": number,
        "dollars": dollars,
        "duration": duration,
        "status_label": status_label,
        "status": _status,
    }
    return environment
