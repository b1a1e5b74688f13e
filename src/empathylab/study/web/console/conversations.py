"""Conversations: of a closed study all of them; before that, of people who may need help.

Replies and labels tell the arm, and what people answer to them may. So while a study is open, only
the words of participants whose part ended for their safety can be read, with a reason; an owner can
have the replies shown, too, which is a peek. The audit log keeps who read what.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.store.studies.live import turn_rows
from empathylab.store.studies.monitoring import person_pages
from empathylab.store.studies.slots import find_slot
from empathylab.store.studies.transcripts import (
    conversations_of,
    crisis_findings,
    listed_conversations,
    reply_figures,
)
from empathylab.study.admin.embargo import whole_minute
from empathylab.study.blocks.steps import block_of
from empathylab.study.session.page_contents import PageLabels
from empathylab.study.web.console.paging import read_page
from empathylab.study.web.console.rendering import CONVERSATIONS, page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

PAGE = 50


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A message as the console shows it; `row` has its figures, where they may be shown."""

    role: str
    """`person` or `respondent`, as in the viewer."""
    text: str
    at: datetime
    crisis_words: tuple[str, ...] = ()
    """Those in the message that speak of a crisis."""
    row: Any = None
    waited: float | None = None
    """Seconds from the message to when the reply was shown."""
    answers: tuple[tuple[str, str], ...] = ()
    """What the participant answered to questions before they went on."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation; `row` is None for words that were never part of one."""

    row: Any
    turns: tuple[ShownTurn, ...]


def list_conversations(visit: Visit) -> Response:
    """Who talked, newest first; while the study is open, only who was stopped for their safety."""
    console = visit.console
    if console.launched.study.live is None:
        raise HTTPException(404)
    closed = console.status() == "closed"
    stopped_only = not closed or visit.asked("show") == "stopped"
    read = functools.partial(listed_conversations, stopped_only=stopped_only)
    chosen = {"show": "stopped" if stopped_only and closed else ""}
    pager, rows = read_page(visit, read, size=PAGE, query=chosen)
    slots = [row.id for row in rows]
    with console.lab.reading() as connection:
        findings = crisis_findings(connection, slots)
        figures = reply_figures(connection, slots) if closed else {}
    return page(
        visit,
        "conversations",
        CONVERSATIONS,
        rows=[(row, findings.get(row.id, []), figures.get(row.id)) for row in rows],
        pager=pager,
        stopped_only=stopped_only,
        closed=closed,
    )


def show_conversation(visit: Visit) -> Response:
    """What one participant wrote and was answered, as far as it may be read now."""
    console, key = visit.console, visit.asked("key")
    with console.lab.reading() as connection:
        slot = find_slot(connection, console.launched.row, key)
        if slot is None or console.launched.study.live is None:
            raise HTTPException(404)
        shown = _may_read(visit, slot)
        pages = person_pages(connection, slot.id) if shown else ()
        rows = conversations_of(connection, slot.id) if shown == "replies" else ()
        turns = [(row, turn_rows(connection, row.id)) for row in rows]
        figures = reply_figures(connection, [slot.id]).get(slot.id)
    closed = slot.study_status == "closed"
    if closed:
        console.note(visit.who, "read conversation", person=key)
    labels = PageLabels(console.launched, slot, {item.step: item.given for item in pages})
    words = _Words(visit, pages, labels, closed=closed)
    talks = list(words.talks(turns)) if shown == "replies" else [Talk(None, tuple(words.own()))]
    return page(
        visit,
        "conversation",
        text("Conversation"),
        row=slot,
        talks=talks if shown else [],
        figures=figures if closed else None,
        shown=shown,
        closed=closed,
        stopped=slot.outcome == "safety",
    )


def read_conversation(visit: Visit) -> Response:
    """Shows the words of a participant who may need help, once the reason is on record."""
    console, key = visit.console, visit.form.get("key", "")
    with console.lab.reading() as connection:
        slot = find_slot(connection, console.launched.row, key)
    if slot is None or slot.outcome != "safety" or console.launched.study.live is None:
        raise HTTPException(404)
    reason = visit.reason_for_record(
        text("reading a conversation of an open study needs a reason of 10 to 500 characters"),
        text("Say why you have to read it now."),
    )
    if visit.form.get("replies") == "yes":
        if not visit.may("owner"):
            raise HTTPException(403)
        shown = "replies"
        console.note(visit.who, "peek", reason=reason, shown="replies", person=key)
    else:
        shown = "words"
        console.note(visit.who, "read conversation", person=key, reason=reason)
    here = f"/console/conversation?key={quote(key, safe='')}"
    return visit.show_once(here, shown=shown, read_at=console.clock().isoformat())


def _may_read(visit: Visit, slot: Any) -> str:
    """What may be shown: `replies` (everything), the participant's `words`, or nothing."""
    if slot.study_status == "closed":
        return "replies"
    shown = visit.result("shown")
    if slot.outcome != "safety" or (shown == "replies" and not visit.may("owner")):
        return ""
    return shown if visit.is_recent("read_at") else ""


class _Words:
    """What one participant wrote on pages, and was answered."""

    def __init__(
        self, visit: Visit, pages: Sequence[Any], labels: PageLabels, *, closed: bool
    ) -> None:
        self._study = visit.console.launched.study
        self._pages, self._labels, self._closed = pages, labels, closed

    def own(self, *, only_stopped: bool = False) -> Iterator[ShownTurn]:
        """What they wrote themselves; or only what was never answered, because it was a crisis."""
        for item in self._pages:
            block = self._study.block(block_of(item.step))
            if not block.is_own_experience or (only_stopped and "crisis" not in item.given):
                continue
            for name in sorted(block.free_answers & item.given.keys()):
                crisis_words = tuple(item.given.get("crisis", ()))
                yield ShownTurn(
                    "person", item.given[name], self._time(item.answered_at), crisis_words
                )

    def talks(self, conversations: Sequence[tuple[Any, Sequence[Any]]]) -> Iterator[Talk]:
        """Their conversations, and last the words that ended their part."""
        for row, turns in conversations:
            yield Talk(row, tuple(self._turns(turns)))
        if stopped := tuple(self.own(only_stopped=True)):
            yield Talk(None, stopped)

    def _turns(self, turns: Sequence[Any]) -> Iterator[ShownTurn]:
        asked = dict(self._asked(turns))
        for turn in turns:
            if turn.text is None or (turn.sender == "respondent" and turn.shown_at is None):
                continue
            seen = turn.shown_at or turn.asked_at
            waited = (
                (seen - turn.asked_at).total_seconds() if turn.sender != "participant" else None
            )
            yield ShownTurn(
                "person" if turn.sender == "participant" else "respondent",
                turn.text,
                self._time(seen),
                row=turn if self._closed else None,
                waited=waited if self._closed else None,
                answers=asked.get(turn.id, ()) if self._closed else (),
            )

    def _asked(self, turns: Sequence[Any]) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
        """By the reply that they follow, the answers to questions during the conversation."""
        for item in self._pages:
            names = {
                question.name for question in self._study.block(block_of(item.step)).item_questions
            }
            given: Mapping[str, Any] = {
                name: value for name, value in item.given.items() if name in names
            }
            before = [
                turn.id
                for turn in turns
                if turn.sender == "respondent"
                and turn.shown_at
                and turn.shown_at <= item.answered_at
            ]
            if given and before:
                yield before[-1], self._labels.answers(item.step, given)

    def _time(self, at: datetime) -> datetime:
        return at if self._closed else whole_minute(at) or at
