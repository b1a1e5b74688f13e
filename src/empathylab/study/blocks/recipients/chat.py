"""Chat: a conversation of several turns, with a model, a person or a fixed text.

Each message is a page of its own: `chat/1`, `chat/2` and so on. So a message is stored like any
answer, sending it twice stores it once, and a page without a script works. Where people answer in
some arm, everybody begins in the waiting room (`chat/room`). Of two participants one tells and the
other replies (`chat/reply/1` …), and then the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Whole, misfit, wrong
from empathylab.store.studies.live import end_conversation
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.forms import FormReader, Given
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    Outcome,
    PageView,
    ParticipantPath,
    StudyRules,
)
from empathylab.study.blocks.pages import Asked, Body, LivePage, Part, ShownReply
from empathylab.study.blocks.questions.interface import Question
from empathylab.study.blocks.questions.registry import AnyQuestion
from empathylab.study.blocks.recipients.tell import CRISIS, STORY, note_crisis
from empathylab.study.blocks.steps import AnsweredQuestion, Results, Step
from empathylab.study.blocks.texts import Identifier, Text, refuse_repeated
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.partners import (
    leave_partner,
    partner_conversation,
    reply_to_partner,
    tells_first,
    waiting_room,
    with_reply_in_time,
)
from empathylab.study.live.safety import unsafe_words
from empathylab.study.live.turns import Conversation
from empathylab.yaml_documents import Path

MESSAGE, END, ROLE = "message", "end", "role"
_MOST_TURNS = 50
_MOST_CHARACTERS = 10_000
_PREVIEW = (("you", "…"), ("other", "…"))


class Chat(Block):
    """A conversation of several turns with the author of the participant's condition."""

    block: Literal["chat"]
    text: Text | None = None
    reply_text: Text | None = None
    """Of two participants: what the one who replies reads first."""
    opens_with: Identifier | None = None
    """A block tell, whose story is the first message."""
    turns: Annotated[Whole, Field(ge=1, le=_MOST_TURNS)] = 6
    """The most messages of the participant."""
    minimum_turns: Annotated[Whole, Field(ge=0, le=_MOST_TURNS)] = 1
    """How many messages must be answered before the participant can end the conversation."""
    minutes: Annotated[Whole, Field(ge=1, le=240)] | None = None
    """After which no message can be sent; None: no such limit."""
    maximum_words: Annotated[Whole, Field(ge=1, le=2000)] = 200
    """Of a message."""
    questions: tuple[AnyQuestion, ...] = ()
    """Asked during the conversation, such as how heard someone feels right now."""
    every: Annotated[Whole, Field(ge=1, le=_MOST_TURNS)] = 1
    """After how many replies the questions are asked again."""

    is_work: ClassVar[bool] = True
    is_own_experience: ClassVar[bool] = True
    is_live: ClassVar[bool] = True

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.minimum_turns > self.turns:
            raise wrong(f"{self.turns} or less", at=("minimum_turns",))
        names = [question.name for question in self.questions]
        refuse_repeated([*names, MESSAGE, END, ROLE, CRISIS], "questions of the name")
        return self

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """The block `tell` with the opening story must come before it."""
        before = study.blocks[: study.blocks.index(self)]
        if self.opens_with and not any(
            block.id == self.opens_with and block.kind == "tell" for block in before
        ):
            raise misfit(
                f"there is no block tell with the id {self.opens_with!r} before it",
                "Name such a block, or remove the key.",
                at=(*at, "opens_with"),
            )

    # Steps

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """The waiting room, and a page for each message until the conversation ends."""
        role = "tell"
        if path.study.live is not None and path.study.live.has_people:
            yield Step(f"{self.id}/room", self.id, "room")
            role = answers.get(f"{self.id}/room", {}).get(ROLE, role)
        for part in role.split("-"):
            # The last page of the one who tells shows the last reply.
            prefix, pages, messages = f"{self.id}/reply", self.turns, self.turns
            if part == "tell":
                prefix, pages, messages = self.id, self._messages + 1, self._messages
            for number in range(1, pages + 1):
                key = f"{prefix}/{number}"
                yield Step(key, self.id, "chat", number, messages)
                if END in answers.get(key, {}):
                    break

    @property
    def _messages(self) -> int:
        """How many messages of the one who tells are sent on pages of the block."""
        return self.turns - 1 if self.opens_with else self.turns

    def _writes(self, step: Step) -> bool:
        """Whether a message can be sent on that page."""
        return self._replies(step) or step.number <= self._messages

    def _replies(self, step: Step) -> bool:
        """Whether the participant replies to a partner there, and does not tell."""
        return step.key.startswith(f"{self.id}/reply/")

    def _said_before(self, step: Step) -> int:
        """How many messages of the one who tells come before that page."""
        return step.number if self.opens_with else step.number - 1

    # The conversation

    def follow(self, desk: LiveDesk, step: Step, answers: Answers) -> Conversation:
        """The waiting room, one's own conversation, or that of one's partner."""
        if step.page == "room":
            return waiting_room(desk, self.id)
        row = desk.opened(self.id)
        if self._replies(step):
            return partner_conversation(desk, row)
        conversation = desk.read(with_reply_in_time(desk, row))
        if conversation.state == "ended" or conversation.waiting:
            return conversation
        if self.opens_with and not conversation.turns:
            desk.tell(row, str(answers[self.opens_with][STORY]))
            return desk.read(row)
        if self._is_over(desk, row):
            desk.require("write")
            end_conversation(desk.connection, row.id, "time", desk.now)
            return desk.read(desk.find(self.id))
        return conversation

    def _is_over(self, desk: LiveDesk, row: Any) -> bool:
        began = row.opened_at or row.started_at
        return self.minutes is not None and desk.now - began > timedelta(minutes=self.minutes)

    def offered(self, step: Step, conversation: Conversation, values: Given) -> Given:
        """A conversation can be ended once enough messages are answered, or when it is over."""
        if conversation.state == "ended" or self._can_end(step):
            return values
        return {name: value for name, value in values.items() if name != END}

    def converse(self, desk: LiveDesk, step: Step, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Sends the message, or ends the conversation."""
        row = desk.find(self.id)
        if step.page == "room":
            if row.partner_id is None:
                return {ROLE: "tell"}
            return {ROLE: "tell-reply" if tells_first(row) else "reply-tell"}
        replies = self._replies(step)
        ended = self.follow(desk, step, {}) if replies else row
        if ended.state == "ended":
            return {END: ended.reason or "ended"}
        message = given.get(MESSAGE)
        if CRISIS in given or END in given or message is None:
            reason = "safety" if CRISIS in given else "participant" if END in given else "limit"
            if not replies:
                end_conversation(desk.connection, row.id, reason, desk.now)
            if CRISIS in given:
                leave_partner(desk, row)
            return {END: reason}
        if replies:
            reply_to_partner(desk, row, message)
        else:
            desk.tell(row, message, 2 * self._said_before(step) + 1)
        return {}

    # Pages

    def body(self, view: PageView) -> Body:
        """The waiting room, or what was said so far and room for the next message."""
        conversation, step = view.conversation, view.step
        if step.page == "room":
            waits = conversation is not None and conversation.waiting
            ahead = 0 if conversation is None else conversation.ahead
            return Body(view.localized(self.text), live=LivePage(0, waits, 2.0, ahead=ahead))
        turns = _PREVIEW if conversation is None else _shown(conversation)
        chat = Part("talk", "", ShownReply("", turns))
        parts = (*self._label(view), *((chat,) if turns else ()))
        above = self.reply_text if self._replies(step) else self.text
        text = view.localized(above) if step.number == 1 else ""
        if conversation is None:
            return Body(text, parts, self._asks(view, writes=True))
        ended = conversation.state == "ended"
        writes = not ended and self._writes(step)
        live = LivePage(
            len(conversation.turns),
            waiting=conversation.waiting,
            seconds=conversation.seconds,
            can_end=writes and self._can_end(step),
            ended=(conversation.reason or "ended") if ended else "" if writes else "limit",
        )
        asks = () if conversation.waiting else self._asks(view, writes=writes)
        return Body(text, parts, asks, live=live)

    def _label(self, view: PageView) -> tuple[Part, ...]:
        live, conversation = view.path.study.live, view.conversation
        if live is None or conversation is None or conversation.label is None:
            return ()
        label = view.localized(live.labels[conversation.label].text)
        return (Part("label", label),) if label else ()

    def _asks(self, view: PageView, *, writes: bool) -> tuple[Asked, ...]:
        conversation, asked = view.conversation, tuple[Asked, ...]()
        seen = conversation.turns if conversation else ()
        replies = sum(turn.sender == "respondent" for turn in seen)
        if conversation is None or replies >= self._said_before(view.step):
            asked = tuple(question.asked(view) for question in self._asked_at(view.step))
        return (*asked, Asked(MESSAGE, "message", "")) if writes else asked

    def _asked_at(self, step: Step) -> tuple[Question, ...]:
        """The questions of that page: after every so many replies."""
        before = self._said_before(step)
        is_due = before > 0 and before % self.every == 0 and not self._replies(step)
        return self.questions if is_due and step.page == "chat" else ()

    def _can_end(self, step: Step) -> bool:
        return not self._replies(step) and self._said_before(step) >= self.minimum_turns

    def words_to_write(self) -> int:
        """A short message on each page."""
        return 10

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """A message, or the wish to end; and the answers to questions."""
        if step.page == "room":
            return
        form.option(END, ("yes",), required=False)
        for question in self._asked_at(step):
            question.read(form)
            if END in form.values:  # nobody has to answer before they may stop
                form.problems.pop(question.name, None)
        if self._writes(step) and END not in form.values:
            most = self.maximum_words
            form.words(MESSAGE, least=1, most=most, characters=_MOST_CHARACTERS)
            if self._replies(step) and self._hurts(form.values.get(MESSAGE, ""), path):
                form.refuse(MESSAGE, "hurtful")
            note_crisis(form, MESSAGE, path)

    def _hurts(self, message: str, path: ParticipantPath) -> bool:
        """Whether a reply to a partner has words that nobody should read who needs help.

        Those who tell may use them: to say what was said to them.
        """
        return any(unsafe_words(message, language) for language in path.study.languages)

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """What a participant's part ends with where something is wrong."""
        return ("interrupted", "safety")

    def early_end(self, answers: Answers) -> Outcome | None:
        """A message that speaks of a crisis is answered with help, not by a study."""
        own = (given for key, given in answers.items() if key.startswith(f"{self.id}/"))
        return "safety" if any(CRISIS in given for given in own) else None

    # Results

    @property
    def item_questions(self) -> tuple[Question, ...]:
        """The questions asked during the conversation."""
        return self.questions

    @property
    def free_answers(self) -> frozenset[str]:
        """The messages, too."""
        return super().free_answers | {MESSAGE}

    @property
    def is_outcome(self) -> bool:
        """What people say is not shown while the study runs."""
        return True

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """The answers given during the conversation, by the turn that they follow."""
        return Results(
            answers=tuple(
                AnsweredQuestion(step, (), question.name, answers[step.key][question.name])
                for step in self.steps(path, answers)
                for question in self._asked_at(step)
                if question.name in answers.get(step.key, {})
            )
        )

    def analysis_command(self, study: str) -> str | None:
        """How the people who were helped felt."""
        return f"empathylab analyze recipients --study {study}"


def _shown(conversation: Conversation) -> tuple[tuple[str, str], ...]:
    return tuple(
        ("you" if turn.sender == "participant" else "other", turn.text)
        for turn in conversation.turns
    )
