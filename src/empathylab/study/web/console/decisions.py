"""Decisions on participants: approve, reject, exclude, undo, free a slot, send a message."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.errors import InputError, LabError, UserError
from empathylab.store.studies.participants import visit_ids
from empathylab.store.studies.slots import find_slots
from empathylab.study.recruiting import prolific
from empathylab.study.web.console.participants import PAGE
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

PICK = "pick-"
"""Before the key of a participant who was ticked in the list."""
ACTS = {
    "approve": (
        text("Approve {count} participants?"),
        text("Their work is accepted. Analyses do not change."),
    ),
    "reject": (
        text("Reject {count} participants?"),
        text("Their work is not accepted. It still counts in the analysis."),
    ),
    "exclude": (
        text("Exclude {count} participants?"),
        text("Analyses leave them out, and others can get their slots. You can undo this."),
    ),
    "include": (
        text("Undo the exclusion of {count} participants?"),
        text("Analyses include them again."),
    ),
}
NEEDS_REASON = frozenset({"reject", "exclude"})


def review(visit: Visit) -> Response:
    """Asks to confirm a decision on several participants, or carries it out."""
    act = visit.form.get("act", "")
    if act not in ACTS:
        raise HTTPException(400)
    keys = [name.removeprefix(PICK) for name in visit.form if name.startswith(PICK)][:PAGE]
    reason = " ".join(visit.form.get("reason", "").split())[:500]
    if not keys:
        return visit.to("/console/participants?done=none")
    if visit.form.get("confirmed") != "yes":
        return _confirm(visit, act, keys)
    if act in NEEDS_REASON and not reason:
        return _confirm(visit, act, keys, error=visit.translated(text("Please give a reason.")))
    done = skipped = unpaid = 0
    for key in keys:
        try:
            unpaid += _decide(visit, act, key, reason) == "unpaid"
            done += 1
        except LabError:
            raise
        except UserError:
            skipped += 1
    counts = f"count={done}&skipped={skipped}&unpaid={unpaid}"
    return visit.to(f"/console/participants?done={act}&{counts}")


def act_on_participant(visit: Visit) -> Response:
    """Decides on one participant, or sends them a message."""
    form = visit.form
    key, act, reason = form.get("key", ""), form.get("act", ""), form.get("reason", "")
    if act in ACTS:
        act = _decide(visit, act, key, " ".join(reason.split())[:500])
    elif act == "free":
        _free(visit, key)
    elif act == "message":
        act = _message(visit, key, form.get("text", ""))
    else:
        raise HTTPException(400)
    return visit.to(f"/console/participant?key={quote(key)}&done={act}")


def find_participant(visit: Visit) -> Response:
    """The participant with a platform ID; the ID is kept out of addresses."""
    keys = visit.console.actions.find(visit.form.get("platform_id", ""))
    visit.console.note(visit.who, "search platform ID", found=len(keys))
    if not keys:
        return visit.to("/console/participants?done=unknown")
    return visit.to(f"/console/participant?key={quote(keys[-1])}")


def _confirm(visit: Visit, act: str, keys: Sequence[str], error: str = "") -> Response:
    console = visit.console
    with console.lab.reading() as connection:
        rows = find_slots(connection, console.launched.row, keys)
    question, consequence = ACTS[act]
    return page(
        visit,
        "confirm",
        visit.translated(question, count=len(rows)),
        status=422 if error else 200,
        act=act,
        rows=[rows[key] for key in keys if key in rows],
        consequence=consequence,
        needs_reason=act in NEEDS_REASON,
        pays=act == "approve" and pays_on_prolific(visit),
        error=error,
    )


def _decide(visit: Visit, act: str, key: str, reason: str) -> str:
    """What was done, as the page says it."""
    console = visit.console
    if act == "approve":
        console.reviews.approve(key, reason, who=visit.who)
        return _pay(visit, key)
    if act == "reject":
        console.reviews.reject(key, reason, who=visit.who)
    elif act == "exclude":
        _exclude(visit, key, reason)
    elif not console.actions.include(key, who=visit.who):
        raise InputError(
            text("the participant is not excluded"), remedy=text("There is nothing to undo.")
        )
    return act


def _exclude(visit: Visit, key: str, reason: str) -> None:
    if not reason:
        raise InputError(text("an exclusion needs a reason"), remedy=text("Please give a reason."))
    if not visit.console.actions.exclude(key, reason, who=visit.who):
        raise InputError(
            text("only participants who have had a slot can be excluded"),
            remedy=text("Leave them as they are."),
        )


def _free(visit: Visit, key: str) -> None:
    if not visit.console.actions.release(key, "returned", who=visit.who):
        raise InputError(
            text("only a slot that is held and not finished can be freed"),
            remedy=text("Exclude the participant instead."),
        )


def _pay(visit: Visit, key: str) -> str:
    """Where the approval was recorded: in the lab, and on Prolific if there is a token."""
    if not pays_on_prolific(visit):
        return "approve"
    session = _visit_ids(visit, key).get("session")
    if session is None:
        return "unpaid"
    try:
        asyncio.run(prolific.Prolific.from_environment().approve(session))
    except UserError:
        return "unpaid"
    visit.console.note(visit.who, "approve on Prolific", person=key)
    return "paid"


def pays_on_prolific(visit: Visit) -> bool:
    """Whether the study is on Prolific and there is a token to speak with it."""
    platform = visit.console.launched.study.recruitment.platform
    return platform == "prolific" and prolific.configured()


def _visit_ids(visit: Visit, key: str) -> dict[str, str]:
    console = visit.console
    with console.lab.reading() as connection:
        return visit_ids(connection, console.launched.row, key) or {}


def _message(visit: Visit, key: str, words: str) -> str:
    """How the message is delivered: on the next page, and by Prolific if possible."""
    visit.console.reviews.message(key, words, who=visit.who)
    if not pays_on_prolific(visit):
        return "message"
    ids = _visit_ids(visit, key)
    if "person" not in ids or "study" not in ids:
        return "unsent"
    try:
        client = prolific.Prolific.from_environment()
        asyncio.run(client.send_message(ids["study"], ids["person"], words))
    except UserError:
        return "unsent"
    return "sent"
