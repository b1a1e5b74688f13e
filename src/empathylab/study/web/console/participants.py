"""Participants: the list, one of them, what they wrote, and what is decided of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args
from urllib.parse import quote

from sqlalchemy import Row
from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.errors import InputError, UserError
from empathylab.store.studies.monitoring import (
    listed_comments,
    listed_places,
    person_pages,
    platform_state,
)
from empathylab.store.studies.participants import visit_ids
from empathylab.store.studies.places import find_place
from empathylab.study.admin.embargo import hidden_blocks, whole_minutes
from empathylab.study.admin.monitoring import block_of
from empathylab.study.assignment.allocation import Status, World
from empathylab.study.recruiting import prolific
from empathylab.study.web.console.paging import page_number, pager
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.visits import Visit

PAGE = 50
STATUSES = ("arrived", "declined", *get_args(Status), "repeated")
WORLDS: tuple[World, ...] = ("person", "simulated", "test")
_DONE = {
    "approve": "The work is approved here. Nobody is paid by that.",
    "paid": "The work is approved, and Prolific pays for it.",
    "unpaid": "The work is approved here. Prolific did not take that: approve it there, too.",
    "reject": "The work is rejected. It still counts in the analysis; to leave it out, exclude it.",
    "exclude": "The participant is left out of every analysis, and the place is free.",
    "free": "The place is free.",
    "message": "The message will stand at the top of their next page.",
    "sent": "The message was sent by Prolific, and will stand at the top of their next page.",
    "unsent": "The message will stand at the top of their next page. Prolific did not take it.",
}


@dataclass(frozen=True, slots=True)
class AnsweredPage:
    """One page as the console shows it."""

    step: str
    kind: str
    answered_at: datetime
    seconds: float | None
    away: float | None
    losses: int | None
    corrections: int
    verdict: str
    answers: tuple[tuple[str, str], ...]
    hidden: bool


def list_participants(visit: Visit) -> Response:
    """Everybody who came, newest first, by world and status; arms only once it is closed."""
    world, status = visit.asked("world") or "person", visit.asked("status")
    world = world if world in WORLDS else "person"
    status = status if status in STATUSES else ""
    key = visit.asked("key").strip()
    number = page_number(visit.asked("page"))
    console = visit.console
    with console.lab.reading() as connection:
        total, rows = listed_places(
            connection,
            console.launched.row,
            world=world,
            status=status or None,
            key=key,
            most=PAGE,
            skipped=(number - 1) * PAGE,
        )
    place = pager(
        f"{visit.root}/console/participants",
        number,
        PAGE,
        total,
        world=world,
        status=status,
        key=key,
    )
    return page(
        visit,
        "participants",
        "Participants",
        rows=rows,
        pager=place,
        world=world,
        worlds=WORLDS,
        wanted=status,
        statuses=STATUSES,
        key=key,
        closed=console.status() == "closed",
    )


def act_on_participant(visit: Visit) -> Response:
    """Decides of one participant, or says something to them."""
    form, console = visit.form, visit.console
    key, act, reason = form.get("key", ""), form.get("act", ""), form.get("reason", "")
    if act == "approve":
        console.reviews.approve(key, reason, who=visit.who)
        act = _pay(visit, key)
    elif act == "reject":
        console.reviews.reject(key, reason, who=visit.who)
    elif act == "exclude":
        _exclude(visit, key, reason)
    elif act == "free":
        _free(visit, key)
    elif act == "message":
        act = _message(visit, key, form.get("text", ""))
    else:
        raise HTTPException(400)
    return visit.to(f"/console/participant?key={quote(key)}&done={act}")


def list_comments(visit: Visit) -> Response:
    """What participants wrote, newest first; by whom, never in which arm."""
    console, number = visit.console, page_number(visit.asked("page"))
    steps = [one.id for one in console.launched.study.blocks if one.holds_comments]
    with console.lab.reading() as connection:
        total, rows = listed_comments(
            connection, console.launched.row, steps, most=PAGE, skipped=(number - 1) * PAGE
        )
    place = pager(f"{visit.root}/console/comments", number, PAGE, total)
    return page(visit, "comments", "Comments", rows=rows, pager=place, asked=bool(steps))


def _exclude(visit: Visit, key: str, reason: str) -> None:
    said = " ".join(reason.split())[:500]
    if not said:
        raise InputError("an exclusion needs a reason", remedy="Write why.")
    if not visit.console.actions.exclude(key, said, who=visit.who):
        raise InputError(
            "only somebody who has had a place can be excluded", remedy="Leave them as they are."
        )


def _free(visit: Visit, key: str) -> None:
    if not visit.console.actions.release(key, "returned", who=visit.who):
        raise InputError(
            "only a place that is held and not finished can be freed",
            remedy="Leave it, or exclude the participant.",
        )


def _pay(visit: Visit, key: str) -> str:
    """What became of the approval: written down here, and handed to Prolific where it can be."""
    if not _on_prolific(visit):
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


def _on_prolific(visit: Visit) -> bool:
    """Whether the study is on Prolific and there is a token to speak with it."""
    platform = visit.console.launched.study.recruitment.platform
    return platform == "prolific" and prolific.configured()


def _visit_ids(visit: Visit, key: str) -> dict[str, str]:
    console = visit.console
    with console.lab.reading() as connection:
        return visit_ids(connection, console.launched.row, key) or {}


def _message(visit: Visit, key: str, text: str) -> str:
    """What became of the message: kept for the next page, and sent by Prolific where it can be."""
    visit.console.reviews.message(key, text, who=visit.who)
    if not _on_prolific(visit):
        return "message"
    ids = _visit_ids(visit, key)
    if "person" not in ids or "study" not in ids:
        return "unsent"
    try:
        client = prolific.Prolific.from_environment()
        asyncio.run(client.send_message(ids["study"], ids["person"], text))
    except UserError:
        return "unsent"
    return "sent"


def show_participant(visit: Visit) -> Response:
    """One participant."""
    console, key = visit.console, visit.asked("key")
    study = console.launched.row
    with console.lab.reading() as connection:
        row = find_place(connection, study, key)
        if row is None:
            raise HTTPException(404)
        pages = person_pages(connection, row.id)
        said = platform_state(connection, study, key)
    closed = row.study_status == "closed"
    return page(
        visit,
        "participant",
        "Participant",
        row=row,
        platform=said,
        pages=[_answered(visit, one, closed=closed) for one in pages],
        messages=console.reviews.messages(key),
        closed=closed,
        done=_DONE.get(visit.asked("done"), ""),
        pays=_on_prolific(visit),
    )


def _answered(visit: Visit, row: Row[Any], *, closed: bool) -> AnsweredPage:
    study = visit.console.launched.study
    block = study.block(block_of(row.step))
    hidden = not closed and block.id in hidden_blocks(study)
    verdict = ""
    if block.checks_attention:
        verdict = "passed" if block.passed(row.given) else "failed"
    answers = () if hidden else tuple((name, str(value)) for name, value in row.given.items())
    seconds, away = row.timing.get("seconds"), row.timing.get("away")
    return AnsweredPage(
        row.step,
        block.kind,
        row.answered_at,
        seconds if closed else whole_minutes(seconds),
        away if closed else whole_minutes(away),
        row.timing.get("losses"),
        row.corrections,
        verdict,
        answers,
        hidden,
    )
