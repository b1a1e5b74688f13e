"""Pausing, resuming, stopping an arm, closing."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.errors import InputError
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.visits import Visit

_DONE = {
    "pause": "The study is paused: nobody new is let in, and whoever is in may finish.",
    "resume": "The study is open again.",
    "stop-arm": "The arm takes nobody new.",
    "resume-arm": "The arm takes people again.",
    "close": "The study is closed for good.",
}


def show_steer(visit: Visit) -> Response:
    """What can be done with the whole study."""
    done = _DONE.get(visit.asked("done"), "")
    return page(visit, "steer", "Steer", watched=visit.console.watch(), done=done)


def steer(visit: Visit) -> Response:
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
    return visit.to(f"/console/steer?done={act}")


def close(visit: Visit) -> Response:
    """Closes the study for good, where its name was typed."""
    require_name(visit)
    visit.console.actions.close(who=visit.who)
    return visit.to("/console/steer?done=close")


def require_name(visit: Visit) -> None:
    """Refuses where the study's name was not typed as it is written."""
    name = visit.console.launched.study.name
    if visit.form.get("name", "").strip() != name:
        raise InputError(
            "the name that was typed is not the study's", remedy=f"Type {name} to confirm."
        )
