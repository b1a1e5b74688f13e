"""Pausing, resuming, stopping an arm, closing."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.errors import InputError
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

_DONE = {
    "pause": text("The study is paused. New participants cannot start; current ones can finish."),
    "resume": text("The study is open again."),
    "stop-arm": text("The arm is closed to new participants."),
    "resume-arm": text("The arm is open to participants again."),
    "close": text("The study is closed."),
}


def show_manage(visit: Visit) -> Response:
    """What can be done with the whole study."""
    done = _DONE.get(visit.asked("done"), "")
    return page(visit, "manage", text("Manage"), watched=visit.console.progress(), done=done)


def manage(visit: Visit) -> Response:
    """Pauses or resumes the study or one of its arms."""
    act, arm = visit.form.get("act", ""), visit.form.get("arm", "")
    actions = visit.console.actions
    if act == "pause":
        actions.pause(who=visit.who)
    elif act == "resume":
        actions.resume(who=visit.who)
    elif act == "stop-arm":
        actions.stop_arm(arm, who=visit.who)
    elif act == "resume-arm":
        actions.resume(arm, who=visit.who)
    else:
        raise HTTPException(400)
    return visit.to(f"/console/manage?done={act}")


def close(visit: Visit) -> Response:
    """Closes the study, where its name was typed."""
    require_name(visit)
    visit.console.actions.close(who=visit.who)
    return visit.to("/console/manage?done=close")


def require_name(visit: Visit) -> None:
    """Refuses where the study's name was not typed as it is written."""
    name = visit.console.launched.study.name
    if visit.form.get("name", "").strip() != name:
        raise InputError(
            text("this is not the name of the study"),
            got=visit.form.get("name", "")[:60],
            remedy=text("Type the name as it is shown."),
        )
