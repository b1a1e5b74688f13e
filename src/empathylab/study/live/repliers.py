"""People who write the one reply to a story: another participant, or a trained confederate.

A story waits for a person from the moment its writer goes on. Confederates take it in their queue
(`confederates`), participants on the page on which they reply to someone else. As with partners,
all of it is decided when someone's page looks again, and kept in the lab alone.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from empathylab.store.studies.live import (
    change_conversation,
    end_conversation,
    pending_turn,
    turn_rows,
)
from empathylab.store.studies.partners import (
    answer_turn,
    conversation_row,
    fail_turn,
    replied_to,
    stories_waiting,
    take_story,
)
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.safety import unsafe_words
from empathylab.study.live.turns import Conversation, ShownTurn

_OWN_STORY = "own_story"
"""In the details of a conversation: its writer replies to the story of the study file."""


def story_to_reply_to(desk: LiveDesk, own: Any) -> Conversation:
    """The story of someone else who waits; without turns where nobody did.

    `own` is the participant's own conversation. The choice stays, however often the page is loaded.
    """
    other = replied_to(desk.connection, own.id)
    if other is None and _OWN_STORY not in own.details and own.state != "ended":
        other = _claimed(desk, own)
    turns: tuple[ShownTurn, ...] = ()
    if other is not None:
        turns = (ShownTurn("respondent", turn_rows(desk.connection, other.id)[0].text),)
    return Conversation(own.id, turns, state=own.state, reason=own.reason)


def _claimed(desk: LiveDesk, own: Any) -> Any:
    desk.require("write")
    people = [name for name, author in desk.live.authors.items() if author.person == "participant"]
    since = desk.now - timedelta(seconds=desk.live.people.wait.maximum)
    for row in stories_waiting(desk.connection, own, people, desk.slot.world, since):
        if take_story(desk.connection, row.id, own.id, desk.now):
            return conversation_row(desk.connection, row.id)
    details = {**own.details, _OWN_STORY: True}
    change_conversation(desk.connection, own.id, details=details)
    return None


def send_reply(desk: LiveDesk, own: Any, text: str) -> None:
    """Stores the participant's reply to someone else; one that hurts is kept back."""
    other = replied_to(desk.connection, own.id)
    pending = None if other is None else pending_turn(desk.connection, other.id)
    if pending is None:
        return
    fallback = desk.live.fallback
    if fallback is not None and unsafe_words(text, desk.language):
        fallback_text = fallback.in_language(desk.language)
        fail_turn(desk.connection, pending.id, "unsafe", desk.now, fallback_text, rejected=text)
    else:
        answer_turn(desk.connection, pending.id, text, desk.now)


def release_story(desk: LiveDesk, own: Any) -> None:
    """Lets another participant reply to the story that this one has taken."""
    other = replied_to(desk.connection, own.id)
    if other is not None:
        change_conversation(desk.connection, other.id, partner_id=None, opened_at=None)


def with_reply_or_fallback(desk: LiveDesk, row: Any) -> Any:
    """The row of a story's conversation, after a person who is not there was given up."""
    if row.kind != "person" or row.state == "ended":
        return row
    if (pending := pending_turn(desk.connection, row.id)) is None:
        return row
    people, fallback = desk.live.people, desk.live.fallback
    if row.opened_at is None:
        if desk.now - row.started_at > timedelta(seconds=people.wait.maximum):
            desk.require("write")
            _without_person(desk, row, pending)
    elif _has_left(row) or desk.now - row.opened_at > timedelta(seconds=people.reply_within):
        desk.require("write")
        assert fallback is not None  # noqa: S101 - the block requires one
        fail_turn(
            desk.connection, pending.id, "left", desk.now, fallback.in_language(desk.language)
        )
    return conversation_row(desk.connection, row.id)


def _has_left(row: Any) -> bool:
    """Whether the participant who took the story has had all their answers deleted."""
    return row.partner_id is None and row.taken_by is None


def _without_person(desk: LiveDesk, row: Any, pending: Any) -> None:
    """What the study declares for stories that nobody takes."""
    otherwise = desk.live.people.otherwise
    if otherwise == "end":
        end_conversation(desk.connection, row.id, "no-partner", desk.now)
        return
    author = desk.live.authors[otherwise]
    change_conversation(
        desk.connection, row.id, author=otherwise, kind=author.kind, opened_at=desk.now
    )
    if author.text is not None:
        answer_turn(desk.connection, pending.id, author.text.in_language(desk.language), desk.now)
