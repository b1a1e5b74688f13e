"""One participant's request to a study: a transaction in which the rules meet the lab's rows.

A transaction is read-only, writing, or writing with the study locked. Work that needs more raises
`Escalate` before anything is lost, and the service starts it again in that mode. A transaction that
locks the study holds no other lock yet, and one that holds only its own row waits for no other, so
there are no deadlocks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Literal, cast

from sqlalchemy import Connection, Row

from empathylab.store.studies.participants import set_visit_ids, visit_ids
from empathylab.study.assignment.allocation import Place, last_seen
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.forms import Refused
from empathylab.study.blocks.interface import ParticipantPath
from empathylab.study.blocks.pages import PageContent
from empathylab.study.blocks.steps import Step
from empathylab.study.group_commit.batches import Batch
from empathylab.study.group_commit.current_places import place_of
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.settings import Live
from empathylab.study.live.turns import Conversation
from empathylab.study.session.drafts import begun_on, refused_on, with_refused
from empathylab.study.session.flow import Show
from empathylab.study.session.launched import Launched
from empathylab.study.session.page_contents import step_content
from empathylab.study.session.visits import Page

Mode = Literal["read", "write", "locked"]
_RANK: dict[Mode, int] = {"read": 0, "write": 1, "locked": 2}
_SEEN_AGAIN = timedelta(seconds=60)
"""A sign of life is written down this often at most; answers are one anyway."""
BROWSER = "browser"
"""Beside the platform's ids: a digest of the browser that gave the first answer."""


class Escalate(Exception):
    """The transaction needs more than it was begun with."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(mode)
        self.mode = mode


class ParticipantTransaction:
    """What one person does in one transaction."""

    def __init__(
        self,
        batch: Batch,
        launched: Launched,
        row: Row[Any],
        now: datetime,
        mode: Mode,
        clock: Callable[[], datetime],
    ) -> None:
        self.batch = batch
        self.launched = launched
        self.row: Any = SimpleNamespace(**row._mapping)
        """As it stands after what this transaction has changed."""
        self.now = now
        """When the person asked; they may have waited for their turn since."""
        self.mode = mode
        self.clock = clock
        self._conversations: dict[str, Conversation] = {}
        self.answers = {item.step: item for item in batch.given(row.id)}
        self.given: dict[str, Mapping[str, Any]] = {
            key: answer.given for key, answer in self.answers.items()
        }

    @property
    def connection(self) -> Connection:
        """The transaction's, in which all that was changed so far can be seen."""
        return self.batch.connection

    @property
    def slot(self) -> Slot | None:
        """The person's batch of work, once they have a place."""
        return self.launched.slot_of(self.row)

    @property
    def path(self) -> ParticipantPath:
        """The study as this person goes through it."""
        return self.launched.path_of(self.row)

    @property
    def place(self) -> Place:
        """The person's place, as the rules of assignment see it."""
        return place_of(self.row)

    def require(self, mode: Mode) -> None:
        """Begins again where the transaction has less than that."""
        if _RANK[self.mode] < _RANK[mode]:
            raise Escalate(mode)

    def conversation(self, step: Step) -> Conversation | None:
        """The conversation that the page shows, as it stands now; None where it shows none."""
        block = self.launched.study.block(step.block)
        if not block.is_live:
            return None
        if step.key not in self._conversations:
            self._conversations[step.key] = block.follow(self.desk, step, self.given)
        return self._conversations[step.key]

    @property
    def desk(self) -> LiveDesk:
        """Where live replies to this person are written and read."""
        launched, row = self.launched, self.row
        connection = self.batch.reading if self.mode == "read" else self.connection
        live = cast("Live", launched.study.live)
        return LiveDesk(
            connection, live, launched.secret, row, row.language, self.now, self.require
        )

    def change(self, **values: Any) -> None:
        """Changes the person's row."""
        if "status" in values:
            self.batch.read_anew()
        self.write(**values)

    def write(self, **values: Any) -> None:
        """Changes the person's row; what the batch knows of places is kept."""
        self.require("write")
        self.batch.change_slot(self.row.id, values)
        vars(self.row).update(values)

    def page(self, show: Show) -> Page:
        """The page to show, with what was answered or begun on it."""
        step, draft = show.step, self.row.draft
        conversation = self.conversation(step)
        if conversation is not None and conversation.unshown:
            self.desk.mark_shown(conversation)
            # The time on the page is that of reading the reply, not of waiting for it.
            self.change(shown_step=step.key, shown_at=self.now)
        return Page(
            step=step.key,
            content=self.content(step, conversation),
            progress=show.progress,
            can_go_back=show.back is not None,
            draft={**self.given.get(step.key, {}), **begun_on(draft, step.key)},
            language=self.row.language,
            answered=self.answer_digest(step.key),
            refused=refused_on(draft, step.key),
        )

    def refuse(
        self,
        step_key: str,
        values: Mapping[str, str | list[str]],
        refused: Refused,
        visit: str,
        *,
        guest: bool,
    ) -> Refused:
        """The refusal, once what was typed is kept to be shown again."""
        draft = with_refused(self.row.draft, step_key, values, refused, visit, guest=guest)
        self.change(draft=draft)
        return refused

    def mark_shown(self, show: Show) -> None:
        """Writes down when a page was first shown, and now and then that the person is there."""
        seen = last_seen(self.now, self.row.seen_at)
        if not show.revising and self.row.shown_step != show.step.key:
            self.change(shown_step=show.step.key, shown_at=self.now, seen_at=seen)
        elif abs(seen - self.row.seen_at) > _SEEN_AGAIN:
            self.change(seen_at=seen)

    def shown_at(self, step: Step) -> datetime:
        """When the page was first shown; now, where that is not known."""
        shown: datetime = self.row.shown_at if self.row.shown_step == step.key else self.now
        return shown

    def answer_digest(self, step_key: str) -> str:
        """A digest of what is stored for the page; `new` where nothing is."""
        given = self.given.get(step_key)
        if given is None:
            return "new"
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]

    def is_begun_by(self, browser: str) -> bool:
        """Whether this browser gave the first answer; an unnamed one is believed."""
        if not browser:
            return True
        kept = visit_ids(self.connection, self.launched.row, self.row.person) or {}
        return kept.get(BROWSER) in (None, browser)

    def note_browser(self, browser: str) -> None:
        """Keeps which browser gives the first answer: an ID in a link is no proof of identity."""
        if browser and not self.answers:
            self.require("write")
            study, person = self.launched.row, self.row.person
            kept = visit_ids(self.connection, study, person)
            if kept is not None and BROWSER not in kept:
                set_visit_ids(self.connection, study, person, kept | {BROWSER: browser})

    def content(self, step: Step, conversation: Conversation | None = None) -> PageContent:
        """What a page of this person shows."""
        return step_content(self.launched, self.row, step, self.given, conversation)
