"""The queue of trained confederates: who waits, and what a confederate has to answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.store.studies.live import pending_turn, turn_rows
from empathylab.store.studies.partners import answer_turn, queue, take
from empathylab.store.studies.records import lock_study
from empathylab.study.assignment.blinding import opaque_id, same_id
from empathylab.study.live.partners import connected_at
from empathylab.study.live.settings import Live
from empathylab.study.session.running import RunningStudy
from empathylab.words import count_words

_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class TakenConversation:
    """A conversation that a confederate holds."""

    number: int
    turns: tuple[tuple[str, str], ...]
    """Who speaks, `participant` or `respondent`, and what they say."""
    asked_at: datetime | None
    """Since when the participant waits for a reply; None where they write."""
    minutes_left: int = 0
    """Whole minutes until the reply is too late."""


@dataclass(frozen=True, slots=True)
class Queue:
    """What a confederate sees."""

    waiting: int
    taken: tuple[TakenConversation, ...]


def queue_token(secret: bytes, name: str) -> str:
    """The value of `link` that lets a confederate of that name into the queue."""
    return f"{name}.{opaque_id(secret, 'queue', name)}"


def new_queue_token(study: RunningStudy, name: str) -> str:
    """The token for a confederate of a launched study; raises where it has none."""
    require_confederates(study.study.live)
    if not re.fullmatch(r"[\w-]{1,60}", name):
        raise InputError(
            "a confederate's name must be letters, digits and hyphens, 60 at most",
            got=name,
            remedy="Give a short name; participants never see it.",
        )
    return queue_token(study.secret, name)


def confederate_of(secret: bytes, token: str) -> str | None:
    """The confederate's name in a token that we signed; None for any other."""
    name, _, signature = token.rpartition(".")
    known = 0 < len(name) <= _MOST_NAME and same_id(signature, opaque_id(secret, "queue", name))
    return name if known else None


def require_confederates(live: Live | None) -> list[str]:
    """The names of the authors who are confederates; raises where a study has none."""
    authors = {} if live is None else live.authors
    names = [name for name, author in authors.items() if author.person == "confederate"]
    if not names:
        raise InputError(
            "no author of this study is a confederate",
            remedy="Give one of live.authors `person: confederate`.",
        )
    return names


class ConfederateQueue:
    """The queue of one launched study."""

    def __init__(self, study: RunningStudy) -> None:
        self._study = study
        self._authors = require_confederates(study.study.live)
        self._live = cast("Live", study.study.live)

    def view(self, who: str) -> Queue:
        """How many wait for a confederate, and the conversations that this one holds."""
        study = self._study.launched.row
        with self._study.lab.reading() as connection:
            waiting = queue(connection, study, self._authors, None)
            own = queue(connection, study, self._authors, who)
            taken = [(row.step, self._taken(connection, row)) for row in own]
        # A story has one reply; a chat goes on.
        block = self._study.study.block
        return Queue(
            len(waiting),
            tuple(talk for step, talk in taken if talk.asked_at or block(step).kind != "reply"),
        )

    def _taken(self, connection: Connection, row: Any) -> TakenConversation:
        turns = turn_rows(connection, row.id)
        turns_shown = tuple((turn.sender, turn.text) for turn in turns if turn.state == "ready")
        asked_at = next((turn.asked_at for turn in turns if turn.state == "pending"), None)
        if asked_at is None:
            return TakenConversation(row.id, turns_shown, None)
        # A story that waited for a confederate waits for the reply from then on.
        since = max(asked_at, row.opened_at) if len(turns) == 2 else asked_at
        left = self._live.people.reply_within - (self._study.now() - since).total_seconds()
        return TakenConversation(row.id, turns_shown, asked_at, max(0, int(left // 60)))

    def take_next(self, who: str) -> bool:
        """Whether the confederate holds the conversation that has waited longest."""
        context, now = self._study, self._study.now()
        with context.lab.writing() as connection:
            lock_study(connection, context.launched.row)
            for row in queue(connection, context.launched.row, self._authors, None):
                room = row.state == "waiting"
                at = connected_at(self._live, context.secret, row, now) if room else now
                if take(connection, row.id, who, state="open", opened_at=at):
                    return True
        return False

    def reply(self, who: str, conversation: int, text: str) -> str:
        """Stores a reply; returns what is wrong with it, or nothing."""
        most = self._live.maximum_words
        if not 0 < count_words(text) <= most:
            return f"Write 1 to {most} words."
        with self._study.lab.writing() as connection:
            own = queue(connection, self._study.launched.row, self._authors, who)
            if conversation not in {row.id for row in own}:
                return "This conversation has ended."
            turn = pending_turn(connection, conversation)
            if turn is None or not answer_turn(connection, turn.id, text, self._study.now()):
                return "This message already has a reply."
        return ""
