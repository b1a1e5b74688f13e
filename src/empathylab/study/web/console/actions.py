"""Pausing, resuming, stopping an arm, closing."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.errors import InputError, LabError, UserError
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
    return _steer(visit)


def steer(visit: Visit) -> Response:
    """Pauses or resumes the study or one of its arms."""
    act, arm = visit.form.get("act", ""), visit.form.get("arm", "")
    actions = visit.console.actions
    try:
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
    except LabError:
        raise
    except UserError as error:
        return _steer(visit, str(error))
    return visit.to(f"/console/steer?done={act}")


def close(visit: Visit) -> Response:
    """Closes the study for good, where its name was typed."""
    try:
        require_name(visit)
        visit.console.actions.close(who=visit.who)
    except LabError:
        raise
    except UserError as error:
        return _steer(visit, str(error))
    return visit.to("/console/steer?done=close")


def require_name(visit: Visit) -> None:
    """Refuses where the study's name was not typed as it is written."""
    name = visit.console.launched.study.name
    if visit.form.get("name", "").strip() != name:
        raise InputError(
            "the name that was typed is not the study's", remedy=f"Type {name} to confirm."
        )


def _steer(visit: Visit, error: str = "") -> Response:
    watched = visit.console.watch()
    return page(
        visit,
        "steer",
        "Steer",
        status=422 if error else 200,
        watched=watched,
        error=error,
        done=_DONE.get(visit.asked("done"), ""),
    )
