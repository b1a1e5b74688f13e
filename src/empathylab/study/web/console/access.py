"""Who may ask for what: a table of all routes with the least role each needs, and one gate.

A handler is reached through the gate only. Before it runs, the gate knows who asks, that their role
is enough, and of a post that the form was sent by a page of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from empathylab.errors import LabError, UserError
from empathylab.study.assignment.blinding import same_id
from empathylab.study.blocks.forms import clean_text
from empathylab.study.web.console.context import Console
from empathylab.study.web.console.flashes import SECONDS, flash_cookies, read_flash
from empathylab.study.web.console.rendering import OLD_FORM, error_page
from empathylab.study.web.console.sign_in.sessions import (
    LASTS,
    begin,
    cookie_name,
    form_token,
    seal,
    seen,
    unseal,
)
from empathylab.study.web.console.texts import console_language, translated_error
from empathylab.study.web.console.visits import PASSWORDS, Least, Visit
from empathylab.study.web.forms import read_form
from empathylab.study.web.security import is_secure, policy

MOST_BYTES = 64 * 1024
"""Of a form."""
REFRESH = "x-refresh"
"""The header of a page that renews itself: that is no sign of a person."""


Handler = Callable[[Visit], Response]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be asked for."""

    method: Literal["GET", "POST"]
    path: str
    least: Least
    handler: Handler
    page: str = ""
    """The page that holds the form: where a refused one leads, with fields of it in braces."""


def guarded_routes(rules: Sequence[Rule], console: Callable[[], Console]) -> list[BaseRoute]:
    """The routes of the rules, each behind the gate."""
    return [Route(rule.path, _gate(rule, console), methods=[rule.method]) for rule in rules]


def _gate(rule: Rule, console: Callable[[], Console]) -> Callable[[Request], object]:
    async def ask(request: Request) -> Response:
        form: Mapping[str, str] = {}
        if rule.method == "POST":
            form = _clean((await read_form(request, MOST_BYTES)).fields)
        return await run_in_threadpool(_answer, rule, console, request, form)

    return ask


def _clean(fields: Mapping[str, str]) -> dict[str, str]:
    """What was sent, as any database takes it; passwords are kept nowhere and stay as they are."""
    return {
        name: value if name in PASSWORDS else clean_text(value) for name, value in fields.items()
    }


def _answer(
    rule: Rule, console: Callable[[], Console], request: Request, form: Mapping[str, str]
) -> Response:
    try:
        visit = _visit(console(), request, form)
        response = _refusal(rule, visit) or _handled(rule, visit)
    except HTTPException as error:
        return guarded(error_page(request, error.status_code))
    except LabError:
        return guarded(error_page(request, 503))
    except UserError as error:
        return guarded(error_page(request, 422, translated_error(console_language(request), error)))
    _keep(visit, response)
    return guarded(response)


def _handled(rule: Rule, visit: Visit) -> Response:
    """The handler's answer; a refused form leads back to its page, where Back is harmless."""
    try:
        return rule.handler(visit)
    except LabError:
        raise
    except UserError as error:
        if not rule.page:
            raise
        fields = {name: quote(text, safe="") for name, text in visit.form.items()}
        try:
            page = rule.page.format_map(fields)
            return visit.refuse(page, translated_error(visit.language, error))
        except KeyError:
            raise HTTPException(400) from None


def _visit(console: Console, request: Request, form: Mapping[str, str]) -> Visit:
    name = cookie_name(console.secret)
    sealed = unseal(request.cookies.get(name), console.secret)
    researcher = console.accounts.signed_in(sealed)
    if sealed is None or (researcher is None and sealed.researcher):
        fresh = begin(0, console.clock())
        return Visit(console, request, fresh, None, form, renewed=fresh)
    renewed = seen(sealed, console.clock()) if researcher and not _renews_itself(request) else None
    visit = Visit(console, request, sealed, researcher, form, renewed)
    flash = read_flash(request.cookies, name, console.secret)
    if flash is not None and (flash.nonce, flash.page) == (sealed.nonce, visit.here):
        visit.flash = flash
    return visit


def _refusal(rule: Rule, visit: Visit) -> Response | None:
    """What is answered in place of the page, where the visit may not have it."""
    if rule.least != "anyone" and visit.researcher is None:
        if rule.method == "GET" and not _renews_itself(visit.request):
            return visit.to("/console/login")
        return error_page(visit.request, 401)
    if not visit.may(rule.least):
        return error_page(visit.request, 403)
    if rule.method == "POST" and not _is_ours(visit):
        return error_page(visit.request, 403, OLD_FORM)
    return None


def _is_ours(visit: Visit) -> bool:
    """Whether the post comes from a form that this session was given."""
    site = visit.request.headers.get("sec-fetch-site", "same-origin")
    token = form_token(visit.session, visit.console.secret)
    return site in ("same-origin", "none") and same_id(visit.form.get("form", ""), token)


def _renews_itself(request: Request) -> bool:
    return REFRESH in request.headers


def _keep(visit: Visit, response: Response) -> None:
    secret = visit.console.secret
    name, cookies = cookie_name(secret), {}
    if visit.renewed is not None:
        cookies[name] = (seal(visit.renewed, secret), int(LASTS.total_seconds()))
    if visit.next_flash is not None or visit.flash is not None:
        for part, value in flash_cookies(visit.next_flash, name, secret).items():
            cookies[part] = (value, SECONDS if value else 0)
    for key, (value, seconds) in cookies.items():
        response.set_cookie(
            key,
            value,
            max_age=seconds,
            path=f"{visit.root}/console",
            secure=is_secure(visit.request),
            httponly=True,
            samesite="strict",
        )


def guarded(response: Response) -> Response:
    """The answer with headers of its own: a platform may frame raters' pages, never these."""
    headers = response.headers
    headers["Content-Security-Policy"] = policy()
    headers["Cache-Control"] = "no-store"
    headers["X-Frame-Options"] = "DENY"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
