"""Coming in and going out: one-time links, signing in, one's own password."""

from __future__ import annotations

from starlette.responses import Response

from empathylab.study.web.console.accounts import Researcher, Throttled
from empathylab.study.web.console.passwords import ADVICE
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.visits import Visit

_WRONG = "The name or the password is not right."
_WRONG_OLD = "The old password is not right, or there were too many attempts."


def show_login(visit: Visit) -> Response:
    """The form to sign in."""
    if visit.researcher is not None:
        return visit.to("/console")
    fresh = not visit.console.accounts.exist()
    return page(visit, "login", "Sign in", fresh=fresh)


def log_in(visit: Visit) -> Response:
    """Signs in, or says that the name or the password is wrong, never which."""
    name, password = visit.form.get("name", ""), visit.form.get("password", "")
    found = visit.console.accounts.log_in(name, password, visit.address)
    if isinstance(found, Throttled):
        said = f"There were too many attempts. Please try again in {found.minutes} minutes."
        response = visit.refuse("/console/login", said)
        response.headers["Retry-After"] = str(60 * found.minutes)
        return response
    if found is None:
        return visit.refuse("/console/login", _WRONG)
    visit.console.note(found.name, "sign in")
    visit.sign_in(found)
    return visit.to("/console")


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
    made = visit.console.accounts.use_link(
        token, form.get("name", ""), form.get("password", ""), form.get("again", "")
    )
    if made is None:
        return _welcome(visit, "")
    visit.console.note(made.name, "make account", role=made.role)
    visit.sign_in(made)
    return visit.to("/console")


def show_account(visit: Visit) -> Response:
    """One's own account."""
    done = visit.asked("done") == "password"
    return page(visit, "account", "Your account", advice=ADVICE, done=done)


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
        return visit.refuse("/console/account", _WRONG_OLD)
    visit.console.note(visit.who, "change password")
    visit.sign_in(researcher)
    return visit.to("/console/account?done=password")


def _own(visit: Visit) -> Researcher:
    if visit.researcher is None:
        raise RuntimeError("the gate lets nobody in who has not signed in")
    return visit.researcher


def _welcome(visit: Visit, token: str) -> Response:
    role = visit.console.accounts.link_role(token) if token else None
    if role is None:
        return page(visit, "bad_link", "This link cannot be used", status=403)
    return page(visit, "welcome", "Make your account", role=role, link=token, advice=ADVICE)
