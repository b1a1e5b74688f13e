"""Participants: the list, one of them, and their comments."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import Row
from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.store.studies.monitoring import (
    listed_comments,
    listed_slots,
    pages_by_slot,
    person_pages,
    platform_state,
)
from empathylab.store.studies.slots import find_slot
from empathylab.study.admin.embargo import hidden_blocks, unlisted_blocks, whole_minutes
from empathylab.study.admin.quality import Quality, quality_of
from empathylab.study.assignment.allocation import Status, World
from empathylab.study.blocks.steps import block_of
from empathylab.study.recruiting import prolific
from empathylab.study.session.page_contents import PageLabels
from empathylab.study.web.console.paging import read_page
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

PAGE = 50
STATUSES = ("arrived", "declined", *get_args(Status), "repeated")
WORLDS: dict[World, str] = {
    "person": text("participants"),
    "simulated": text("simulated raters"),
    "test": text("test visits"),
}
REVIEWS = {
    "none": text("not reviewed"),
    "approved": text("approved"),
    "rejected": text("rejected"),
}
_DONE = {
    "approve": text("The work is approved here. This does not pay the participant."),
    "paid": text("The work is approved, and Prolific pays for it."),
    "unpaid": text("The work is approved here. Prolific did not accept it: approve it there, too."),
    "reject": text("The work is rejected. It still counts in the analysis; exclude it if needed."),
    "exclude": text("The participant is excluded from every analysis. The slot is free."),
    "include": text("The exclusion is undone. Analyses include the participant again."),
    "free": text("The slot is free."),
    "message": text("The message will be at the top of their next page."),
    "sent": text("Prolific sent the message. It will also be at the top of their next page."),
    "unsent": text("The message will be at the top of their next page. Prolific did not send it."),
}
_BULK_DONE = {
    "approve": text("{count} approved."),
    "reject": text("{count} rejected."),
    "exclude": text("{count} excluded."),
    "include": text("{count} exclusions undone."),
    "none": text("No participant was selected."),
    "unknown": text("No participant has this platform ID."),
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
    """Questions and answers, as the participant read them."""
    hidden: bool


def list_participants(visit: Visit) -> Response:
    """Everybody who came, newest first; arms only once the study is closed."""
    chosen = {name: visit.asked(name) for name in ("world", "status", "review")}
    world = chosen["world"] if chosen["world"] in WORLDS else "person"
    status = chosen["status"] if chosen["status"] in STATUSES else ""
    reviewed = chosen["review"] if chosen["review"] in REVIEWS else ""
    key = visit.asked("key").strip()
    console = visit.console
    closed = console.status() == "closed"
    study = console.launched.study
    checks = [block.id for block in study.blocks if block.checks_attention]
    read = functools.partial(
        listed_slots, world=world, status=status or None, review=reviewed or None, key=key
    )
    filters = {"world": world, "status": status, "review": reviewed, "key": key}
    pager, rows = read_page(visit, read, size=PAGE, query=filters)
    with console.lab.reading() as connection:
        pages = pages_by_slot(connection, [row.id for row in rows], checks)
    return page(
        visit,
        "participants",
        text("Participants"),
        rows=[(row, _quality(visit, row, pages.get(row.id, []), closed=closed)) for row in rows],
        pager=pager,
        world=world,
        worlds=WORLDS,
        wanted=status,
        statuses=STATUSES,
        reviewed=reviewed,
        reviews=REVIEWS,
        key=key,
        closed=closed,
        done=_bulk_done(visit),
        platform=study.recruitment.platform,
    )


def _bulk_done(visit: Visit) -> str:
    """What became of a decision on several participants."""
    outcome = _BULK_DONE.get(visit.asked("done"))
    if outcome is None:
        return ""
    sentences = [visit.translated(outcome, count=visit.asked_number("count"))]
    if skipped := visit.asked_number("skipped"):
        sentences.append(visit.translated(text("{count} were skipped."), count=skipped))
    if unpaid := visit.asked_number("unpaid"):
        unpaid_text = text("Prolific did not accept {count}: approve them there, too.")
        sentences.append(visit.translated(unpaid_text, count=unpaid))
    return " ".join(sentences)


def _quality(visit: Visit, row: Row[Any], pages: list[Any], *, closed: bool) -> Quality:
    study = visit.console.launched.study
    return quality_of(study, pages, arrived=row.arrived_at, last=row.last_answer, closed=closed)


def list_comments(visit: Visit) -> Response:
    """Participants' comments, newest first, with their keys but without arms."""
    blocks = visit.console.launched.study.blocks
    steps = [block.id for block in blocks if block.holds_comments]
    pager, rows = read_page(visit, functools.partial(listed_comments, steps=steps), size=PAGE)
    return page(visit, "comments", text("Comments"), rows=rows, pager=pager, asked=bool(steps))


def show_participant(visit: Visit) -> Response:
    """One participant."""
    console, key = visit.console, visit.asked("key")
    study = console.launched.row
    with console.lab.reading() as connection:
        row = find_slot(connection, study, key)
        if row is None:
            raise HTTPException(404)
        pages = person_pages(connection, row.id)
        state = platform_state(connection, study, key)
    closed = row.study_status == "closed"
    labels = PageLabels(console.launched, row, {page.step: page.given for page in pages})
    last = max((page.answered_at for page in pages), default=None)
    platform = console.launched.study.recruitment.platform
    unlisted = () if closed else unlisted_blocks(console.launched.study)
    return page(
        visit,
        "participant",
        text("Participant"),
        row=row,
        quality=quality_of(
            console.launched.study, pages, arrived=row.arrived_at, last=last, closed=closed
        ),
        platform=state,
        pages=[
            _answered(visit, page, labels, closed=closed)
            for page in pages
            if block_of(page.step) not in unlisted
        ],
        messages=console.reviews.messages(key),
        closed=closed,
        done=_DONE.get(visit.asked("done"), ""),
        pays=platform == "prolific" and prolific.configured(),
    )


def _answered(visit: Visit, row: Row[Any], labels: PageLabels, *, closed: bool) -> AnsweredPage:
    study = visit.console.launched.study
    block = study.block(block_of(row.step))
    hidden = not closed and block.id in hidden_blocks(study)
    verdict = ""
    if block.checks_attention:
        verdict = "passed" if block.passed(row.given) else "failed"
    given: Mapping[str, Any] = {} if hidden else row.given
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
        labels.answers(row.step, given),
        hidden,
    )
