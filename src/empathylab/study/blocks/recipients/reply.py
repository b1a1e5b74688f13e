"""Reply: the participant reads a reply to their story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from empathylab.file_models import FileModel, Whole, misfit
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    Outcome,
    PageView,
    ParticipantPath,
    StudyRules,
)
from empathylab.study.blocks.pages import Asked, Body, LivePage, Part
from empathylab.study.blocks.recipients.tell import CRISIS, STORY, note_crisis
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Identifier, Text
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.repliers import (
    release_story,
    send_reply,
    story_to_reply_to,
    with_reply_or_fallback,
)
from empathylab.study.live.turns import Conversation
from empathylab.yaml_documents import Path

RESPONSE = "response"
"""The name of the answer on the page on which participants reply to someone else."""
_MOST_CHARACTERS = 10_000
_PREVIEW = "(a reply)"


class Respond(FileModel):
    """A page on which participants reply to the story of someone else, in every condition."""

    title: Text | None = None
    text: Text
    story: Text
    """What they reply to where nobody else waits: a story of the same kind."""
    minimum_words: Annotated[Whole, Field(ge=1, le=2000)] = 20


class Reply(Block):
    """A reply to the participant's story, from the author of their condition."""

    block: Literal["reply"]
    to: Identifier = "tell"
    """The block tell whose story is answered."""
    text: Text | None = None
    seconds: Annotated[Whole, Field(ge=0, le=600)] = 0
    """The shortest time to read the reply, from when it is shown."""
    respond: Respond | None = None
    """Before that, everybody replies to someone else: where an author is another participant."""

    is_work: ClassVar[bool] = True
    is_own_experience: ClassVar[bool] = True
    is_live: ClassVar[bool] = True

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Raises where there is no such story before it, or nobody to answer it."""
        before = study.blocks[: study.blocks.index(self)]
        if not any(block.id == self.to and block.kind == "tell" for block in before):
            raise misfit(
                f"there is no block tell with the id {self.to!r} before it",
                "Name the block that it replies to under the key 'to'.",
                at=(*at, "to"),
            )
        live = study.live
        if live is None or not live.has_people:
            return
        if live.fallback is None:
            raise misfit(
                "the key 'fallback' is missing: a person may not reply in time",
                "Add the text to show in that case.",
                at=("live",),
            )
        if self.respond is None and any(
            author.person == "participant" for author in live.authors.values()
        ):
            raise misfit(
                "the key 'respond' is missing: another participant replies",
                "Add the page on which participants reply to each other.",
                at=at,
            )

    # The conversation

    def follow(self, desk: LiveDesk, step: Step, answers: Answers) -> Conversation:
        """The story of someone else, or one's own and its answer."""
        own = desk.opened(self.id, str(answers[self.to][STORY]))
        if step.page == "respond":
            return story_to_reply_to(desk, own)
        return desk.read(with_reply_or_fallback(desk, own))

    def converse(self, desk: LiveDesk, step: Step, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Sends the reply to someone else; in a crisis another participant replies to them."""
        if step.page == "respond":
            desk.require("write")
            own = desk.find(self.id)
            if CRISIS in given:
                release_story(desk, own)
            else:
                send_reply(desk, own, given[RESPONSE])
        return {}

    # Pages

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """The page to reply to someone else, if any, and the one that waits for the reply."""
        if self.respond is not None:
            yield Step(self._respond_key, self.id, "respond")
        yield Step(self.id, self.id, self.kind)

    @property
    def _respond_key(self) -> str:
        return f"{self.id}/respond"

    def body(self, view: PageView) -> Body:
        """The reply under its label, with the story below; before that, that it is on its way."""
        conversation = view.conversation
        if view.step.page == "respond":
            return self._respond_body(view)
        if conversation is None:
            return Body(view.localized(self.text), (Part("reply", _PREVIEW),))
        live = LivePage(
            len(conversation.turns), waiting=conversation.waiting, seconds=conversation.seconds
        )
        if conversation.waiting:
            return Body(live=live)
        study = view.path.study.live
        # A participant who has had all answers deleted leaves an empty reply.
        reply = conversation.turns[-1].text or view.localized(study.fallback if study else None)
        label = self._label(view, conversation.label)
        parts = (*((Part("label", label),) if label else ()), Part("reply", reply))
        story = Part("story", conversation.turns[0].text)
        return Body(view.localized(self.text), (*parts, story), live=live)

    def _respond_body(self, view: PageView) -> Body:
        assert self.respond is not None  # noqa: S101 - it has such a page
        conversation, respond = view.conversation, self.respond
        story = (
            conversation.turns[0].text
            if conversation and conversation.turns
            else view.localized(respond.story)
        )
        return Body(
            view.localized(respond.text),
            (Part("shared", story),),
            (Asked(RESPONSE, "paragraph", ""),),
            title=view.localized(respond.title),
        )

    def _label(self, view: PageView, name: str | None) -> str:
        live = view.path.study.live
        return "" if live is None or name is None else view.localized(live.labels[name].text)

    def minimum_seconds(self, step: Step) -> int:
        """As long as the file says."""
        return 0 if step.page == "respond" else self.seconds

    def words_to_write(self) -> int:
        """The shortest reply to someone else."""
        return 0 if self.respond is None else self.respond.minimum_words

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """A reply to someone else, no longer than those of other authors."""
        if step.page != "respond" or self.respond is None or path.study.live is None:
            return
        least = self.respond.minimum_words
        most = max(least, path.study.live.maximum_words)
        form.words(RESPONSE, least=least, most=most, characters=_MOST_CHARACTERS)
        note_crisis(form, RESPONSE, path)

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """What a part ends with where replies can no longer be had, or in a crisis."""
        return ("interrupted",) if self.respond is None else ("interrupted", "safety")

    def early_end(self, answers: Answers) -> Outcome | None:
        """Words of a crisis are answered with help."""
        return "safety" if CRISIS in answers.get(self._respond_key, {}) else None

    # Results

    @property
    def free_answers(self) -> frozenset[str]:
        """The reply to someone else."""
        return frozenset({RESPONSE} if self.respond else ())

    def analysis_command(self, study: str) -> str | None:
        """How recipients rate the replies they got."""
        return f"empathylab analyze recipients --study {study}"
