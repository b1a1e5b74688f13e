"""One participant's request to a study: a transaction in which the rules meet the lab's rows.

A transaction is read-only, writing, or writing with the study locked. Work that needs more raises
`Escalate` before anything is lost, and the service starts it again in that mode. A transaction that
locks the study holds no other lock yet, and one that holds only its own row waits for no other, so
there are no deadlocks.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Literal, cast

from sqlalchemy import Connection, Row

from empathylab.store.studies.deletion import erase_answers
from empathylab.store.studies.live import end_open_conversations, live_outcome
from empathylab.store.studies.participants import set_visit_ids, visit_ids
from empathylab.store.studies.places import (
    abandon_place,
    correct_answer,
    page_times,
    platform_details,
)
from empathylab.store.studies.records import add_audit
from empathylab.store.studies.results import add_finished_work
from empathylab.study.admin.deletion import PARTICIPANT, take_back_replies
from empathylab.study.assignment.allocation import (
    FOR_GOOD,
    Full,
    Person,
    Place,
    Status,
    choose_place,
    displaced,
    ended,
    is_live,
    last_seen,
)
from empathylab.study.assignment.quotas import quota_traits
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.forms import Refused
from empathylab.study.blocks.interface import Outcome, ParticipantPath, Step
from empathylab.study.blocks.pages import PageContent
from empathylab.study.group_commit.batches import Batch
from empathylab.study.group_commit.current_places import claim_state, note_claim, place_of
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.settings import Live
from empathylab.study.live.turns import Conversation
from empathylab.study.session.completion import Completion, completion_for
from empathylab.study.session.drafts import begun_on, refused_on, with_refused, without
from empathylab.study.session.eligibility import was_here
from empathylab.study.session.finishing import finished_work
from empathylab.study.session.flow import (
    Decision,
    End,
    GoTo,
    NeedsPlace,
    Show,
    decide,
    last_step,
)
from empathylab.study.session.launched import Launched
from empathylab.study.session.page_contents import step_content
from empathylab.study.session.signals import rater_columns, read_signals
from empathylab.study.session.timing import page_timing
from empathylab.study.session.visits import Closed, Finished, Page, View

Mode = Literal["read", "write", "locked"]
_RANK: dict[Mode, int] = {"read": 0, "write": 1, "locked": 2}
_SEEN_AGAIN = timedelta(seconds=60)
"""A sign of life is written down this often at most; answers are one anyway."""


BROWSER = "browser"
"""Beside the platform's ids: a digest of the browser that gave the first answer."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


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
        self._clock = clock
        self._conversations: dict[str, Conversation] = {}
        self.answers = {item.step: item for item in batch.given(row.id)}
        self.given: dict[str, Mapping[str, Any]] = {
            key: one.given for key, one in self.answers.items()
        }

    @property
    def connection(self) -> Connection:
        """The transaction's, in which all that was changed so far can be seen."""
        return self.batch.connection

    @property
    def slot(self) -> Slot | None:
        """The person's batch of work, once they have a place."""
        if self.row.arm is None or self.row.slot is None:
            return None
        arm, number = str(self.row.arm), int(self.row.slot)
        return self.launched.slots[arm][number]

    @property
    def path(self) -> ParticipantPath:
        """The study as this person goes through it."""
        items = None if self.slot is None else len(self.slot.items)
        return ParticipantPath(self.launched.study, self.launched.scales, items, self.row.person)

    @property
    def place(self) -> Place:
        """The person's place, as the rules of assignment see it."""
        return place_of(self.row)

    def require(self, mode: Mode) -> None:
        """Begins again where the transaction has less than that."""
        if _RANK[self.mode] < _RANK[mode]:
            raise Escalate(mode)

    def decision(self, asked: str | None = None) -> Show | GoTo | End | Closed | Finished:
        """Where the person is; claims a place where one is due."""
        stopped = self._let_in()
        if stopped is not None:
            return stopped
        found = decide(self.path, self.given, asked)
        if isinstance(found, NeedsPlace):
            stopped = self._claim()
            if stopped is not None:
                return stopped
            found = decide(self.path, self.given, asked)
        if isinstance(found, Show) and self._is_interrupted(found):
            self.end("interrupted", draft={})
            return self.finished("interrupted")
        return cast("Show | GoTo | End", found)

    def _is_interrupted(self, show: Show) -> bool:
        """Whether the page's replies can no longer be had."""
        conversation = None if show.revising else self.conversation(show.step)
        return conversation is not None and conversation.interrupted

    def conversation(self, step: Step) -> Conversation | None:
        """The conversation that the page shows, as it stands now; None where it shows none."""
        block = self.launched.study.block(step.block)
        if not block.is_live:
            return None
        if step.key not in self._conversations:
            self._conversations[step.key] = block.follow(self._desk, step, self.given)
        return self._conversations[step.key]

    @property
    def _desk(self) -> LiveDesk:
        launched, row = self.launched, self.row
        connection = self.batch.reading if self.mode == "read" else self.connection
        live = cast("Live", launched.study.live)
        return LiveDesk(
            connection, live, launched.secret, row, row.language, self.now, self.require
        )

    def _let_in(self) -> Closed | Finished | None:
        """What keeps the person from the pages, if anything does."""
        status, study_status = self.row.status, self.row.study_status
        if status == "finished":
            return self.finished("completed")
        if status == "repeated":
            return self.closed("repeated", REPEATED, "screened-out")
        if status in FOR_GOOD:
            if self.row.outcome is None:
                return self.closed("ended", Full("ended").sentence)
            return self.finished(self.row.outcome)
        if self.row.outcome == "timed-out":
            return self.finished("timed-out")
        if self.row.arm is None:
            # Anyone who declined is told so again, even when the study has closed since.
            if self.row.outcome == "no-consent":
                return self.finished("no-consent")
            if self.row.world != "test" and study_status in ("paused", "closed"):
                outcome: Outcome | None = "full" if study_status == "closed" else None
                return self.closed(study_status, Full(study_status).sentence, outcome)
            return None
        if self.row.world != "test" and study_status == "closed":
            return self.closed("closed", Full("closed").sentence)
        if self._is_out_of_time():
            self.change(status="timed-out", outcome="timed-out", draft={})
            return self.finished("timed-out")
        if is_live(self.place, self.launched.study.time_limits, self.now):
            return None
        return self._claim()

    def _is_out_of_time(self) -> bool:
        """Whether the time to finish, counted from the first item, is over."""
        within = self.launched.study.time_limits.finish_within
        if within is None or self.row.world == "test" or self.row.status != "live":
            return False
        return bool(self.now - self.row.claimed_at > timedelta(minutes=within))

    def _claim(self) -> Closed | None:
        """Takes the next place, or the person's own again; says why not where there is none."""
        self.require("locked")
        study, world = self.launched.study, self.row.world
        # They may have come to two versions before they had a place in either, or left one.
        once = self.row.arm is None and study.recruitment.once
        if once and was_here(self.batch, self.launched, self.row.person):
            self.change(status="repeated", outcome="screened-out")
            return self.closed("repeated", REPEATED, "screened-out")
        traits = dict(self.row.traits) or self._traits()
        state = claim_state(self.batch, self.launched, self.row, self.now)
        # By the clock as it is now that nobody else can claim: places are in the order of time.
        person = Person(self.row.person, world, traits)
        now = max(self.now, self._clock())
        choice = choose_place(study, state, person, now, secret=self.launched.secret)
        if isinstance(choice, Full):
            if self.row.arm is None:
                self.change(outcome=choice.outcome)
            return self.closed(choice.reason, choice.sentence, choice.outcome)
        for item in displaced(state, choice):
            if not abandon_place(self.connection, self.launched.row, item.person, item.seen_at):
                raise Escalate("locked")  # seen in this very moment: choose again
            self.batch.forget(item.person)
        is_new = self.row.arm is None
        self._write(
            arm=choice.arm,
            slot=choice.slot,
            status=choice.status,
            claimed_at=choice.claimed_at,
            seen_at=choice.seen_at,
            traits=dict(choice.traits),
            outcome=None,
        )
        if is_new:
            note_claim(self.batch, choice)
        else:
            self.batch.read_anew()  # they may stand among the others already
        return None

    def _traits(self) -> dict[str, str]:
        """What the study's quotas go by, where it has any."""
        study = self.launched.study
        if not study.quotas:
            return {}
        told = platform_details(self.batch.reading, self.launched.row, self.row.person)
        return quota_traits(study, self.given, told)

    def change(self, **values: Any) -> None:
        """Changes the person's row."""
        if "status" in values:
            self.batch.read_anew()
        self._write(**values)

    def _write(self, **values: Any) -> None:
        self.require("write")
        self.batch.change_place(self.row.id, values)
        vars(self.row).update(values)

    def page(self, show: Show, notice: str = "") -> Page:
        """The page to show, with what was answered or begun on it."""
        step, draft = show.step, self.row.draft
        conversation = self.conversation(step)
        if conversation is not None and conversation.unshown:
            self._desk.mark_shown(conversation)
            # The time on the page is that of reading the reply, not of waiting for it.
            self.change(shown_step=step.key, shown_at=self.now)
        return Page(
            step=step.key,
            content=self._content(step, conversation),
            progress=show.progress,
            can_go_back=show.back is not None,
            draft={**self.given.get(step.key, {}), **begun_on(draft, step.key)},
            language=self.row.language,
            revising=show.revising,
            notice=notice,
            answered=self.answer_digest(step.key),
            refused=refused_on(draft, step.key),
        )

    def refuse(
        self,
        step_key: str,
        values: Mapping[str, str | list[str]],
        refused: Refused,
        visit: str,
    ) -> Refused:
        """The refusal, once what was typed is kept to be shown again."""
        self.change(draft=with_refused(self.row.draft, step_key, values, refused, visit))
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
        """Keeps which browser gives the first answer: an id in a link is no proof of who comes."""
        if browser and not self.answers:
            self.require("write")
            study, person = self.launched.row, self.row.person
            kept = visit_ids(self.connection, study, person)
            if kept is not None and BROWSER not in kept:
                set_visit_ids(self.connection, study, person, kept | {BROWSER: browser})

    def store(self, step: Step, values: Mapping[str, Any], timing: Mapping[str, float]) -> View:
        """What comes after this answer.

        Writes the answer, claims a place where one is due next, and writes the end where there is
        nothing more.
        """
        block = self.launched.study.block(step.block)
        if block.is_live and step.key not in self.answers:
            values = {**values, **block.converse(self._desk, step, values)}
        self.given[step.key] = dict(values)
        following = decide(self.path, self.given)
        self.require("locked" if isinstance(following, NeedsPlace) else "write")
        before = self.answers.get(step.key)
        if before is not None:
            # Its time stays that of the first look: what lies between is no time on the page.
            correct_answer(self.connection, before.id, given=dict(values), answered_at=self.now)
        else:
            shown_at = self.shown_at(step)
            told = {name: str(value) for name, value in timing.items()}
            measured = dataclasses.asdict(page_timing(shown_at, self.now, told))
            if self.launched.study.signals:
                measured["signals"] = read_signals(timing)
            answer = {
                "place_id": self.row.id,
                "step": step.key,
                "given": dict(values),
                # A clock that was set back must not leave an answer before its question.
                "shown_at": min(shown_at, self.now),
                "answered_at": self.now,
                "timing": measured,
                "corrections": 0,
            }
            self.batch.add_answer(answer)
        return self._move_on(step, following)

    def _move_on(self, answered: Step, following: Decision) -> View:
        values: dict[str, Any] = {"seen_at": last_seen(self.now, self.row.seen_at)}
        draft = without(self.row.draft, answered.key)
        if draft != self.row.draft:
            values["draft"] = draft
        if isinstance(following, End):
            self.end(following.outcome, **values)
            return self.finished(following.outcome)
        if isinstance(following, NeedsPlace):
            stopped = self._claim()
            if stopped is not None:
                self.change(**values)
                return stopped
            following = decide(self.path, self.given)
        following = cast("Show", following)
        if self._is_interrupted(following):
            self.end("interrupted", **values)
            return self.finished("interrupted")
        if following.step.key != self.row.shown_step:
            # The next page is shown at once; so showing it needs no write of its own.
            values |= {"shown_step": following.step.key, "shown_at": self.now}
        self.change(**values)
        return self.page(following)

    def end(self, outcome: Outcome, **values: Any) -> None:
        """Writes down how it ended; completed work goes where analyses read it.

        Those who are told the truth at the end and want their answers deleted have completed it.
        """
        if outcome == "completed" and self._withdraws():
            self._erase_answers()
            self.change(status="withdrawn", outcome=outcome, **values, draft={}, traits={})
            return
        if outcome == "completed":
            self._finish()
        if outcome == "safety":
            self._stop_for_safety()
        if self.row.arm is not None:
            status: Status = "finished" if outcome == "completed" else "failed"
            values["status"] = ended(self.place, status).status
        self.change(outcome=outcome, **values)

    def _withdraws(self) -> bool:
        return any(block.withdraws(self.given) for block in self.launched.study.blocks)

    def _erase_answers(self) -> None:
        self.require("locked")
        launched, now = self.launched, self.now
        erase_answers(self.connection, launched.row, self.row)
        name, person = launched.study.name, self.row.person
        take_back_replies(self.connection, name, person, who=PARTICIPANT, at=now)
        add_audit(self.connection, launched.row, now, PARTICIPANT, "withdraw answers")

    def _stop_for_safety(self) -> None:
        study, person = self.launched.row, self.row.person
        end_open_conversations(self.connection, study, "safety", self.now, place=self.row.id)
        add_audit(self.connection, study, self.now, PARTICIPANT, "safety stop", person=person)

    def _finish(self) -> None:
        times = page_times(self.connection, self.row.id)
        work = finished_work(
            self.launched,
            self.path,
            cast("Slot", self.slot),  # nobody completes a study without a place
            self.given,
            world=self.row.world,
            told=platform_details(self.connection, self.launched.row, self.row.person),
            seconds=max(0.0, (self.now - self.row.arrived_at).total_seconds()),
            times={key: (one.answered_at, one.timing["seconds"]) for key, one in times.items()},
        )
        if self.launched.study.signals:
            signals = rater_columns(time.timing for time in times.values())
            work = dataclasses.replace(work, details={**work.details, **signals})
        if self.launched.study.live is not None:
            author, label = self._desk.condition
            outcome = live_outcome(self.connection, self.row.id)
            told = {"author": author, "label": label, "reply_outcome": outcome}
            known = {name: value for name, value in told.items() if value is not None}
            work = dataclasses.replace(work, details={**work.details, **known})
        if work.replies:
            self.require("locked")  # replies are numbered, one person at a time
        study = self.launched.study
        source = {"study": study.name, "version": study.version}
        add_finished_work(self.connection, self.launched.row, source, work, self.now)

    def finished(self, outcome: Outcome) -> Finished:
        """The end, with the debriefing where the study was completed."""
        content = self._content(last_step(self.launched.study)) if outcome == "completed" else None
        completion = completion_for(self.launched.study, outcome)
        deleted = outcome == "completed" and self.row.status == "withdrawn"
        return Finished(outcome, content, completion, self.row.language, deleted)

    def closed(self, reason: Any, sentence: str, outcome: Outcome | None = None) -> Closed:
        """A closed door, with the code for it where the study has one."""
        code = completion_for(self.launched.study, outcome) if outcome else Completion(None, None)
        return Closed(reason, sentence, code, self.row.language)

    def _content(self, step: Step, conversation: Conversation | None = None) -> PageContent:
        return step_content(
            self.launched,
            self.path,
            step,
            self.slot,
            self.row.language,
            self.given,
            conversation,
        )


REPEATED = "You have already taken part in this study. Thank you."
