"""Signing in and out: one-time links, passwords, the second factor."""

from __future__ import annotations

from datetime import timedelta

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.sign_in.accounts import Researcher
from empathylab.study.web.console.sign_in.passwords import ADVICE
from empathylab.study.web.console.sign_in.second_factor import WINDOW
from empathylab.study.web.console.texts import COOKIE, LANGUAGES, text
from empathylab.study.web.console.visits import Visit
from empathylab.study.web.security import is_secure

_WRONG = text("The name or the password is wrong.")
_WRONG_OLD = text("The current password is wrong, or there were too many attempts.")
_WRONG_CODE = text("The code is wrong, or it has already been used.")
_TOO_MANY = text("There were too many attempts. Please try again in {minutes} minutes.")
_DONE = {
    "password": text("The password is changed, and every other browser is signed out."),
    "removed": text("The second factor is removed."),
}


def show_login(visit: Visit) -> Response:
    """The form to sign in."""
    if visit.researcher is not None:
        return visit.to("/console")
    fresh = not visit.console.accounts.exist()
    return page(visit, "login", text("Sign in"), fresh=fresh)


def log_in(visit: Visit) -> Response:
    """Signs in, or says that the name or the password is wrong, never which."""
    name, password = visit.form.get("name", ""), visit.form.get("password", "")
    researcher = visit.console.accounts.log_in(name, password, visit.address)
    if researcher == "throttled":
        return _throttled(visit, "/console/login")
    if researcher is None:
        return visit.refuse("/console/login", visit.translated(_WRONG))
    if researcher.second_factor:
        visit.ask_for_code(researcher)
        return visit.to("/console/second-factor")
    visit.console.note(researcher.name, "sign in")
    visit.sign_in(researcher)
    return visit.to("/console")


def _throttled(visit: Visit, page: str) -> Response:
    minutes = WINDOW // timedelta(minutes=1)
    response = visit.refuse(page, visit.translated(_TOO_MANY, minutes=minutes))
    response.headers["Retry-After"] = str(60 * minutes)
    return response


def show_second_factor(visit: Visit) -> Response:
    """The form for a code, after the password was right."""
    if visit.console.accounts.awaiting_code(visit.session) is None:
        return visit.to("/console/login")
    return page(visit, "second_factor", text("Second factor"))


def give_second_factor(visit: Visit) -> Response:
    """Signs in with a code of the authenticator app, or with a recovery code."""
    researcher = visit.console.accounts.awaiting_code(visit.session)
    if researcher is None:
        return visit.to("/console/login")
    right = visit.console.second_factors.check(researcher.id, visit.form.get("code", ""))
    if right is None:
        return _throttled(visit, "/console/second-factor")
    if not right:
        return visit.refuse("/console/second-factor", visit.translated(_WRONG_CODE))
    visit.console.note(researcher.name, "sign in", second_factor="yes")
    visit.sign_in(researcher)
    return visit.to("/console")


def change_second_factor(visit: Visit) -> Response:
    """Sets up one's own second factor, confirms it, or removes it."""
    researcher, factors = _own(visit), visit.console.second_factors
    act, code = visit.form.get("act", ""), visit.form.get("code", "")
    if act == "begin":
        factors.begin(researcher.id)
        return visit.to("/console/account")
    if act == "confirm":
        codes = factors.confirm(researcher.id, code)
        visit.console.note(visit.who, "set up second factor")
        return page(visit, "recovery_codes", text("Recovery codes"), codes=codes)
    if act == "remove":
        if not factors.check(researcher.id, code):
            return visit.refuse("/console/account", visit.translated(_WRONG_CODE))
        factors.remove(researcher.id)
        visit.console.note(visit.who, "remove second factor")
        return visit.to("/console/account?done=removed")
    raise HTTPException(400)


def change_language(visit: Visit) -> Response:
    """Shows the console in another language from now on, in this browser."""
    language = visit.form.get("language", "")
    if language not in LANGUAGES:
        raise HTTPException(400)
    response = visit.to("/console" if visit.researcher else "/console/login")
    response.set_cookie(
        COOKIE,
        language,
        max_age=365 * 24 * 3600,
        path=f"{visit.root}/console",
        secure=is_secure(visit.request),
        httponly=True,
        samesite="strict",
    )
    return response


def log_out(visit: Visit) -> Response:
    """Signs out here and everywhere else: no cookie that was given before is good any more."""
    if visit.researcher is not None:
        visit.console.accounts.sign_out(visit.researcher)
        visit.console.note(visit.who, "sign out")
    visit.sign_out()
    return visit.to("/console/login")


def show_welcome(visit: Visit) -> Response:
    """The form of a one-time link."""
    return _welcome(visit, visit.asked("link"))


def make_account(visit: Visit) -> Response:
    """Makes the account of a one-time link and signs in."""
    form = visit.form
    token = form.get("link", "")
    account = visit.console.accounts.use_link(
        token, form.get("name", ""), form.get("password", ""), form.get("again", "")
    )
    if account is None:
        return _welcome(visit, "")
    visit.console.note(account.name, "make account", role=account.role)
    visit.sign_in(account)
    return visit.to("/console")


def show_account(visit: Visit) -> Response:
    """One's own account."""
    researcher = _own(visit)
    return page(
        visit,
        "account",
        text("Your account"),
        advice=ADVICE,
        done=_DONE.get(visit.asked("done"), ""),
        setup=visit.console.second_factors.pending(researcher.id, researcher.name),
    )


def change_password(visit: Visit) -> Response:
    """Changes one's own password, which signs out all other browsers."""
    form, researcher = visit.form, _own(visit)
    done = visit.console.accounts.change_password(
        researcher,
        form.get("old", ""),
        form.get("password", ""),
        form.get("again", ""),
        visit.address,
    )
    if done is None:
        return visit.refuse("/console/account", visit.translated(_WRONG_OLD))
    visit.console.note(visit.who, "change password")
    visit.sign_in(researcher)
    return visit.to("/console/account?done=password")


def _own(visit: Visit) -> Researcher:
    if visit.researcher is None:
        raise RuntimeError("only people who have signed in get here")
    return visit.researcher


def _welcome(visit: Visit, token: str) -> Response:
    role = visit.console.accounts.link_role(token) if token else None
    if role is None:
        return page(visit, "bad_link", text("This link cannot be used"), status=403)
    title = text("Create your account")
    return page(visit, "welcome", title, role=role, link=token, advice=ADVICE)
