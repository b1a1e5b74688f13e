"""What researchers did, and who they are."""

from __future__ import annotations

from typing import cast

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.store.studies.monitoring import listed_audit
from empathylab.store.studies.researchers import ROLES, Role
from empathylab.study.web.console.paging import read_page
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.sign_in.accounts import invite_link
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

PAGE = 100
_DONE = {
    "role": text("The role is changed."),
    "remove": text("The account is deleted."),
    "reset": text("The second factor is removed."),
}


def show_audit(visit: Visit) -> Response:
    """Every act of every researcher, newest first."""
    pager, rows = read_page(visit, listed_audit, size=PAGE)
    return page(visit, "audit", text("Audit log"), rows=rows, pager=pager)


def show_accounts(visit: Visit) -> Response:
    """Everybody who can sign in, and once the link that was just made."""
    return page(
        visit,
        "accounts",
        text("Accounts"),
        accounts=visit.console.accounts.all(),
        roles=ROLES,
        link=visit.result("link"),
        done=_DONE.get(visit.asked("done"), ""),
    )


def invite(visit: Visit) -> Response:
    """Makes a one-time link for someone else, shown once."""
    role = cast("Role", visit.form.get("role", ""))
    link = invite_link(visit.console.lab, _base(visit), role, clock=visit.console.clock)
    visit.console.note(visit.who, "invite", role=role)
    return visit.show_once("/console/accounts", link=link)


def change_account(visit: Visit) -> Response:
    """Changes someone's role, or deletes their account."""
    accounts, act = visit.console.accounts, visit.form.get("act", "")
    number = visit.form.get("number", "")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise HTTPException(400)
    if act == "role":
        role = cast("Role", visit.form.get("role", ""))
        name = accounts.change_role(int(number), role)
        visit.console.note(visit.who, "change role", account=name, role=role)
    elif act == "remove":
        name = accounts.remove(int(number))
        visit.console.note(visit.who, "delete account", account=name)
    elif act == "reset":
        name = accounts.remove_second_factor(int(number))
        visit.console.note(visit.who, "remove second factor", account=name)
    else:
        raise HTTPException(400)
    return visit.to(f"/console/accounts?done={act}")


def _base(visit: Visit) -> str:
    """The study's public address; where none is set, the one that the owner's browser uses.

    What a browser says of the host can be forged, and a link to another host gives an account away.
    """
    if visit.console.public_url:
        return visit.console.public_url
    request = visit.request
    return f"{request.url.scheme}://{request.url.netloc}{visit.root}"
